package workflow

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
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

// A client that shows forms asks its own person, who alone decides.
func TestAClientAsksItsPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for answer, want := range map[string]bool{
		`{"action":"accept","content":{"allow":true}}`:   true,
		`{"action":"accept","content":{"allow":false}}`:  false,
		`{"action":"accept","content":{"allow":"true"}}`: false,
		`{"action":"accept"}`:                            false,
		`{"action":"decline","content":{"allow":true}}`:  false,
		"": false,
	} {
		var opened, closed []Approval
		d := NewDesk(DeskOptions{
			Redact:    func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte("hunter2"), []byte("***")) },
			Translate: func(t gateway.Text) string { return "ja:" + t.String() },
			Opened:    func(a Approval) { opened = append(opened, a) },
			Closed:    func(a Approval, _ *Decision) { closed = append(closed, a) },
		})
		peer := &formPeer{answer: answer}
		q := question(b, time.Minute)
		q.Message = ""
		q.Call.Peer, q.Call.Session = peer, &gateway.Session{Capabilities: []byte(`{"elicitation":{}}`)}
		decision, err := d.Ask(t.Context(), q)
		if decision.Granted != want || (err != nil) != (answer == "") || err == nil && decision.By != "anna" {
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
