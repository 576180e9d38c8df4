package record

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/jsonrpc"
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
