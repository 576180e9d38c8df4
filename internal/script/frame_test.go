package script

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"testing"
)

func encodeFrame(kind byte, fields ...[]byte) []byte {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	_ = writeFrame(w, kind, fields...)
	_ = w.Flush()
	return out.Bytes()
}

func FuzzFrame(f *testing.F) {
	f.Add(encodeFrame(frameDone, []byte(`{"a":1}`), nil, []byte("x")))
	f.Add([]byte{1, 0, 0, 0, 'h'})
	f.Add([]byte{255, 255, 255, 255, 'h'})
	f.Add([]byte{6, 0, 0, 0, 'h', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := readFrame(bufio.NewReader(bytes.NewReader(data)), 1<<16)
		if err != nil {
			return
		}
		again, err := readFrame(bufio.NewReader(bytes.NewReader(encodeFrame(read.kind, read.fields[:]...))), 1<<20)
		if err != nil || again.kind != read.kind {
			t.Fatalf("%v", err)
		}
		for i := range read.fields {
			if !bytes.Equal(read.fields[i], again.fields[i]) {
				t.Errorf("field %d: %q became %q", i, read.fields[i], again.fields[i])
			}
		}
	})
}

// Whatever a worker writes, a run ends with a result within its limits or an error.
func FuzzWorkerOutput(f *testing.F) {
	wait := encodeFrame(frameWait, number(0))
	ask := encodeFrame(frameAsk, number(0), []byte("get"), []byte("k"), nil)
	done := encodeFrame(frameDone, []byte(`{}`), []byte(`{}`), []byte(`[{"level":"log","text":"x"}]`))
	f.Add(done)
	f.Add(append(append(ask, wait...), done...))
	f.Add(encodeFrame(frameFailed, []byte("error"), []byte("x"), number(1), number(2), []byte(`[`)))
	f.Add(encodeFrame(frameFailed, []byte("busy"), []byte("x"), number(-1)))
	f.Add(encodeFrame(frameHello))
	f.Add(append(append([]byte{}, wait...), wait...))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := NewPool(Options{Running: 1, Processes: 1})
		w := &worker{
			reader: bufio.NewReader(bytes.NewReader(data)), writer: bufio.NewWriter(io.Discard),
			cmd: &exec.Cmd{}, kill: func() {}, known: map[string]bool{}, exited: make(chan struct{}),
		}
		close(w.exited)
		p.procs, p.idle = 1, []*worker{w}
		ctx, stop := context.WithCancel(context.Background())
		stop2 := context.AfterFunc(ctx, func() {})
		defer stop2()
		defer stop()
		r, err := p.Run(ctx, Job{Program: &Program{ID: "x"}, Host: &fakeHost{}, Limits: Limits{Payload: 1 << 10}})
		if failure := failureOf(t, err); failure == nil && (len(r.Context) > 1<<10 || tooDeep(r.Context, 200)) {
			t.Errorf("%s", r.Context)
		} else if failure != nil && failure.Kind == Busy {
			t.Errorf("%v", failure)
		}
		if s := p.Stats(); s.Running != 0 || s.Waiting != 0 || p.free != 1 {
			t.Errorf("%+v, %d free", s, p.free)
		}
		p.Close()
	})
}

func FuzzTooDeep(f *testing.F) {
	f.Add([]byte(`[{"a":["\"]"]}]`), 2)
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		var value any
		if json.Unmarshal(text, &value) != nil {
			return
		}
		var depth func(any) int
		depth = func(v any) (d int) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					d = max(d, depth(e))
				}
				return d + 1
			case map[string]any:
				for _, e := range v {
					d = max(d, depth(e))
				}
				return d + 1
			}
			return 0
		}
		limit = max(0, limit)
		if d := depth(value); d > limit && !tooDeep(text, limit) {
			t.Errorf("%s is %d deep", text, d)
		}
	})
}
