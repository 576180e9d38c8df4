package upstream

import (
	"context"
	"fmt"
	"testing"
	"time"

	"genkan/internal/gateway"
)

// thinker is a client that is asked and does not answer until it is told that
// nobody wants to know any more.
type thinker struct{ asked chan struct{} }

func (thinker) Notify(string, []byte) {}

func (p thinker) Ask(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	p.asked <- struct{}{}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A server that is closed takes along who is asked for it: neither the question
// nor the call outlives what would bring the answer.
func TestClosingAServerThatAsks(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		for name, set := range map[string]Settings{
			"stdio": faultChild(t, "-everything", "-era", era.String()),
			"HTTP":  faultHTTP(t, "-everything", "-era", era.String()),
		} {
			t.Run(fmt.Sprintf("%s over %s", era, name), func(t *testing.T) {
				u := openReady(t, set)
				p := thinker{asked: make(chan struct{}, 1)}
				call := u.newCall(gateway.EraLegacy, "ask", `{}`, "")
				call.Session = &gateway.Session{ID: "s", Capabilities: []byte(`{"elicitation":{}}`)}
				call.Peer = p
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() {
					_, err := u.Handle(ctx, call)
					ended <- err
				}()
				<-p.asked
				closed := make(chan struct{})
				go func() {
					defer close(closed)
					u.Close()
				}()
				if era == gateway.EraModern {
					// Nothing of the server waits: the question is the call's own.
					cancel()
				}
				select {
				case err := <-ended:
					if era == gateway.EraLegacy {
						wantError(t, err, gateway.CodeUnavailable, "may or may not have been carried out")
					}
				case <-time.After(30 * time.Second):
					t.Fatal("the call outlives its server")
				}
				<-closed
			})
		}
	}
}
