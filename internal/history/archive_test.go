package history

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"genkan/internal/gateway"
)

// People call tools and clients by shorter names than they are kept under.
func TestNames(t *testing.T) {
	for name, c := range map[string]struct{ got, want bool }{
		"a tool":                        {MatchesTool("files", "files__read", "files__read"), true},
		"without its prefix":            {MatchesTool("files", "files__read", "read"), true},
		"by a part of it":               {MatchesTool("files", "files__read_all", "read"), false},
		"by its end":                    {MatchesTool("files", "files__spread", "read"), false},
		"with a prefix":                 {MatchesTool("files", "read", "files__read"), true},
		"of another server":             {MatchesTool("web", "read", "files__read"), false},
		"a token":                       {MatchesClient("ci", "ci"), true},
		"a local client":                {MatchesClient("local:cursor", "cursor"), true},
		"a local client, whole":         {MatchesClient("local:cursor", "local:cursor"), true},
		"a program":                     {MatchesClient("Cursor 1.7", "cursor"), true},
		"a program of words":            {MatchesClient("Claude Code 2.0", "claude code"), true},
		"a program by its version":      {MatchesClient("Cursor 1.7", "1.7"), false},
		"a program by its first letter": {MatchesClient("Cursor 1.7", "c"), false},
		"nobody":                        {MatchesClient("", "cursor"), false},
		"somebody else's prefix":        {MatchesClient("local:cursor", "local"), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
}

// A time is given as such, or as an age.
func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"2026-11-15T11:00:00Z": time.Hour, "2026-11-15T20:00:00+09:00": time.Hour, "0s": 0,
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour, "2w": 336 * time.Hour,
	} {
		now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		if at, ok := ParseTime(text, now); !ok || now.Sub(at) != want {
			t.Errorf("%s: %v, %v", text, at, ok)
		}
	}
	for _, text := range []string{"", "7", "d", "-1h", "-1d", "1.5d", "yesterday", "2026-11-15", "99999999d", "1h 30m"} {
		if at, ok := ParseTime(text, time.Now()); ok {
			t.Errorf("%q is %v", text, at)
		}
	}
}

// An error that repeats an argument is stored without it. Who may read what was sent and
// received reads the error as it came, and still no secret.
func TestErrorsWithArguments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	add := func(n int, masked, answer string) {
		e := call("AAA", n)
		e.Caller, e.Outcome, e.Error = "ci", "tool_error", masked
		w.Add(e, Bodies{Request: []byte(`{"arguments":{"path":"/etc/passwd"}}`), Response: []byte(answer)}, false)
	}
	add(1, "Access denied: *** not in /srv", `{"isError":true,"content":[{"type":"text","text":"Access denied: /etc/passwd not in /srv"}]}`)
	add(2, "the server answered with error -32602: no ***", `{"code":-32602,"message":"no /etc/passwd"}`)
	add(3, "wrong key ***", `{"content":[{"type":"text","text":"wrong key hunter2"}]}`)
	add(4, "cut ***", `{"content":[{"type":"te`)
	add(5, "the disk is full", `{"content":[{"type":"text","text":"other"}]}`)
	w.Close()
	want := []string{"the disk is full", "cut ***", "wrong key [redacted]", "the server answered with error -32602: no /etc/passwd", "Access denied: /etc/passwd not in /srv"}
	a := &Archive{Reader: NewReader(dir, goodKey), Log: slog.New(slog.DiscardHandler), Redact: func(context.Context) (func([]byte) ([]byte, []string), error) {
		return func(b []byte) ([]byte, []string) {
			return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[redacted]")), nil
		}, nil
	}}
	own := gateway.Identity{ClientID: "ci"}
	list, err := a.List(t.Context(), own, Query{})
	if err != nil || len(list.Calls) != len(want) {
		t.Fatal(len(list.Calls), err)
	}
	for i, c := range list.Calls {
		if shown, err := a.Show(t.Context(), own, c.ID); err != nil || c.Error != want[i] || shown.Error != want[i] {
			t.Errorf("%s: %q in the list, %q alone, %v, want %q", c.ID, c.Error, shown.Error, err, want[i])
		}
	}
	// The arguments of others are not in lists.
	list, err = a.List(t.Context(), gateway.Identity{ClientID: "admin", Admin: true}, Query{})
	if err != nil || list.Calls[4].Error != "Access denied: *** not in /srv" {
		t.Errorf("%v", err)
	}
}

// Without the rules that find secrets, and without the key, the facts of calls are
// shown, and no bodies.
func TestAnArchiveThatCannotShowBodies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	w.Add(call("AAA", 1), Bodies{Request: []byte(`{"arguments":{"a":"hello"}}`), Response: []byte(`{}`)}, false)
	w.Close()
	locked := errors.New("the vault is locked")
	rules := func(context.Context) (func([]byte) ([]byte, []string), error) {
		return func(b []byte) ([]byte, []string) { return b, nil }, nil
	}
	admin := gateway.Identity{ClientID: "admin", Admin: true}
	for name, a := range map[string]*Archive{
		"no rules": {Reader: NewReader(dir, goodKey), Redact: func(context.Context) (func([]byte) ([]byte, []string), error) { return nil, locked }},
		"no key":   {Reader: NewReader(dir, func(context.Context) ([]byte, error) { return nil, locked }), Redact: rules},
	} {
		a.Log = slog.New(slog.DiscardHandler)
		list, err := a.List(t.Context(), admin, Query{})
		if err != nil || len(list.Calls) != 1 || list.Calls[0].Arguments != "" {
			t.Errorf("%s: %+v, %v", name, list.Calls, err)
		}
		shown, err := a.Show(t.Context(), admin, "AAA-1")
		if err != nil || shown.Unreadable == nil || shown.Request != nil || shown.Response != nil || shown.Server != "files" {
			t.Errorf("%s: %+v, %v", name, shown, err)
		}
	}
	whole := &Archive{Reader: NewReader(dir, goodKey), Redact: rules, Log: slog.New(slog.DiscardHandler)}
	if shown, err := whole.Show(t.Context(), admin, "AAA-1"); err != nil || shown.Unreadable != nil || len(shown.Request) == 0 {
		t.Errorf("%+v, %v", shown, err)
	}
	if _, err := (&Archive{Reader: NewReader(dir, goodKey), Redact: func(context.Context) (func([]byte) ([]byte, []string), error) { return nil, locked }}).
		List(t.Context(), admin, Query{Text: "hello"}); !errors.Is(err, locked) {
		t.Errorf("a search without rules: %v", err)
	}
}

// The calls that a call made are found among any number of others.
func TestCallsOfAParent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := range 700 {
		e := call("AAA", n+1)
		if n == 2 || n == 690 {
			e.Parent = "AAA-1"
		}
		w.Add(e, Bodies{}, false)
	}
	w.Flush(t.Context())
	r, q := NewReader(dir, goodKey), Query{Parent: "AAA-1", Limit: 500}
	var got []string
	for more := true; more; more = q.After != "" { // a slow machine needs several pages
		page, err := r.List(t.Context(), q, asIs)
		if err != nil {
			t.Fatal(err)
		}
		got, q.After = append(got, ids(page)...), page.Next
	}
	if !slices.Equal(got, []string{"AAA-691", "AAA-3"}) {
		t.Error(got)
	}
}

// A call that has not ended has the digest of its arguments as one that has: of one's own
// calls, if they are kept, and without secrets.
func TestArgumentsOfUnendedCalls(t *testing.T) {
	mine, others, unkept := call("AAA", 1), call("AAA", 2), call("AAA", 3)
	others.Caller = "ci"
	a := &Archive{
		AllRunning: func() []Entry { return []Entry{mine, others, unkept} },
		Running: func(id string) (Entry, []byte, bool) {
			if id == unkept.ID {
				return unkept, nil, true
			}
			return mine, []byte(`{"name":"read","arguments":{"path":"a.txt", "key":"hunter2"}}`), true
		},
		Redact: func(context.Context) (func([]byte) ([]byte, []string), error) {
			return func(b []byte) ([]byte, []string) {
				return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[redacted:key]")), nil
			}, nil
		},
	}
	all, err := a.Unended(t.Context(), gateway.Identity{ClientID: "local", Admin: true})
	got := map[string]string{}
	for _, one := range all {
		got[one.ID] = one.Arguments
	}
	want := map[string]string{mine.ID: `{"path":"a.txt","key":"[redacted:key]"}`, others.ID: "", unkept.ID: ""}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
