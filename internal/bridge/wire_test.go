package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// world is a bridge with a client before it and owners behind it, all played
// by the test.
type world struct {
	t      *testing.T
	in     *io.PipeWriter
	heard  chan string // what the client hears
	owners chan *owner // those that the bridge has connected to

	mu sync.Mutex
	// absent makes the bridge find nobody.
	absent bool
	conns  []net.Conn

	stop  context.CancelFunc
	ended chan error
}

// owner is one end of a link.
type owner struct {
	t     *testing.T
	conn  net.Conn
	heard chan string // closed when the bridge has left
}

// theEnd is what an owner hears when the client has nothing more to say.
const theEnd = "the end"

func startWorld(t *testing.T) (*world, *owner) {
	t.Helper()
	in, client := io.Pipe()
	clientIn, out := io.Pipe()
	w := &world{
		t: t, in: client, heard: make(chan string, 4096), owners: make(chan *owner, 16),
		ended: make(chan error, 1),
	}
	go func() {
		defer close(w.heard)
		for lines := bufio.NewReader(clientIn); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			w.heard <- strings.TrimSuffix(line, "\n")
		}
	}()
	first, _ := w.connect(t.Context())
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go func() {
		err := Run(ctx, first, Options{
			In: in, Out: out, Connect: w.connect, Answer: answerForTest, Log: slog.New(slog.DiscardHandler),
		})
		_ = in.Close()
		_ = out.Close()
		w.ended <- err
	}()
	t.Cleanup(func() {
		w.setAbsent(true)
		stop()
		_ = client.Close()
		for _, conn := range w.conns {
			_ = conn.Close()
		}
		if err := w.end(); err != nil {
			t.Error(err)
		}
	})
	return w, <-w.owners
}

// answerForTest is how errors look here; the real ones are mcpserver's.
func answerForTest(request *jsonrpc.Message, err error) []byte {
	e := gateway.AsError(err)
	return jsonrpc.AppendErrorObject(nil, request.ID, jsonrpc.ErrorObject(503, e.Code.String()+": "+e.Text(), nil))
}

func (w *world) newOwner() net.Conn {
	ours, theirs := net.Pipe()
	o := &owner{t: w.t, conn: ours, heard: make(chan string, 4096)}
	go func() {
		defer close(o.heard)
		var line []byte
		for bytes := bufio.NewReader(ours); ; {
			b, err := bytes.ReadByte()
			switch {
			case err != nil:
				return
			case b == endMark && len(line) == 0:
				o.heard <- theEnd
			case b == '\n':
				o.heard <- string(line)
				line = line[:0]
			default:
				line = append(line, b)
			}
		}
	}()
	w.conns = append(w.conns, ours)
	w.owners <- o
	return theirs
}

func (w *world) connect(context.Context) (io.ReadWriteCloser, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.absent {
		return nil, ErrNobody
	}
	return w.newOwner(), nil
}

func (w *world) setAbsent(absent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.absent = absent
}

// say sends a line of the client's.
func (w *world) say(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.in, format+"\n", args...); err != nil {
		w.t.Fatal(err)
	}
}

// hears waits for what the client hears next.
func (w *world) hears(want string) {
	w.t.Helper()
	expect(w.t, w.heard, "the client", want)
}

// hearsError waits for an error with this id and a part of this text.
func (w *world) hearsError(id, text string) {
	w.t.Helper()
	got := next(w.t, w.heard, "the client")
	if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+id+`,"error":`) || !strings.Contains(got, text) {
		w.t.Fatalf("the client heard %s\nwant an error for %s with %q", got, id, text)
	}
}

// nextOwner waits until the bridge has found another owner.
func (w *world) nextOwner() *owner {
	w.t.Helper()
	select {
	case o := <-w.owners:
		return o
	case <-time.After(time.Minute):
		w.t.Fatal("the bridge does not look for another owner")
		return nil
	}
}

func (o *owner) say(format string, args ...any) {
	o.t.Helper()
	if _, err := fmt.Fprintf(o.conn, format+"\n", args...); err != nil {
		o.t.Fatal(err)
	}
}

func (o *owner) hears(want string) {
	o.t.Helper()
	expect(o.t, o.heard, "the owner", want)
}

// dies ends the link without a word.
func (o *owner) dies() { _ = o.conn.Close() }

// left waits until the bridge has ended the link.
func (o *owner) left() {
	o.t.Helper()
	if got, open := <-o.heard; open {
		o.t.Fatalf("the owner heard %s, want the end", got)
	}
}

func expect(t *testing.T, heard <-chan string, who, want string) {
	t.Helper()
	if got := next(t, heard, who); got != want {
		t.Fatalf("%s heard %s\nwant %s", who, got, want)
	}
}

func next(t *testing.T, heard <-chan string, who string) string {
	t.Helper()
	select {
	case got, open := <-heard:
		if !open {
			t.Fatalf("%s heard the end", who)
		}
		return got
	case <-time.After(time.Minute):
		t.Fatalf("%s hears nothing", who)
		return ""
	}
}

// end waits for the bridge's end.
func (w *world) end() error {
	w.t.Helper()
	select {
	case err := <-w.ended:
		w.ended <- err
		return err
	case <-time.After(2 * time.Minute):
		return errors.New("the bridge does not end")
	}
}

const (
	initializeLine  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`
	initializeReply = `{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}}}`
	initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// begin lets a legacy client begin.
func (w *world) begin(o *owner) {
	w.t.Helper()
	w.say(initializeLine)
	o.hears(initializeLine)
	o.say(initializeReply)
	w.hears(initializeReply)
	w.say(initializedLine)
	o.hears(initializedLine)
}

func call(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x"}}`
}

func result(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"text":"` + text + `"}}`
}
