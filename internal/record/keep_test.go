package record

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

// A call that a call makes is an entry of its own, below the other. One that is the rest
// of another call is the entry for both.
func TestCallsThatCallsMake(t *testing.T) {
	for name, included := range map[string]bool{"made by code": false, "the rest of it": true} {
		t.Run(name, func(t *testing.T) {
			var ended []history.Entry
			var r *Recorder
			var h gateway.Handler
			answer := &gateway.Result{Raw: []byte(`{}`)}
			r, h, _ = recorder(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
				call.Tool = &gateway.Tool{Name: "t", Exposed: "srv__t", Source: source("srv")}
				if call.Parent != nil {
					return answer, nil
				}
				inner := &gateway.Call{Method: call.Method, Caller: call.Caller, Parent: call, Terms: gateway.Terms{Included: included}}
				return h.Handle(ctx, inner)
			})
			r.Keep(func() Keeping { return Keeping{} }, nil, func(e history.Entry) { ended = append(ended, e) })
			if _, err := h.Handle(t.Context(), newCall()); err != nil {
				t.Fatal(err)
			}
			switch {
			case included && (len(ended) != 1 || ended[0].Through != "t" || ended[0].Parent != ""):
				t.Errorf("%+v", ended)
			case !included && (len(ended) != 2 || ended[0].Parent != ended[1].ID || ended[0].ID == ended[1].ID || ended[1].Parent != ""):
				t.Errorf("%+v", ended)
			}
		})
	}
}

// What a person looks up in the web UI is announced to nobody and kept nowhere.
func TestBrowsingIsNoCall(t *testing.T) {
	announced := 0
	count := func(history.Entry) { announced++ }
	r, h, _ := recorder(resolved(&gateway.Result{Raw: []byte(`{}`)}, nil))
	r.Keep(func() Keeping { return Keeping{} }, count, count)
	begin := r.Begin(h)
	for _, browsing := range []bool{true, false} {
		call := newCall()
		call.Browsing = browsing
		call.Tool = &gateway.Tool{Name: "t", Exposed: "srv__t", Source: source("srv")}
		if _, err := begin.Handle(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if browsing && announced != 0 || !browsing && announced != 2 {
			t.Errorf("browsing %v: announced %d times", browsing, announced)
		}
	}
}

// What a model pays for an image is not what its base64 would cost as a text.
func TestTokensOfBinaryAnswers(t *testing.T) {
	data := make([]byte, 300_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	encoded := base64.StdEncoding.EncodeToString(data)
	text := strings.Repeat("words of a text ", 500) // about 2,000 tokens
	for name, c := range map[string]struct {
		answer      string
		least, most int
	}{
		"an image":               {`{"content":[{"type":"image","data":"` + encoded + `","mimeType":"image/png"}]}`, 100, 1000},
		"a sound beside a text":  {`{"content":[{"type":"text","text":"` + text + `"},{"type":"audio","data":"` + encoded + `","mimeType":"audio/wav"}]}`, 2000, 3500},
		"binary data":            {`{"content":[{"type":"resource","resource":{"uri":"file:///a.bin","blob":"` + encoded + `"}}]}`, 1, 30},
		"a text":                 {`{"content":[{"type":"text","text":"` + text + `"}]}`, 1500, 3000},
		"base64 that is a text":  {`{"content":[{"type":"text","text":"` + encoded + `"}]}`, 150_000, 400_000},
		"structured, with image": {`{"content":[{"type":"image","data":"` + encoded + `"}],"structuredContent":{"a":"` + text + `"}}`, 2000, 3500},
	} {
		if n := answerTokens([]byte(c.answer)); n < c.least || n > c.most {
			t.Errorf("%s has %d tokens, want %d to %d", name, n, c.least, c.most)
		}
	}
	plain := bytes.Repeat([]byte(`{"content":[{"type":"text","text":"words"}]}`), 400)
	if n := testing.AllocsPerRun(10, func() { answerTokens(plain) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A caller reads why a call was refused, so that counts. Nobody reads it of a call that was
// canceled.
func TestTokensOfRefusals(t *testing.T) {
	refusal := gateway.Errorf(gateway.CodeDenied, "workflow %q refused this call", "w")
	for name, c := range map[string]struct {
		err    error
		say    func(gateway.Text) string
		tokens int
		bytes  int
	}{
		"in English":  {refusal, nil, tokens.Estimate([]byte(refusal.Text())), len(refusal.Text())},
		"in Japanese": {refusal, func(gateway.Text) string { return "拒否" }, tokens.Estimate([]byte("拒否")), len("拒否")},
		"canceled":    {context.Canceled, nil, 0, 0},
		"of a server": {&gateway.Error{Code: gateway.CodeUnavailable, RPC: []byte(`{"code":1,"message":"full"}`)}, nil, tokens.Estimate([]byte(`{"code":1,"message":"full"}`)), 27},
	} {
		var ended history.Entry
		r, h, _ := recorder(resolved(nil, c.err))
		r.Keep(func() Keeping { return Keeping{Say: c.say} }, nil, func(e history.Entry) { ended = e })
		_, _ = h.Handle(t.Context(), newCall())
		if ended.TokensOut != c.tokens || ended.BytesOut != c.bytes {
			t.Errorf("%s: %d tokens, %d bytes, want %d, %d", name, ended.TokensOut, ended.BytesOut, c.tokens, c.bytes)
		}
	}
}

// A call is known from when its tool is found until it has ended, and what was sent only
// if it will be kept.
func TestRunningCalls(t *testing.T) {
	var kept bool
	writer := history.NewWriter(history.Options{Dir: t.TempDir(), Run: "AAA", Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(writer.Close)
	var r *Recorder
	var id string
	look := func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		id = call.RequestID
		for _, kept = range []bool{true, false} {
			e, request, ok := r.Running(id)
			if !ok || e.ID != id || e.Tool != "srv__t" || e.Outcome != history.OutcomeRunning || (string(request) == `{"name":"t"}`) != kept || e.BytesIn == 0 {
				t.Errorf("kept %t: %+v %s %t", kept, e, request, ok)
			}
		}
		call.SetRawArguments([]byte(`{"changed":true}`))
		return &gateway.Result{Raw: []byte(`{}`)}, nil
	}
	r, h, _ := recorder(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		call.Tool = &gateway.Tool{Name: "t", Exposed: "srv__t", Source: source("srv")}
		return r.Begin(gateway.HandlerFunc(look)).Handle(ctx, call)
	})
	r.Keep(func() Keeping {
		return Keeping{History: writer, Bodies: func(gateway.Identity) bool { return kept }}
	}, nil, func(e history.Entry) {
		if _, _, ok := r.Running(e.ID); ok {
			t.Error("it runs while its end is announced")
		}
	})
	for range 3 {
		call := newCall()
		call.Params, _ = jsonrpc.ScanParams([]byte(`{"name":"t"}`))
		if _, err := h.Handle(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := r.Running(id); ok || len(r.running.calls) != 0 || len(r.running.spare) != 1 {
			t.Errorf("it still runs: %+v", r.running.calls)
		}
	}
}

// The progress of a call is announced while it runs, and not all of a server that tells much.
func TestProgressOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var late func()
		var r *Recorder
		r, h, _ := recorder(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			call.Tool = &gateway.Tool{Name: "t", Exposed: "srv__t", Source: source("srv")}
			return r.Begin(gateway.HandlerFunc(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
				call.Progressed([]byte(`{"progress":"much"}`)) // and the next is announced
				for i := range 6 {
					call.Progressed(fmt.Appendf(nil, `{"progress":%d,"total":9,"message":"secret"}`, i))
					time.Sleep(progressPause / 2)
				}
				call.Progressed([]byte(`{"progress":6,"total":9}`))
				for range 3 {
					call.Progressed([]byte(`{"progress":9,"total":9}`)) // announced at once, but not each time
				}
				late = func() { call.Progressed([]byte(`{"progress":9}`)) }
				return &gateway.Result{Raw: []byte(`{}`)}, nil
			})).Handle(ctx, call)
		})
		r.Keep(func() Keeping { return Keeping{} }, nil, nil)
		r.Follow(func(e history.Entry, done, total float64) {
			told = append(told, fmt.Sprint(e.ID, e.Tool, done, total))
		})
		call := newCall()
		if _, err := h.Handle(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		late()
		at := func(done int) string { return fmt.Sprint(call.RequestID, "srv__t", float64(done), 9.0) }
		if want := []string{at(0), at(2), at(4), at(6), at(9)}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// A call allocates as much whether its progress can be followed or not.
func TestFollowingProgressAllocatesNothing(t *testing.T) {
	allocations := func(follow bool) float64 {
		tool, answer := &gateway.Tool{Name: "t", Exposed: "srv__t", Source: source("srv")}, &gateway.Result{Raw: []byte(`{}`)}
		var r *Recorder
		r, h, _ := recorder(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			call.Tool = tool
			return r.Begin(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) { return answer, nil })).Handle(ctx, call)
		})
		r.log = slog.New(slog.DiscardHandler)
		r.Keep(func() Keeping { return Keeping{} }, nil, nil)
		if follow {
			r.Follow(func(history.Entry, float64, float64) {})
		}
		return testing.AllocsPerRun(100, func() { _, _ = h.Handle(t.Context(), newCall()) })
	}
	if followed, alone := allocations(true), allocations(false); followed != alone {
		t.Errorf("%v allocations, and %v without", followed, alone)
	}
}

// The notice that Genkan adds to an answer is kept as the client got it.
func TestNoticeIsKeptAsSaid(t *testing.T) {
	key := bytes.Repeat([]byte("k"), history.KeySize)
	loadKey := func(context.Context) ([]byte, error) { return key, nil }
	dir := t.TempDir()
	r, h, _ := recorder(resolved(&gateway.Result{Raw: []byte(`{}`), Notice: gateway.Textf("the folder was not used")}, nil))
	writer := history.NewWriter(history.Options{Dir: dir, Run: r.Run(), Key: loadKey, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(writer.Close)
	r.Keep(func() Keeping {
		return Keeping{
			History: writer, Bodies: func(gateway.Identity) bool { return true },
			Say: func(gateway.Text) string { return "フォルダーは使われませんでした" },
		}
	}, nil, nil)
	call := newCall()
	if _, err := h.Handle(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	writer.Flush(t.Context())
	_, bodies, err := history.NewReader(dir, loadKey).Bodies(t.Context(), call.RequestID, "")
	if err != nil || !strings.Contains(string(bodies.Response), "フォルダーは使われませんでした") {
		t.Errorf("%s, %v", bodies.Response, err)
	}
}
