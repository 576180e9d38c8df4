package bridge

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The input of a joined client ends with its mark, while answers are still sent.
// The end of the connection means that the client has gone.
func TestJoinedEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sends string
		reads string
		gone  bool
	}{
		"says the end":             {"one\ntwo\n\x04", "one\ntwo\n", false},
		"says nothing but the end": {"\x04", "", false},
		"just goes":                {"one\n", "one\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			joined := NewJoined(theirs)
			go func() {
				_, _ = io.WriteString(ours, test.sends)
				if test.gone {
					_ = ours.Close()
				}
			}()
			if got, err := io.ReadAll(joined); err != nil || string(got) != test.reads {
				t.Errorf("read %q, %v", got, err)
			}
			if !test.gone {
				select {
				case <-joined.Gone():
					t.Error("it is taken for gone")
				default:
				}
				go func() { _, _ = joined.Write([]byte("answer\n")) }()
				answer := make([]byte, 7)
				if _, err := io.ReadFull(ours, answer); err != nil || string(answer) != "answer\n" {
					t.Errorf("the answer was %q, %v", answer, err)
				}
				_ = ours.Close()
			}
			<-joined.Gone()
			joined.Close()
		})
	}
}

// One client that does not read must not hold up those that share its servers:
// what is for it waits aside, up to a limit, and then it is let go.
func TestJoinedThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		joined := NewJoined(theirs)
		message := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
		begun := time.Now()
		for range outboxLimit / len(message) {
			if _, err := joined.Write(message); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("it held up the others for %v", took)
		}
		for range 3 {
			_, _ = joined.Write(message)
		}
		if took := time.Since(begun); took != readPatience {
			t.Errorf("it was let go after %v", took)
		}
		if _, err := joined.Write(message); err == nil {
			t.Error("it still takes messages")
		}
		joined.Close()
		_ = ours.Close()
	})
}

// One that reads slowly is waited for.
func TestJoinedThatReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		joined := NewJoined(theirs)
		const messages, size = 24, 1 << 20
		var reading sync.WaitGroup
		received := 0
		reading.Go(func() {
			for piece := make([]byte, 64<<10); ; {
				n, err := ours.Read(piece)
				received += n
				if err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		for range messages {
			if _, err := joined.Write([]byte(strings.Repeat("x", size))); err != nil {
				t.Fatal(err)
			}
		}
		for {
			if written, err := joined.out.progress(); written == messages*size || err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		joined.Close()
		reading.Wait()
		if received != messages*size {
			t.Errorf("%d of %d bytes came", received, messages*size)
		}
		_ = ours.Close()
	})
}

// An outbox keeps the order of messages from all senders.
func TestOutboxKeepsOrder(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	o := newOutbox(&written)
	var want strings.Builder
	for i := range 1000 {
		line := strings.Repeat("y", i)
		o.putLine([]byte(line))
		want.WriteString(line + "\n")
	}
	o.close()
	<-o.done
	o.putLine([]byte("too late"))
	if written.String() != want.String() {
		t.Error("what was written is something else")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

// An outbox that cannot write blocks no sender.
func TestBrokenOutbox(t *testing.T) {
	t.Parallel()
	o := newOutbox(broken{})
	o.put(bytes.Repeat([]byte("x"), outboxLimit+1))
	if space := o.full(); space != nil {
		<-space
	}
	<-o.done
	if _, err := o.progress(); err == nil {
		t.Error("it knows of no error")
	}
}
