package upstream

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestNoiseOnStdoutIsTolerated(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			u := openReady(t, faultChild(t, "-era", era.String(), "-mode", "noise"))
			for range 10 {
				u.mustEcho("through the noise")
			}
			if n := strings.Count(u.log.String(), "level=WARN"); n != 1 {
				t.Errorf("%d warnings about the noise, want 1:\n%s", n, u.log)
			}
			// Whoever looks for the reason of trouble finds it with the rest of
			// what the server said.
			if out := u.Status().Output; !strings.Contains(out, "Server is running on stdio") {
				t.Errorf("the output that is shown to admins lacks the noise: %q", out)
			}
			if strings.Contains(u.log.String(), "Server is running") {
				t.Error("what servers print may hold anything and does not belong in our log")
			}
		})
	}
}

// An answer that cannot be used fails the call that it belongs to, at once,
// and nobody else.
func TestBadAnswers(t *testing.T) {
	for mode, words := range map[string]string{
		"malformed": "not valid",
		"not-utf8":  "not valid UTF-8",
		"dup-keys":  "twice",
		"deep":      "too deep",
	} {
		for _, era := range bothEras {
			t.Run(mode+" "+era.String(), func(t *testing.T) {
				t.Parallel()
				u := openReady(t, faultChild(t, "-era", era.String(), "-mode", mode))
				pid := u.Status().PID
				for range 3 {
					_, err := u.callText("echo", `{"text":"x"}`)
					if e := wantError(t, err, gateway.CodeUnavailable, "srv", words); e.Unsent {
						t.Error("the call was sent")
					}
				}
				if st := u.Status(); st.State != StateReady || st.PID != pid {
					t.Errorf("the connection must survive: %+v", st)
				}
			})
		}
	}
}

// The TypeScript SDK writes the id behind the result. Whose answer it was must
// be found all the same, or the caller waits for ten minutes.
func TestABadAnswerWhoseIDComesLast(t *testing.T) {
	for script, words := range map[string]string{"id-last-deep": "too deep", "id-last-huge": "larger than"} {
		t.Run(script, func(t *testing.T) {
			u, _ := openScript(t, script)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_, err := u.Handle(ctx, u.newCall(gateway.EraLegacy, "t", `{}`, ""))
			wantError(t, err, gateway.CodeUnavailable, "srv", words)
		})
	}
}

// An unreadable answer ends its call at once, also when its id cannot be found
// and no other call is under way.
func TestAnUnreadableAnswerEndsItsCallAtOnce(t *testing.T) {
	for script, words := range map[string]string{
		"not-utf8": "not valid UTF-8", "not-utf8-id-last": "not valid UTF-8",
		"not-utf8-inner-id": "not valid UTF-8", "cut-off": "not valid",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			u, _ := openScript(t, script)
			_, err := u.callText("t", `{}`)
			if e := wantError(t, err, gateway.CodeUnavailable, "srv", words, "may have been carried out"); e.Unsent || !e.Answered {
				t.Errorf("got %+v", e)
			}
			if st := u.Status(); st.State != StateReady || st.Starts != 1 {
				t.Errorf("the connection must survive: %+v", st)
			}
		})
	}
}

// With several calls under way, an unreadable answer without an id is that of
// the call that is left when the others have their answers.
func TestAnUnreadableAnswerAmongOthers(t *testing.T) {
	t.Parallel()
	u, record := openScript(t, "cut-off-then-answers")
	first := make(chan error, 1)
	go func() {
		_, err := u.callText("t", `{"n":1}`)
		first <- err
	}()
	sees(t, record, `"n":1`)
	if _, err := u.callText("t", `{"n":2}`); err != nil {
		t.Errorf("the call whose answer came: %v", err)
	}
	wantError(t, <-first, gateway.CodeUnavailable, "srv", "may have been carried out")
}

// A request of the server, or a line of a log, is nobody's answer, whatever id
// it has.
func TestUnreadableRequestsEndNoCall(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "bad-request")
	if _, err := u.callText("t", `{}`); err != nil {
		t.Error(err)
	}
}

// An answer with an id that nobody asked with goes nowhere, least of all to
// somebody else.
func TestAWrongIDAnswersNobody(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-mode", "wrong-id"))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := u.Handle(ctx, u.newCall(gateway.EraLegacy, "echo", `{"text":"x"}`, "")); err == nil {
		t.Error("an answer with another id was taken")
	}
	if st := u.Status(); st.State != StateReady || st.Starts != 1 {
		t.Errorf("status %+v", st)
	}
}

func TestASecondAnswerIsIgnored(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-mode", "double-answer"))
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			for n := range 5 {
				text := fmt.Sprintf("%d-%d", i, n)
				if got, err := u.callText("echo", fmt.Sprintf(`{"text":%q}`, text)); err != nil || got != text {
					t.Errorf("%s: got %q, %v", text, got, err)
				}
			}
		})
	}
	calls.Wait()
}

func TestAHugeAnswerIsRefused(t *testing.T) {
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			u := openReady(t, faultChild(t, "-era", era.String(), "-mode", "huge", "-size", fmt.Sprint(testkit.Count(34_000_000, 300_000_000))))
			pid := u.Status().PID
			bounded(t, func() {
				_, err := u.callText("echo", `{"text":"x"}`)
				wantError(t, err, gateway.CodeUnavailable, "srv", "larger than 32 MiB")
			})
			// The connection is still usable.
			if list, err := u.conn.list(context.Background(), gateway.KindTool); err != nil || len(list.raw) < 100 {
				t.Errorf("listing afterwards: %d bytes, %v", len(list.raw), err)
			}
			if st := u.Status(); st.PID != pid || st.State != StateReady {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// The largest that may pass does.
func TestALargeAnswerPasses(t *testing.T) {
	size := testkit.Count(4<<20, 31<<20)
	u := openReady(t, faultChild(t, "-mode", "huge", "-size", fmt.Sprint(size)))
	result, err := u.Handle(context.Background(), u.newCall(gateway.EraLegacy, "echo", `{"text":"x"}`, ""))
	if err != nil || len(result.Raw) < size {
		t.Errorf("got %v", err)
	}
}

// When the process is short of room for large answers, the caller learns that
// its call was carried out: trying again could do harm.
func TestAnAnswerThatFindsNoRoom(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t))
	call := u.newCall(gateway.EraLegacy, "count", `{}`, "")
	call.Budget = gateway.NewShares(10)
	_, err := u.Handle(context.Background(), call)
	if e := wantError(t, err, gateway.CodeLimited, "carried out"); e.Unsent {
		t.Error("the call was sent")
	}
	call.Release()
	if call.Budget.Used() != 0 {
		t.Errorf("%d bytes are still taken", call.Budget.Used())
	}
	u.mustEcho("others are not concerned")
}

// A child that stops reading takes a bounded backlog; then its calls are
// refused, and those under way end when their callers say so.
func TestADeafChild(t *testing.T) {
	backlog := testkit.Count(1<<20, 8<<20)
	u, _ := openScript(t, "deaf-later", withLimits(limits{backlog: backlog, readTimeout: 500 * time.Millisecond}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	arguments := `{"x":"` + strings.Repeat("0", backlog/8) + `"}`
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	refused := make(chan error, 100)
	bounded(t, func() {
		// The batch that the writer holds and the backlog take a bit more than
		// eight calls each, so this is more than fits.
		for range 30 {
			call := u.newCall(gateway.EraLegacy, "t", arguments, "")
			calls.Go(func() {
				if _, err := u.Handle(ctx, call); ctx.Err() == nil {
					refused <- err
				}
			})
		}
		e := wantError(t, <-refused, gateway.CodeLimited, "srv", "does not read")
		if !e.Unsent || e.RetryAfter <= 0 {
			t.Errorf("got %+v", e)
		}
	})
	// Giving up ends the calls, although nobody can be told.
	cancel()
	calls.Wait()
	if st := u.Status(); st.State != StateReady {
		t.Errorf("state %s", st.State)
	}
}

func TestAChildThatNeverInitializes(t *testing.T) {
	for _, mode := range []string{"hang-init", "deaf", "hang-list"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pids := t.TempDir() + "/pids"
			u := open(t, faultChild(t, "-mode", mode, "-pidfile", pids), withStartup(300*time.Millisecond))
			testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
			if st := u.Status(); !strings.Contains(st.Problem.String(), "startupTimeout") || st.NextTry.IsZero() {
				t.Errorf("status %+v", st)
			}
			_, err := u.callText("echo", `{"text":"x"}`)
			if e := wantError(t, err, gateway.CodeUnavailable, "srv is down", "did not finish starting", "next try"); !e.Unsent {
				t.Error("nothing was sent")
			}
			testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) > 0 }, "a child has come so far")
			first := testkit.Pids(t, pids)[0]
			testkit.Eventually(t, func() bool { return !testkit.Alive(first) }, "the child that did not start is gone")
		})
	}
}

// A megabyte on stderr, at the start and at every call, stops nothing, and
// what is kept of it is little.
func TestAFloodOnStderr(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-mode", "stderr-flood"))
	u.mustEcho("x")
	if n := len(u.Status().Output); n == 0 || n > ringSize {
		t.Errorf("%d bytes of output are kept, want 1 to %d", n, ringSize)
	}
}

// A message that is larger than many programs can read is not sent: one caller
// would end the server of all.
func TestAMessageTooLargeForAChildIsNotSent(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "small-buffer")
	large := strings.Repeat("x", maxChildMessage)
	c := newClient("one", `{"elicitation":{}}`)
	c.reply = func(string, []byte) ([]byte, error) {
		return []byte(`{"action":"accept","content":{"name":"` + large + `"}}`), nil
	}
	_, err := c.call(t, u, "t", `{"text":"`+large+`"}`)
	e := wantError(t, err, gateway.CodeInvalid, "srv", "bytes", fmt.Sprint(maxChildMessage))
	if !e.Unsent {
		t.Error("the call counts as sent")
	}
	// The client's answer to a question of the server is a message, too. The server
	// gets an error in its place, and does not wait for ever.
	got, err := c.call(t, u, "t", `{}`)
	if err != nil || !strings.Contains(got, fmt.Sprint(maxChildMessage)) {
		t.Errorf("got %.200s, %v", got, err)
	}
	if st := u.Status(); st.Starts != 1 || st.State != StateReady {
		t.Errorf("the server was started %d times and is %s", st.Starts, st.State)
	}
}

// A call that was under way when its child ended is told apart from one that
// never left, and from one that got a useless answer.
func TestACallThatLostItsServerSaysSo(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "last-words")
	_, err := u.callText("t", `{}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "lost"); !e.Lost || e.Unsent || e.Answered {
		t.Errorf("lost %v, unsent %v, answered %v", e.Lost, e.Unsent, e.Answered)
	}
}
