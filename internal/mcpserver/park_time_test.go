package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// askingHouse has a tool that asks its client and repeats the answers.
type askingHouse struct {
	quietHouse
	rounds  int
	ended   *atomic.Int64
	lastErr *atomic.Value
}

type nowhere struct{ gateway.Source }

func (nowhere) Name() string { return "s" }

func (h askingHouse) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	call.Tool = &gateway.Tool{Source: nowhere{}, Exposed: "t"}
	defer h.ended.Add(1)
	out := []string{}
	for range h.rounds {
		answer, err := call.Ask(ctx, "elicitation/create", []byte(`{"message":"?"}`))
		if err != nil {
			h.lastErr.Store(err)
			return nil, err
		}
		out = append(out, string(answer))
	}
	return &gateway.Result{Raw: fmt.Appendf(nil, `{"content":[],"answers":[%s]}`, strings.Join(out, ","))}, nil
}

func newAskingServer(rounds int, budget *gateway.Shares) (*Server, askingHouse) {
	h := askingHouse{rounds: rounds, ended: &atomic.Int64{}, lastErr: &atomic.Value{}}
	s := newQuietServer(h)
	s.opt.Budget = budget
	return s, h
}

// postModern sends a modern call, with more members of its params.
func postModern(s *Server, more string) *httptest.ResponseRecorder {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"` + more +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", "t")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// stateOf is the requestState of an answer, with its quotes.
func stateOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var m struct {
		Result struct{ RequestState json.RawMessage }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || m.Result.RequestState == nil {
		t.Fatalf("the call was not parked: %s", w.Body)
	}
	return string(m.Result.RequestState)
}

// TestAClientThatNeverComesBack: the call ends when its patience does, and
// nothing of it is left.
func TestAClientThatNeverComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := gateway.NewShares(1 << 20)
		s, h := newAskingServer(1, budget)
		defer s.Close()
		synctest.Wait()
		state := stateOf(t, postModern(s, ""))
		if s.Parked() != 1 || budget.Used() == 0 {
			t.Errorf("%d calls are parked, %d bytes are taken", s.Parked(), budget.Used())
		}
		time.Sleep(15*time.Minute - time.Second)
		synctest.Wait()
		if s.Parked() != 1 || h.ended.Load() != 0 {
			t.Error("the call has ended before its time")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.Parked() != 0 || h.ended.Load() != 1 || budget.Used() != 0 || len(s.parks.perCaller) != 0 {
			t.Errorf("%d calls are parked, %d have ended, %d bytes are taken, %d callers are known",
				s.Parked(), h.ended.Load(), budget.Used(), len(s.parks.perCaller))
		}
		if e := gateway.AsError(h.lastErr.Load().(error)); e.Code != gateway.CodeTimeout || !strings.Contains(e.Text(), "15m") {
			t.Errorf("the call ended with %v", e)
		}
		if w := postModern(s, `,"requestState":`+state); !strings.Contains(w.Body.String(), "Call again without it") {
			t.Errorf("the state is answered with %s", w.Body)
		}
	})
}

// TestEachRoundHasItsTime: a person who answers in time may be asked again, and
// has all the time again.
func TestEachRoundHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newAskingServer(3, nil)
		defer s.Close()
		w := postModern(s, "")
		for i := range 3 {
			time.Sleep(14 * time.Minute)
			w = postModern(s, fmt.Sprintf(`,"inputResponses":{"genkan-%d":{"action":"accept"}},"requestState":%s`, i+1, stateOrNone(w)))
		}
		if !strings.Contains(w.Body.String(), `"answers":[{"action":"accept"},{"action":"accept"},{"action":"accept"}]`) {
			t.Errorf("answered %s", w.Body)
		}
		time.Sleep(time.Hour) // no clock of a former round is left
		synctest.Wait()
		if s.Parked() != 0 || h.ended.Load() != 1 {
			t.Errorf("%d calls are parked, %d have ended", s.Parked(), h.ended.Load())
		}
	})
}

func stateOrNone(w *httptest.ResponseRecorder) string {
	var m struct {
		Result struct{ RequestState json.RawMessage }
	}
	_ = json.Unmarshal(w.Body.Bytes(), &m)
	if m.Result.RequestState == nil {
		return `""`
	}
	return string(m.Result.RequestState)
}

// TestTheLastMoment: a client that comes back at the deadline gets one answer, and
// nothing is counted twice.
func TestTheLastMoment(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			budget := gateway.NewShares(1 << 20)
			s, h := newAskingServer(1, budget)
			defer s.Close()
			state := stateOf(t, postModern(s, ""))
			answered := make(chan string, 1)
			go func() {
				time.Sleep(15 * time.Minute)
				answered <- postModern(s, `,"inputResponses":{"genkan-1":{"action":"accept"}},"requestState":`+state).Body.String()
			}()
			if got := <-answered; !strings.Contains(got, `"answers"`) && !strings.Contains(got, `error":{"code":`) {
				t.Errorf("answered %s", got)
			}
			synctest.Wait()
			if s.Parked() != 0 || h.ended.Load() != 1 || budget.Used() != 0 || len(s.parks.perCaller) != 0 {
				t.Errorf("%d calls are parked, %d have ended, %d bytes are taken, callers %v",
					s.Parked(), h.ended.Load(), budget.Used(), s.parks.perCaller)
			}
		})
	}
}

// decidedHouse has a tool that asks its client, and withdraws the question after 14 minutes
// because an administrator has decided. Its server then works for 20 minutes, and may ask
// something itself.
type decidedHouse struct {
	askingHouse
	asksAgain bool
}

func (h decidedHouse) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	decided, cancel := context.WithTimeout(ctx, 14*time.Minute)
	_, _ = h.askingHouse.Handle(decided, call)
	cancel()
	h.ended.Store(0)
	defer h.ended.Add(1)
	select {
	case <-time.After(20 * time.Minute):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if h.asksAgain {
		return h.askingHouse.Handle(ctx, call)
	}
	return &gateway.Result{Raw: []byte(`{"content":[],"did":"it"}`)}, nil
}

// TestADecidedCallIsNotCutOff: a parked call whose question was withdrawn goes on without its
// client, which then has its time to come back for the result.
func TestADecidedCallIsNotCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		asksAgain bool
		back      time.Duration // when the client comes back
		want      string
	}{
		"while the server works":           {false, 20 * time.Minute, `"did":"it"`},
		"when it has finished":             {false, 48 * time.Minute, `"did":"it"`},
		"too late for the result":          {false, 50 * time.Minute, "Call again without it"},
		"in time for another question":     {true, 48 * time.Minute, `"genkan-2"`},
		"too late for another question":    {true, 50 * time.Minute, "Call again without it"},
		"before the question is withdrawn": {false, time.Minute, `"did":"it"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := decidedHouse{askingHouse{rounds: 1, ended: &atomic.Int64{}, lastErr: &atomic.Value{}}, c.asksAgain}
				s := newQuietServer(h)
				defer s.Close()
				budget := gateway.NewShares(1 << 20)
				s.opt.Budget = budget
				state := stateOf(t, postModern(s, ""))
				time.Sleep(c.back)
				w := postModern(s, `,"requestState":`+state)
				for c.back < 14*time.Minute && strings.Contains(w.Body.String(), `"genkan-1"`) { // it is asked again
					time.Sleep(14 * time.Minute)
					w = postModern(s, `,"requestState":`+stateOf(t, w))
				}
				if !strings.Contains(w.Body.String(), c.want) {
					t.Errorf("answered %s", w.Body)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if s.Parked() != 0 || h.ended.Load() == 0 || budget.Used() != 0 || len(s.parks.perCaller) != 0 {
					t.Errorf("%d calls are parked, %d have ended, %d bytes are taken, callers %v", s.Parked(), h.ended.Load(), budget.Used(), s.parks.perCaller)
				}
			})
		})
	}
}

// TestGoingDownEndsParks.
func TestGoingDownEndsParks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newAskingServer(1, nil)
		stateOf(t, postModern(s, ""))
		s.Close()
		synctest.Wait()
		if h.ended.Load() != 1 {
			t.Error("a parked call outlives the process")
		}
		if e := gateway.AsError(h.lastErr.Load().(error)); e.Code != gateway.CodeUnavailable {
			t.Errorf("the call ended with %v", e)
		}
	})
}

// TestALegacyClientThatDoesNotAnswer: the question is taken back when its time
// is over.
func TestALegacyClientThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newAskingServer(1, nil)
		defer s.Close()
		session := post(s, "", strings.Replace(initializeBody, `"params":{`, `"params":{"capabilities":{"elicitation":{}},`, 1)).Header().Get("Mcp-Session-Id")
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(callBody))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Session-Id", session)
		w := httptest.NewRecorder()
		began := time.Now()
		s.ServeHTTP(w, r)
		if took := time.Since(began); took != 15*time.Minute {
			t.Errorf("given up after %s", took)
		}
		for _, want := range []string{`"method":"elicitation/create"`, `"method":"notifications/cancelled"`, `"code":"timeout"`} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s is missing from %s", want, w.Body)
			}
		}
		if h.ended.Load() != 1 {
			t.Error("the call goes on")
		}
	})
}

// TestAStateIsCheckedWithoutDecodingArguments: neither a forged state nor a real
// one has the arguments made into a tree, which takes many times their size.
func TestAStateIsCheckedWithoutDecodingArguments(t *testing.T) {
	s, _ := newAskingServer(2, nil)
	defer s.Close()
	arguments := `,"arguments":{"x":[` + strings.Repeat(`{"":1},`, 20_000) + `1]}`
	allocated := func(more string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		postModern(s, arguments+more)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	plain := allocated("") // it has the body read and parked, as the others have
	state := stateOf(t, postModern(s, arguments))
	for name, more := range map[string]string{
		"forged":   `,"requestState":"genkan.x"`,
		"too long": `,"requestState":"genkan.` + strings.Repeat("x", 1000) + `"`,
		"real":     `,"requestState":` + state,
	} {
		if got := allocated(more); got > plain+4*uint64(len(arguments)) {
			t.Errorf("a call with a %s state allocates %d bytes, one without a state %d", name, got, plain)
		}
	}
}
