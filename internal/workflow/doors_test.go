package workflow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/script"
)

func question(b *bench, timeout time.Duration) Question {
	return Question{Call: b.newCall("merge", `{}`), Workflow: "w", Node: "ask", Message: "Merge?", Arguments: []byte(`{"key":"hunter2"}`), Hash: "h", Timeout: timeout}
}

// withoutHunter takes the secret "hunter2" out of arguments.
func withoutHunter(arguments []byte) ([]byte, error) {
	return bytes.ReplaceAll(arguments, []byte("hunter2"), []byte("***")), nil
}

// An approval ends with a decision, with its time, or with its call.
func TestDesk(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	synctest.Test(t, func(t *testing.T) {
		var opened, closed []string
		d := NewDesk(DeskOptions{
			Redact: withoutHunter,
			Opened: func(a Approval) { opened = append(opened, a.Arguments) },
			Closed: func(_ Approval, decision *Decision) {
				how := "nobody"
				if decision != nil {
					how = decision.By + " " + strconv.FormatBool(decision.Granted)
				}
				closed = append(closed, how)
			},
		})
		type end struct {
			decision Decision
			err      error
		}
		ask := func(ctx context.Context) chan end {
			done := make(chan end, 1)
			go func() {
				decision, err := d.Ask(ctx, question(b, time.Minute))
				done <- end{decision, err}
			}()
			synctest.Wait()
			return done
		}
		for _, granted := range []bool{true, false} {
			done := ask(t.Context())
			one := d.List()[0]
			if one.Workflow != "w" || one.Client != "anna" || one.Tool != "github__merge" || one.Server != "github" || one.ExpiresAt.Sub(one.Asked) != time.Minute {
				t.Errorf("%+v", one)
			}
			if err := d.Decide(t.Context(), one.ID, Decision{Granted: granted, By: "boss"}); err != nil {
				t.Error(err)
			}
			wantError(t, d.Decide(t.Context(), one.ID, Decision{Granted: !granted, By: "boss"}), gateway.CodeNotFound, "is pending: it was decided")
			if got := <-done; got.err != nil || got.decision.Granted != granted || got.decision.By != "boss" {
				t.Errorf("%+v", got)
			}
		}
		late := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
		defer cancel()
		if got := <-ask(ctx); !errors.Is(got.err, late) || got.decision.Granted {
			t.Errorf("%+v", got)
		}
		synctest.Wait()
		if len(d.List()) != 0 || strings.Join(closed, ", ") != "boss true, boss false, nobody" || strings.Join(opened, "") != strings.Repeat(`{"key":"***"}`, 3) {
			t.Errorf("%v, %q, %q", d.List(), opened, closed)
		}
	})
}

// No more than so many calls wait for people, and one client leaves some of them to others.
func TestAFullDesk(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	synctest.Test(t, func(t *testing.T) {
		d := NewDesk(DeskOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		fill := func(client string) (refused error) {
			for n := range 200 {
				errs := make(chan error, 1)
				go func() {
					q := question(b, time.Hour)
					q.Call.Identity.ClientID = client
					_, err := d.Ask(ctx, q)
					errs <- err
				}()
				synctest.Wait()
				select {
				case err := <-errs:
					if n == 0 {
						t.Errorf("nothing is left for %s", client)
					}
					return err
				default:
				}
			}
			return nil
		}
		for _, client := range []string{"anna", "bert", "carl"} {
			if err := fill(client); !isDenial(err) || !strings.Contains(err.Error(), "too many calls of this client wait for a person already") {
				t.Errorf("%s: %v", client, err)
			}
		}
		if n := len(d.List()); n > mostPending {
			t.Errorf("%d wait", n)
		}
		cancel()
		synctest.Wait()
		if len(d.List()) != 0 || d.shares.Used() != 0 {
			t.Errorf("%v, %d are counted", d.List(), d.shares.Used())
		}
	})
}

// Traces are kept for the last calls, and shown without secrets.
func TestTraces(t *testing.T) {
	t.Parallel()
	s := NewTraces(2, func(raw []byte) []byte {
		if bytes.HasPrefix(raw, []byte(`{"password":`)) {
			return []byte(`{"password":"***"}`)
		}
		return bytes.ReplaceAll(raw, []byte("hunter2"), []byte("***"))
	})
	for _, call := range []string{"1", "2", "2", "3", ""} {
		s.Trace(Trace{Call: call, Workflow: "w", Steps: []Step{{
			Error: "it is hunter2", Console: []script.Line{{Text: "hunter2"}},
			Patch: []Op{{"add", "/request/params/arguments/a", []byte(`"hunter2"`)}, {"add", "/request/params/arguments/password", []byte(`"x"`)}, {Op: "remove", Path: "/b"}},
		}}})
	}
	if s.Of("1") != nil || s.Of("") != nil || len(s.Of("2")) != 2 || len(s.Of("3")) != 1 {
		t.Errorf("%d, %d, %d", len(s.Of("1")), len(s.Of("2")), len(s.Of("3")))
	}
	step := s.Of("3")[0].Steps[0]
	if got := step.Error + step.Console[0].Text + string(step.PatchJSON()); got != `it is ******[{"op":"add","path":"/request/params/arguments/a","value":"***"},{"op":"add","path":"/request/params/arguments/password","value":"***"},{"op":"remove","path":"/b"}]` {
		t.Error(got)
	}
	if kept := s.calls["3"][0].Steps[0]; kept.Error != "it is hunter2" || string(kept.Patch[0].Value) != `"hunter2"` {
		t.Errorf("what is kept was changed: %+v", kept)
	}
}

// A trace names the rules that masked something in it, also after it was stored. A mark
// that a workflow made is not one of them.
func TestTracesNameTheRulesThatMask(t *testing.T) {
	t.Parallel()
	s := NewTraces(2, func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte("hunter2"), []byte("[redacted:key]")) })
	s.Trace(Trace{Call: "1", Workflow: "w", Steps: []Step{{Patch: []Op{{"add", "/a", []byte(`"hunter2 [redacted:phone]"`)}}}}})
	for name, got := range map[string][]Trace{
		"shown": s.Of("1"), "stored": s.Decode(s.Encoded("1", false, 1000)), "stored without secrets": s.Decode(s.Encoded("1", true, 1000)),
	} {
		if len(got) != 1 || !slices.Equal(got[0].Masked, []string{"key"}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Naming the rules takes time in proportion to the text.
func TestTracesWithManyMarks(t *testing.T) {
	t.Parallel()
	const mark = "[redacted:key] "
	takes := func(marks int) time.Duration {
		trace := Trace{Steps: []Step{{Error: strings.Repeat(mark, marks) + "hunter2"}}}
		began := time.Now()
		got := trace.Redacted(func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte("hunter2"), []byte(mark)) })
		if !slices.Equal(got.Masked, []string{"key"}) {
			t.Errorf("masked by %v", got.Masked)
		}
		return time.Since(began)
	}
	// On a busy machine one of them may wait. If the time grew with the square, all would be too slow.
	var few, many time.Duration
	for range 20 {
		if few, many = takes(1000), takes(10_000); many <= 40*few {
			return
		}
	}
	t.Errorf("%s, and %s for ten times as many", few, many)
}

// Traces that are kept elsewhere are bounded, and read as they were but for secrets.
func TestTracesAreEncoded(t *testing.T) {
	t.Parallel()
	s := NewTraces(2, func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte("hunter2"), []byte("***")) })
	step := Step{Node: "a", Type: "hook", Status: StatusOK, Handle: "out", Run: 3, Console: []script.Line{{Level: "log", Text: "hunter2"}}, Line: 1}
	step.add("/response", []Op{{"replace", "/n", []byte(`1234567890123456789`)}, {Op: "remove", Path: "/b"}})
	s.Trace(Trace{Call: "1", Workflow: "w", Version: 2, Outcome: OutcomeOK, Started: time.Unix(1, 0).UTC(), Steps: []Step{step}})
	if s.Encoded("2", false, 1000) != nil || s.Decode(nil) != nil {
		t.Error("traces of a call without any")
	}
	raw := s.Encoded("1", false, 1000)
	if got := s.Decode(raw); !bytes.Contains(raw, []byte("hunter2")) || fmt.Sprint(got) != fmt.Sprint(s.Of("1")) {
		t.Errorf("%s became %v", raw, got)
	}
	if raw := s.Encoded("1", true, 1000); bytes.Contains(raw, []byte("hunter2")) {
		t.Errorf("%s", raw)
	}
	long := Step{Node: "a", Console: []script.Line{{Text: strings.Repeat("x", 500)}}}
	long.add("", []Op{{"add", "/a", []byte(`1`)}, {"add", "/b", append(append([]byte(`"`), bytes.Repeat([]byte("hunter2 "), 200)...), '"')}})
	s.Trace(Trace{Call: "2", Workflow: "w", Steps: []Step{long}})
	raw = s.Encoded("2", false, 1000)
	got := s.Decode(raw)
	if len(raw) > 1000 || len(got) != 1 || string(got[0].Steps[0].PatchJSON()) != `[{"op":"add","path":"/a","value":1},{"op":"add","path":"/b","value":"[too long to be kept]"}]` || got[0].Steps[0].Console != nil {
		t.Errorf("%d bytes, %+v", len(raw), got)
	}
	if s.Encoded("2", false, 100) != nil {
		t.Error("more than what may be kept")
	}
}

// A trace without bodies says which parts of a call changed, and nothing that was sent,
// answered or written by a script.
func TestTracesWithoutBodies(t *testing.T) {
	t.Parallel()
	whole := Trace{Call: "1", Workflow: "w", Outcome: OutcomeFailed, Changed: true, Steps: []Step{{
		Node: "a", Status: StatusError, Error: "hunter2 at line 3", Line: 3, Console: []script.Line{{Text: "hunter2"}},
		Patch: []Op{
			{"add", "/request/params/arguments/hunter2", []byte(`"hunter2"`)},
			{"add", "/request/params/arguments/other", []byte(`"hunter2"`)},
			{"replace", "/response/content/0/text", []byte(`"hunter2"`)},
			{Op: "remove", Path: "/response/structuredContent/hunter2"},
			{"replace", "", []byte(`"hunter2"`)},
		},
	}}}
	got := whole.WithoutBodies()
	if strings.Contains(fmt.Sprint(got.Steps[0].Error, got.Steps[0].Console, string(got.Steps[0].PatchJSON())), "hunter2") {
		t.Errorf("%+v", got)
	}
	step := got.Steps[0]
	if want := `[{"op":"add","path":"/request/params/arguments","value":"[not kept]"},{"op":"replace","path":"/response/content","value":"[not kept]"},{"op":"remove","path":"/response/structuredContent"},{"op":"replace","path":"","value":"[not kept]"}]`; string(step.PatchJSON()) != want {
		t.Errorf("got %s", step.PatchJSON())
	}
	if step.Error != notKept || step.Line != 3 || !got.Changed || whole.Steps[0].Console == nil || string(whole.Steps[0].Patch[0].Value) != `"hunter2"` {
		t.Errorf("%+v of %+v", got, whole)
	}
}

// However much workflows change, the traces of the last calls have a bounded size.
func TestTracesHaveABoundedSize(t *testing.T) {
	t.Parallel()
	var step Step
	ops := make([]Op, 2*mostOps)
	for i := range ops {
		ops[i] = Op{"add", "/a", bytes.Repeat([]byte("1"), longestPatch/10)}
	}
	step.add("", ops)
	if size := (&Trace{Steps: []Step{step}}).size(); size > 2*longestPatch || len(step.Patch) != mostOps || string(step.Patch[0].Value) == tooLong || string(step.Patch[mostOps-1].Value) != tooLong {
		t.Errorf("%d bytes in %d changes", size, len(step.Patch))
	}
	s := NewTraces(10_000, nil)
	for i := range 2000 {
		s.Trace(Trace{Call: fmt.Sprint(i), Steps: []Step{step}})
	}
	size := 0
	for _, kept := range s.calls {
		for i := range kept {
			size += kept[i].size()
		}
	}
	if size > mostTraceBytes || size != s.size || len(s.calls) != len(s.order) || len(s.Of("1999")) != 1 || s.Of("0") != nil {
		t.Errorf("%d bytes, counted %d, of %d calls", size, s.size, len(s.calls))
	}
}

// A backtest counts what becomes of calls, and sends none.
func TestBacktest(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	d := flow("w", `start → hook → approve → mcp → end
		hook: const q = context.request.params.arguments.q; if (q === 'no') return {action: 'deny'}; if (q === 'x') throw 1; if (q === 'c') context.request.params.arguments.q = 'd'`)
	d.Match = Match{Tools: []string{"github__do"}, When: `request.params.arguments.q != "skip"`}
	w, problems := Compile(d, testEnvironment)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	past := func(id int, tool, q string) Past {
		call := b.newCall(tool, `{"q":"`+q+`"}`)
		call.RequestID = strconv.Itoa(id)
		return Past{call, &gateway.Result{Raw: []byte(`{"content":[]}`)}}
	}
	all := []Past{past(1, "do", "no"), past(2, "do", "x"), past(3, "do", "c"), past(4, "do", "a"), past(5, "do", "skip"), past(6, "other", "no")}
	seq := func(fails error) func(func(Past, error) bool) {
		return func(yield func(Past, error) bool) {
			for _, one := range all {
				if !yield(one, nil) {
					return
				}
			}
			if fails != nil {
				yield(Past{}, fails)
			}
		}
	}
	got, err := b.Backtest(t.Context(), w, seq(nil))
	if err != nil || got.Calls != 6 || got.Unmatched != 2 || got.Denied != 1 || got.Failed != 1 || got.Changed != 1 || got.Unchanged != 1 || got.Asked != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got.BytesBefore != 28 || got.BytesAfter != 28 || got.P50 <= 0 || got.P95 < got.P50 {
		t.Errorf("%+v", got)
	}
	for kind, id := range map[string]string{KindDenied: "1", KindFailed: "2", KindChanged: "3"} {
		if strings.Join(got.Examples[kind], " ") != id {
			t.Errorf("%s: %v", kind, got.Examples[kind])
		}
	}
	if want := []string{"1", "2", "3", "4"}; !slices.Equal(got.Matched, want) {
		t.Errorf("matched %v, want %v", got.Matched, want)
	}
	if len(b.server.sent) != 0 || len(b.Stats("w")) != 0 {
		t.Errorf("sent %v, counted %v", b.server.sent, b.Stats("w"))
	}
	broken := errors.New("the disk is gone")
	if _, err := b.Backtest(t.Context(), w, seq(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := b.Backtest(ctx, w, seq(nil)); err != nil || got.Calls != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The effect of workflows on a call is the strongest one, and what would have happened
// comes last.
func TestEffect(t *testing.T) {
	t.Parallel()
	traces := NewTraces(10, nil)
	traces.Trace(Trace{Call: "a", Outcome: OutcomeOK})
	for _, step := range []struct {
		trace Trace
		want  string
	}{
		{Trace{Outcome: OutcomeOK}, ""},
		{Trace{Detached: true, Outcome: OutcomeFailed}, ""},
		{Trace{Mode: shadow, Outcome: OutcomeOK, Changed: true}, EffectWouldChange},
		{Trace{Mode: shadow, Outcome: OutcomeFailed}, EffectWouldDeny},
		{Trace{Outcome: OutcomePassed, Changed: true}, EffectChanged},
		{Trace{Outcome: OutcomeDenied}, EffectDenied},
	} {
		step.trace.Call = "b"
		traces.Trace(step.trace)
		if got := traces.Effect("b"); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
	if got := traces.Effect("a"); got != "" {
		t.Errorf("%q", got)
	}
}

// Approvals end whose calls may not be made any more.
func TestApprovalsAreCheckedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	synctest.Test(t, func(t *testing.T) {
		ended := ""
		d := NewDesk(DeskOptions{Closed: func(a Approval, decision *Decision) { ended += fmt.Sprint(a.Client, decision == nil) }})
		results := map[string]chan error{}
		for _, client := range []string{"anna", "bert"} {
			q, done := question(b, time.Minute), make(chan error, 1)
			q.Call.Identity.ClientID = client
			results[client] = done
			go func() {
				_, err := d.Ask(t.Context(), q)
				done <- err
			}()
		}
		synctest.Wait()
		d.Recheck(func(call *gateway.Call) error {
			if call.Identity.ClientID == "anna" {
				return gateway.Errorf(gateway.CodeUnauthenticated, "the token %q was revoked", "anna")
			}
			return nil
		})
		if err := <-results["anna"]; !isDenial(err) || !strings.Contains(err.Error(), `may not make it any more: the token "anna" was revoked`) || ended != "annatrue" {
			t.Errorf("%v, ended %s", err, ended)
		}
		all := d.List()
		if len(all) != 1 || all[0].Client != "bert" {
			t.Fatalf("%+v", all)
		}
		if err := d.Decide(t.Context(), all[0].ID, Decision{Granted: true, By: "boss"}); err != nil || <-results["bert"] != nil {
			t.Error(err)
		}
	})
}
