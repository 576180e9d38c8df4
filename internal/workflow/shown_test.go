package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// Long strings are cut, and all members stay, also those behind a long one.
func TestLongStringsAreCut(t *testing.T) {
	t.Parallel()
	note := func(missing int) string { return fmt.Sprintf("…[%d]", missing) }
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ text, want string }{
		{`{"note":"short","path":"/etc"}`, `{"note":"short","path":"/etc"}`},
		{`{"note":"` + long + `","path":"/etc/passwd"}`, `{"note":"` + long[:4096] + `…[1044480]","path":"/etc/passwd"}`},
		{`{"` + long + `":1,"path":{"a":["/etc"]}}`, `{"` + long[:4096] + `…[1044480]":1,"path":{"a":["/etc"]}}`},
		{`["` + strings.Repeat(`\u202e`, 10_000) + `","\"b\""]`, `["` + strings.Repeat(`\u202e`, 682) + `…[55908]","\"b\""]`},
		{`["` + strings.Repeat(`日`, 10_000) + `",1]`, `["` + strings.Repeat(`日`, 1365) + `…[25905]",1]`},
		{`["` + strings.Repeat(`\"`, 10_000) + `",1]`, `["` + strings.Repeat(`\"`, 2048) + `…[15904]",1]`},
	} {
		got, missing := shorten([]byte(c.text), note)
		if string(got) != c.want || !json.Valid(got) || !utf8.Valid(got) {
			t.Errorf("%.40s… became %d bytes, %.60s…", c.text, len(got), got[max(0, len(got)-60):])
		}
		if want := strings.Contains(c.want, "…["); (missing > 0) != want {
			t.Errorf("%.40s…: %d bytes are missing", c.text, missing)
		}
	}
	many := []byte("[")
	for range 40 {
		many = append(append(many, `"`+long[:5000]+`",`...), "1,"...)
	}
	many = append(many, "2]"...)
	if got, missing := shorten(many, note); len(got) > longestArguments || missing < 150_000 || !json.Valid(got) || !strings.HasSuffix(string(got), "2]") {
		t.Errorf("%d bytes, %d are missing", len(got), missing)
	}
}

// What cannot be shown to a person is not asked, and refused also if the workflow fails
// open. What does not fit in a client's form is left to an administrator.
func TestWhatDoesNotFitIsNotAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	d := NewDesk(DeskOptions{Redact: withoutHunter})
	q := question(b, time.Minute)
	q.Arguments = []byte("[" + strings.Repeat("1,", 200_000) + "1]")
	if _, err := d.Ask(t.Context(), q); !isDenial(err) || !strings.Contains(err.Error(), "too many parts") || len(d.List()) > 0 {
		t.Errorf("%v", err)
	}
	q.AskClient = true
	q.Call.Peer, q.Call.Session = &formPeer{}, &gateway.Session{Capabilities: []byte(`{"elicitation":{}}`)}
	for arguments, want := range map[string]string{
		`{"a":"` + strings.Repeat("x", 2000) + `"}`:        "",
		`{"a":"` + strings.Repeat("\u202e", 400) + `"}`:    "", // its escapes do not fit
		`{"path":"files/` + "\u2066\u202e" + `txt.seton"}`: `files/\\u2066\\u202etxt.seton`,
		`{"path":"hunter2"}`:                               `{\"path\":\"***\"}\nParts of the arguments are hidden, because Genkan keeps them secret.`,
	} {
		q.Arguments = []byte(arguments)
		a, err := d.newApproval(q)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(d.form(q, &a.Approval)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: asked %s", arguments, got)
		}
	}
}

// A person sees which resource is read. Its address is cut and masked as arguments are, and
// hidden characters of its template are shown in a form, too.
func TestTheAddressOfAResourceIsShown(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	d := NewDesk(DeskOptions{Redact: withoutHunter})
	long := "file:///" + strings.Repeat("x", 20_000) + "/etc/shadow"
	for _, c := range []struct{ uri, arguments, want, form string }{
		{"note://{}", "{}", `{"uri":"note://{}"}`, `\\u202enote://{id} {\"uri\":\"note://{}\"}`},
		{"note://hunter2\u202e\"", "{}", "{\"uri\":\"note://***\u202e\\\"\"}", `{\"uri\":\"note://***\\u202e\\\"\"}`},
		{long, "{}", `{"uri":"` + long[:4096] + `…[15923 bytes are not shown]"}`, ""},
		{"note://1", `{"a":1}`, `{"uri":"note://1","arguments":{"a":1}}`, `{\"uri\":\"note://1\",\"arguments\":{\"a\":1}}`},
	} {
		q := question(b, time.Minute)
		q.Arguments, q.AskClient = []byte(c.arguments), true
		q.Call.Method, q.Call.Name = ResourcesRead, c.uri
		q.Call.Tool.Exposed, q.Call.Tool.Kind = "\u202enote://{id}", gateway.KindTemplate
		q.Call.Peer, q.Call.Session = &formPeer{}, &gateway.Session{Capabilities: []byte(`{"elicitation":{}}`)}
		a, err := d.newApproval(q)
		if err != nil {
			t.Fatal(err)
		}
		if a.Arguments != c.want {
			t.Errorf("%.40s: shown as %.60s…%s", c.uri, a.Arguments, a.Arguments[max(0, len(a.Arguments)-40):])
		}
		if form := string(d.form(q, &a.Approval)); (form == "") != (c.form == "") || !strings.Contains(form, c.form) {
			t.Errorf("%.40s: asked %s", c.uri, form)
		}
	}
}

// Nobody decides about arguments whose secrets cannot be masked.
func TestWithoutKnowingTheSecretsNobodyIsAsked(t *testing.T) {
	t.Parallel()
	locked := true
	d := NewDesk(DeskOptions{Redact: func(arguments []byte) ([]byte, error) {
		if locked {
			return nil, errors.New("the vault is locked")
		}
		return arguments, nil
	}})
	b := newBench(t, Options{Decider: DeciderFunc(d.Ask)})
	def := flow("w", "start → approve → mcp → end")
	def.FailMode = open
	b.use(t, def)
	_, err := b.handler.Handle(t.Context(), b.newCall("merge", `{"pr":1}`))
	wantError(t, err, gateway.CodeDenied, "because the kept secrets cannot be read")
	if len(d.List()) > 0 || len(b.server.sent) > 0 {
		t.Errorf("%v wait, %v are sent", d.List(), b.server.sent)
	}
	synctest.Test(t, func(t *testing.T) { // it is locked while a call waits
		locked = false
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _, _ = d.Ask(ctx, question(b, time.Minute)) }()
		synctest.Wait()
		locked = true
		_, err := d.Get(d.List()[0].ID)
		wantError(t, err, gateway.CodeUnavailable, "because the kept secrets cannot be read")
	})
}
