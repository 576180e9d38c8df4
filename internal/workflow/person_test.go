package workflow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// formPeer is a client whose person answers forms.
type formPeer struct {
	answer string // empty for an error
	asked  []string
}

func (p *formPeer) Notify(string, []byte) {}

func (p *formPeer) Ask(_ context.Context, method string, params []byte) ([]byte, error) {
	p.asked = append(p.asked, method+" "+string(params))
	if p.answer == "" {
		return nil, errors.New("gone")
	}
	return []byte(p.answer), nil
}

// A client that shows forms asks its own person.
func TestAClientAsksItsPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for answer, want := range map[string]bool{
		`{"action":"accept","content":{"allow":true}}`:   true,
		`{"action":"accept","content":{"allow":false}}`:  false,
		`{"action":"accept","content":{"allow":"true"}}`: false,
		`{"action":"accept"}`:                            false,
		`{"action":"decline","content":{"allow":true}}`:  false,
	} {
		var opened, closed []Approval
		d := NewDesk(DeskOptions{
			Redact:    withoutHunter,
			Translate: func(t gateway.Text) string { return "ja:" + t.String() },
			Opened:    func(a Approval) { opened = append(opened, a) },
			Closed:    func(a Approval, _ *Decision) { closed = append(closed, a) },
		})
		peer := &formPeer{answer: answer}
		q := question(b, time.Minute)
		q.Message, q.AskClient = "", true
		q.Call.Peer, q.Call.Session = peer, &gateway.Session{Capabilities: []byte(`{"elicitation":{}}`)}
		decision, err := d.Ask(t.Context(), q)
		if decision.Granted != want || err != nil || decision.By != "anna" {
			t.Errorf("%s: %+v, %v", answer, decision, err)
		}
		if len(opened) != 1 || len(closed) != 1 || !opened[0].InClient || len(d.List()) > 0 {
			t.Errorf("%s: opened %+v, closed %+v", answer, opened, closed)
		}
		form := `ja:The workflow \"w\" asks before github__merge is called.\ngithub__merge {\"key\":\"***\"}`
		if len(peer.asked) != 1 || !strings.HasPrefix(peer.asked[0], "elicitation/create ") || !strings.Contains(peer.asked[0], form) || !strings.Contains(peer.asked[0], `"title":"ja:Allow this call"`) {
			t.Errorf("asked %s", peer.asked)
		}
	}
}

// A client with a token could answer for its person, so it is asked only if the workflow
// says so. Local clients are asked.
func TestWhichClientsMayAskTheirPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for _, test := range []struct {
		client    string
		admin     bool
		askClient bool
		want      bool
	}{
		{client: "anna"},
		{client: "anna", askClient: true, want: true},
		{client: "admin", admin: true},
		{client: "boss", admin: true},
		{client: "local", admin: true, want: true},
		{client: "local:cursor", want: true},
	} {
		q := question(b, time.Minute)
		q.AskClient = test.askClient
		q.Call.Identity = gateway.Identity{ClientID: test.client, Admin: test.admin}
		q.Call.Peer, q.Call.Session = &formPeer{}, &gateway.Session{Capabilities: []byte(`{"elicitation":{}}`)}
		if got := mayAskPerson(q); got != test.want {
			t.Errorf("%+v", test)
		}
	}
}

// waitingPeer is a client whose person does not answer.
type waitingPeer struct{ withdrawn bool }

func (p *waitingPeer) Notify(string, []byte) {}

func (p *waitingPeer) Ask(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	<-ctx.Done()
	p.withdrawn = true
	return nil, context.Cause(ctx)
}

// An administrator can decide while a client asks its person, whose question is withdrawn
// then.
func TestAnAdministratorDecidesBeforeTheClient(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for _, granted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := NewDesk(DeskOptions{})
			peer := &waitingPeer{}
			q := question(b, time.Minute)
			q.AskClient = true
			q.Call.Peer, q.Call.Session = peer, &gateway.Session{Capabilities: []byte(`{"elicitation":{}}`)}
			done := make(chan Decision, 1)
			go func() {
				decision, err := d.Ask(t.Context(), q)
				if err != nil {
					t.Error(err)
				}
				done <- decision
			}()
			synctest.Wait()
			if err := d.Decide(t.Context(), d.List()[0].ID, Decision{Granted: granted, By: "boss"}); err != nil {
				t.Fatal(err)
			}
			if got := <-done; got.Granted != granted || got.By != "boss" || !peer.withdrawn || len(d.List()) > 0 {
				t.Errorf("%+v, withdrawn: %t", got, peer.withdrawn)
			}
		})
	}
}

// If a client cannot ask its person, administrators still can decide, and are told then.
// If nobody does, the call is refused also if its workflow fails open.
func TestAClientThatCannotAskLeavesItToAdministrators(t *testing.T) {
	t.Parallel()
	for how, c := range map[string]struct {
		decide func(d *Desk, a Approval) error
		want   string
		sent   int
	}{
		"an administrator decides": {func(d *Desk, a Approval) error {
			return d.Decide(t.Context(), a.ID, Decision{Granted: true, By: "boss"})
		}, `{"content"`, 1},
		"somebody with the link decides": {func(d *Desk, a Approval) error {
			return d.DecideByCode(t.Context(), a.Code, a.Hash, "link", true)
		}, `{"content"`, 1},
		"nobody decides": {func(*Desk, Approval) error { return nil }, "denied: workflow \"w\" refused this call: nobody answered in time", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var opened []bool
			d := NewDesk(DeskOptions{Opened: func(a Approval) { opened = append(opened, a.InClient) }})
			b := newBench(t, Options{Decider: DeciderFunc(d.Ask)})
			def := flow("w", "start → approve → mcp → end")
			def.FailMode = open
			b.use(t, def)
			call := b.newCall("merge", `{}`)
			call.Identity = gateway.Identity{ClientID: "local:cursor"}
			call.Peer, call.Session = &formPeer{}, &gateway.Session{Capabilities: []byte(`{"elicitation":{}}`)}
			answered := make(chan string, 1)
			go func() { answered <- said(b.handler.Handle(context.Background(), call)) }()
			synctest.Wait()
			all := d.List()
			if len(all) != 1 || all[0].InClient || !slices.Equal(opened, []bool{true, false}) {
				t.Fatalf("%s: %+v wait, opened %v", how, all, opened)
			}
			if err := c.decide(d, all[0]); err != nil {
				t.Errorf("%s: %v", how, err)
			}
			if got := <-answered; !strings.HasPrefix(got, c.want) || len(b.server.sent) != c.sent || len(opened) != 2 {
				t.Errorf("%s: answered %s, sent %v", how, got, b.server.sent)
			}
			b.Close(context.Background())
		})
	}
}

func TestWhichClientsCanAskAPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for capabilities, want := range map[string]bool{
		`{}`: false, `{"elicitation":{}}`: true, `{"elicitation":{"form":{}}}`: true, `{"elicitation":{"url":{}}}`: false, `{"elicitation":{"form":{},"url":{}}}`: true,
	} {
		call := b.newCall("merge", `{}`)
		call.Session = &gateway.Session{Capabilities: []byte(capabilities)}
		if canAskPerson(call) {
			t.Errorf("%s: nobody is there to ask", capabilities)
		}
		call.Peer = &formPeer{}
		if canAskPerson(call) != want {
			t.Errorf("%s: want %t", capabilities, want)
		}
	}
}
