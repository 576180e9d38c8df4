package mcpserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"genkan/internal/testkit"
)

// TestNothingCrosses: a hundred clients of all kinds share one child, and all
// use the same id and the same progress token. Each gets its own text and its
// own progress (CVE-2026-25536 is what happens otherwise).
func TestNothingCrosses(t *testing.T) {
	t.Parallel()
	rounds := testkit.Count(2, 5)
	clients := testkit.Count(20, 100)
	h := openHouse(t, servers{"fault": child(t, "-era", "legacy")})
	pipes, sessions := make([]*pipe, clients), make([]string, clients)
	for i := range clients {
		switch i % 4 {
		case 0:
			pipes[i] = h.stdio()
		case 1:
			sessions[i] = h.initialize(h.token)
		}
	}
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range clients {
		wg.Go(func() {
			<-begin
			for round := range rounds {
				// The number of steps tells whose progress it is.
				steps, own := 1+(i+round)%7, fmt.Sprintf("client %d round %d", i, round)
				progress := fmt.Sprintf(`"name":"fault__progress","arguments":{"n":%d,"ms":1}`, steps)
				echo := fmt.Sprintf(`"name":"fault__echo","arguments":{"text":%q}`, own)
				const token = `"progressToken":"same"`
				var messages []string
				for _, params := range []string{progress, echo} {
					switch {
					case pipes[i] != nil && round%2 == 0:
						pipes[i].send(modern("1", "tools/call", params, token).body)
						messages = append(messages, pipes[i].upTo("1")...)
					case pipes[i] != nil:
						pipes[i].send(legacy("", "1", "tools/call", "{"+params+`,"_meta":{`+token+"}}").body)
						messages = append(messages, pipes[i].upTo("1")...)
					case sessions[i] != "":
						messages = append(messages, h.send(legacy(sessions[i], "1", "tools/call", "{"+params+`,"_meta":{`+token+"}}")).messages...)
					default:
						messages = append(messages, h.send(modern("1", "tools/call", params, token)).messages...)
					}
				}
				if problem := checkOwn(messages, steps, own); problem != "" {
					t.Errorf("client %d, round %d: %s\n%s", i, round, problem, strings.Join(messages, "\n"))
				}
			}
		})
	}
	close(begin)
	wg.Wait()
}

// upTo reads until the answer to a request.
func (p *pipe) upTo(id string) []string {
	var messages []string
	for {
		message, err := p.take()
		if err != nil {
			return append(messages, err.Error())
		}
		messages = append(messages, message)
		if strings.HasPrefix(message, `{"jsonrpc":"2.0","id":`+id+`,`) {
			return messages
		}
	}
}

func checkOwn(messages []string, steps int, own string) string {
	if len(messages) != steps+2 {
		return fmt.Sprintf("%d messages came, want %d", len(messages), steps+2)
	}
	for i, message := range messages[:steps] {
		want := fmt.Sprintf(`{"progressToken":"same","progress":%d,"total":%d,"message":"step %d of %d"}`, i+1, steps, i+1, steps)
		if !strings.Contains(message, want) {
			return "progress is " + message
		}
	}
	if got := text(messages[steps]); got != fmt.Sprintf("%d steps", steps) {
		return "the first answer is " + got
	}
	if got := text(messages[steps+1]); got != own {
		return "the second answer is " + got
	}
	return ""
}

// TestHungServerHoldsUpNobody: calls that a server never answers leave the
// others, and the list, as they were.
func TestHungServerHoldsUpNobody(t *testing.T) {
	record := recordFile(t)
	h := openHouse(t, servers{"hung": child(t, "-mode", "hang", "-record", record), "fault": child(t)})
	const stuck = 50
	var wg sync.WaitGroup
	hungUp := make(chan struct{})
	for range stuck {
		wg.Go(func() {
			<-h.hangUp(modernCall("1", "hung__echo", `{"text":"x"}`), func() { <-hungUp })
		})
	}
	testkit.Eventually(t, func() bool { return len(calls(t, record)) == stuck }, "all calls are stuck")
	for range 50 {
		h.send(modernCall("1", "fault__echo", `{"text":"x"}`)).want(t, http.StatusOK, 0)
		h.send(modern("1", "tools/list", "", "")).want(t, http.StatusOK, 0)
	}
	close(hungUp)
	wg.Wait()
}
