package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	in := "one\r\n\n  \ntwo\n" + long + "\nlast without an end"
	for name, r := range map[string]io.Reader{
		"whole":       strings.NewReader(in),
		"byte by one": iotest.OneByteReader(strings.NewReader(in)),
	} {
		t.Run(name, func(t *testing.T) {
			lines := NewLineReader(r)
			for _, want := range []string{"one", "two", long, "last without an end"} {
				got, err := lines.Next()
				if err != nil || string(got) != want {
					t.Fatalf("got %d bytes, want %d: %v", len(got), len(want), err)
				}
			}
			if _, err := lines.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

func TestLineReaderDropsAnOversizedLineAndGoesOn(t *testing.T) {
	lines := NewLineReader(io.MultiReader(strings.NewReader("begin"),
		io.LimitReader(endless('x'), MaxMessage+10), strings.NewReader(",\"id\":7}\nnext\n")))
	ends, err := lines.Next()
	if !errors.Is(err, ErrTooLarge) {
		t.Fatalf("got %v", err)
	}
	if !bytes.HasPrefix(ends, []byte("beginx")) || !bytes.HasSuffix(ends, []byte(`x,"id":7}`)) {
		t.Errorf("the ends are %.10s and %s", ends, ends[len(ends)-10:])
	}
	if got, err := lines.Next(); err != nil || string(got) != "next" {
		t.Errorf("after it: %q, %v", got, err)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestReadBody(t *testing.T) {
	if _, err := ReadBody(endless('x'), -1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("endless body: %v", err)
	}
	if _, err := ReadBody(endless('x'), MaxMessage+1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("announced too large: %v", err)
	}
	if _, err := ReadBody(strings.NewReader("short"), 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut short: %v", err)
	}
	if body, err := ReadBody(strings.NewReader("exact"), 5); err != nil || string(body) != "exact" {
		t.Errorf("%q %v", body, err)
	}
}

func TestSSEReader(t *testing.T) {
	in := ": comment\n\nid: 7\ndata:\n\nevent: message\r\ndata: {\"a\":1}\r\n\r\nretry: 1500\ndata: x\ndata: y\n\ndata: never finished"
	r := NewSSEReader(strings.NewReader(in))
	first, err := r.Next()
	if err != nil || string(first.Data) != `{"a":1}` || first.Type != "message" || first.ID != "7" {
		t.Errorf("%+v %v", first, err)
	}
	second, err := r.Next()
	if err != nil || string(second.Data) != "x\ny" || second.Retry.Milliseconds() != 1500 {
		t.Errorf("%+v %v", second, err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("an unfinished event: %v", err)
	}
	long := strings.Repeat("z", 100<<10)
	if e, err := NewSSEReader(strings.NewReader("data: " + long + "\n\n")).Next(); err != nil || string(e.Data) != long {
		t.Errorf("a long line: %d bytes, %v", len(e.Data), err)
	}
	if _, err := NewSSEReader(io.MultiReader(strings.NewReader("data: "), endless('x'))).Next(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an endless line: %v", err)
	}
}

// An event that is too large is passed over, in one line or in many, and its
// ends tell whose it was.
func TestSSEReaderPassesOverWhatIsTooLarge(t *testing.T) {
	const limit = 1 << 20
	half := strings.Repeat("x", limit/2+10)
	short := strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", limit/1000+10)
	if got := NewSSEReader(nil).limit; got != MaxMessage {
		t.Errorf("the limit is %d", got)
	}
	for name, event := range map[string]string{
		"one line":    "data: {\"id\":7," + half + half + ",\"id\":7}\n",
		"two lines":   "data: {\"id\":7," + half + "\ndata: " + half + ",\"id\":7}\n",
		"short lines": "data: {\"id\":7,\n" + short,
		"more fields": "event: message\ndata: {\"id\":7," + half + half + ",\"id\":7}\nid: 4\n: comment\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := NewSSEReader(strings.NewReader("data: before\n\n" + event + "\ndata: behind\n\n"))
			r.limit = limit
			if e, err := r.Next(); err != nil || string(e.Data) != "before" {
				t.Fatalf("before it: %q, %v", e.Data, err)
			}
			if _, err := r.Next(); !errors.Is(err, ErrTooLarge) {
				t.Fatalf("got %v", err)
			}
			ends, err := r.Rest()
			if err != nil || !strings.HasPrefix(string(ends), `{"id":7,`) || len(ends) > 8<<10 {
				t.Errorf("ends %.80q (%d), %v", ends, len(ends), err)
			}
			if name != "short lines" && !strings.HasSuffix(string(ends), `,"id":7}`) {
				t.Errorf("it ends with %q", ends[len(ends)-20:])
			}
			if e, err := r.Next(); err != nil || string(e.Data) != "behind" {
				t.Errorf("behind it: %q, %v", e.Data, err)
			}
		})
	}
	r := NewSSEReader(strings.NewReader("data: " + half + half + half))
	r.limit = limit
	if _, err := r.Next(); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if _, err := r.Rest(); !errors.Is(err, io.EOF) {
		t.Errorf("a stream that ends within: %v", err)
	}
}

func FuzzSSE(f *testing.F) {
	f.Add([]byte("data: a\n\n"))
	f.Add([]byte("event: x\r\nid: 1\r\nretry: 5\r\ndata: a\r\ndata: b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewSSEReader(bytes.NewReader(data))
		for {
			e, err := r.Next()
			if err != nil {
				return
			}
			if len(e.Data) == 0 {
				t.Fatal("an event without data")
			}
		}
	})
}
