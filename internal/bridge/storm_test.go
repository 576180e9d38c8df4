package bridge

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/jsonrpc"
)

// Whatever happens to owners, every request gets one answer, and no call
// reaches two of them.
func TestEveryRequestGetsOneAnswer(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	reached := map[string]int{} // calls, by id
	var ownersEnded sync.WaitGroup
	// An owner answers in disorder, retires or dies when it likes to.
	startOwner := func() io.ReadWriteCloser {
		ours, theirs := net.Pipe()
		mu.Lock()
		lifetime, retires := random.IntN(60), random.IntN(2) == 0
		mu.Unlock()
		ownersEnded.Go(func() {
			defer func() { _ = ours.Close() }()
			joined := NewJoined(ours)
			defer joined.Close()
			lines := jsonrpc.NewLineReader(joined)
			for n := 0; ; n++ {
				line, err := lines.Next()
				if err != nil {
					return
				}
				msg, err := jsonrpc.Scan(line)
				if err != nil {
					t.Errorf("the owner heard %q: %v", line, err)
					return
				}
				mu.Lock()
				reached[string(msg.ID)]++
				quick := random.IntN(3) > 0
				mu.Unlock()
				answer := append([]byte(result(string(msg.ID), "done")), '\n')
				if quick {
					_, _ = joined.Write(answer)
				} else {
					time.AfterFunc(time.Millisecond, func() { _, _ = joined.Write(answer) })
				}
				if n == lifetime && retires {
					joined.Retire()
				} else if n == lifetime {
					_ = ours.Close()
				}
			}
		})
		return theirs
	}
	in, client := io.Pipe()
	clientIn, out := io.Pipe()
	answers := make(chan string, 4096)
	go func() {
		lines := jsonrpc.NewLineReader(clientIn)
		for {
			line, err := lines.Next()
			if err != nil {
				close(answers)
				return
			}
			answers <- string(line)
		}
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.Background(), startOwner(), Options{
			In: in, Out: out, Log: slog.New(slog.DiscardHandler), Answer: answerForTest,
			Connect: func(context.Context) (io.ReadWriteCloser, error) { return startOwner(), nil },
		})
		_ = out.Close()
	}()
	const requests = 3000
	go func() {
		for i := range requests {
			_, _ = fmt.Fprintln(client, call(fmt.Sprint(i)))
		}
		_ = client.Close()
	}()
	got := map[string]int{}
	lost := 0
	for line := range answers {
		msg, err := jsonrpc.Scan([]byte(line))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got[string(msg.ID)]++
		if strings.Contains(line, `"error"`) {
			lost++
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ownersEnded.Wait()
	for i := range requests {
		if id := fmt.Sprint(i); got[id] != 1 || reached[id] > 1 {
			t.Errorf("call %s got %d answers and reached %d owners", id, got[id], reached[id])
		}
	}
	t.Logf("%d of %d calls were lost", lost, requests)
	if lost == 0 || lost == requests {
		t.Error("that is not what this test is about")
	}
}
