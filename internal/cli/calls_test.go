package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// pages is a call history that answers with one page after the other.
type pages struct {
	callKeeper
	pages []client.CallList
	asked []client.CallFilter
	end   func()
}

func (p *pages) Calls(ctx context.Context, f client.CallFilter) (client.CallList, error) {
	p.asked = append(p.asked, f)
	if ctx.Err() != nil {
		return client.CallList{}, canceled(ctx)
	}
	if len(p.asked) == len(p.pages) && p.end != nil {
		p.end()
	}
	return p.pages[len(p.asked)-1], nil
}

func pageOf(next string, until time.Time, ids ...string) client.CallList {
	list := client.CallList{Next: next, Partial: !until.IsZero(), History: client.HistoryState{On: true}}
	if list.Partial {
		list.SearchedUntil = &until
	}
	for _, id := range ids {
		list.Calls = append(list.Calls, client.ListedCall{CallEntry: client.CallEntry{ID: id}})
	}
	return list
}

func idsOf(list client.CallList) string {
	var ids []string
	for _, one := range list.Calls {
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, " ")
}

// A search that ran out of time goes on until enough is found or all was searched.
func TestASearchGoesOn(t *testing.T) {
	t.Parallel()
	long := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	c := &command{std: Streams{In: os.Stdin, Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}}
	for name, p := range map[string]struct {
		pages []client.CallList
		limit int
		want  string
		rest  string // next
	}{
		"all was searched":  {pages: []client.CallList{pageOf("p1", long, "a"), pageOf("p2", long), pageOf("", time.Time{}, "b")}, limit: 50, want: "a b"},
		"enough was found":  {pages: []client.CallList{pageOf("p1", long, "a"), pageOf("p2", long, "b")}, limit: 2, want: "a b", rest: "p2"},
		"one page":          {pages: []client.CallList{pageOf("", time.Time{}, "a")}, limit: 1, want: "a"},
		"more than a page":  {pages: []client.CallList{pageOf("p1", time.Time{}, "a"), pageOf("", time.Time{}, "b")}, limit: 5000, want: "a b"},
		"there are no such": {pages: []client.CallList{pageOf("p1", long), pageOf("", time.Time{})}, limit: 50},
	} {
		k := &pages{pages: p.pages}
		got, err := c.findCalls(t.Context(), k, client.CallFilter{Limit: p.limit})
		if err != nil || idsOf(got) != p.want || got.Next != p.rest || len(k.asked) != len(p.pages) {
			t.Errorf("%s: %q, %+v, %v", name, idsOf(got), k.asked, err)
		}
		for i, asked := range k.asked {
			if i > 0 && asked.After != p.pages[i-1].Next || asked.Limit < 1 || asked.Limit > mostOnACallPage {
				t.Errorf("%s: asked for %+v", name, asked)
			}
		}
	}
}

// Ctrl-C ends a search with what was found, and says how far it came.
func TestASearchCanBeEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var said bytes.Buffer
	c := &command{std: Streams{In: os.Stdin, Out: &bytes.Buffer{}, Err: &said}}
	k := &pages{pages: []client.CallList{pageOf("p1", time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), "a")}, end: cancel}
	got, err := c.findCalls(ctx, k, client.CallFilter{Limit: 50, Text: "x"})
	var e *gateway.Error
	if !errors.As(err, &e) || e.Code != gateway.CodeCanceled || idsOf(got) != "a" || !strings.Contains(said.String(), "before 2026-01-02 03:04:05 were not searched") {
		t.Errorf("%q, %v, %q", idsOf(got), err, said.String())
	}
}

// What people write for times becomes what the API takes.
func TestTimesOfCalls(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 9*60*60)
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, zone)
	for name, c := range map[string]struct{ since, until, wantSince, wantUntil string }{
		"ages":      {"2h", "10m", "2026-11-15T01:00:00Z", "2026-11-15T02:50:00Z"},
		"a day":     {"2026-11-14", "2026-11-14", "2026-11-13T15:00:00Z", "2026-11-14T14:59:59.999Z"},
		"times":     {"2026-11-14T10:00:00+09:00", "", "2026-11-14T01:00:00Z", ""},
		"a week":    {"1w", "", "2026-11-08T03:00:00Z", ""},
		"something": {"yesterday", "", "", ""},
	} {
		f := callFlags{CallFilter: client.CallFilter{Since: c.since, Until: c.until}}
		got, err := f.filter(now)
		if c.wantSince == "" {
			if err == nil {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if err != nil || got.Since != c.wantSince || got.Until != c.wantUntil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The parts of a result are shown as people read them.
func TestResponseText(t *testing.T) {
	t.Parallel()
	c := &command{}
	for name, want := range map[string]struct{ raw, text string }{
		"texts":             {`{"content":[{"type":"text","text":"a\n\"b\""},{"type":"text","text":"c"}]}`, "a\n\"b\"\nc"},
		"JSON in a text":    {`{"content":[{"type":"text","text":"{\"a\":1}"}]}`, "{\n  \"a\": 1\n}"},
		"no JSON in a text": {`{"content":[{"type":"text","text":"{a}"}]}`, "{a}"},
		"an image":          {`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`, "(image/png, 3 bytes; --json shows them in base64)"},
		"structured":        {`{"content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}}`, "one\nStructured:\n{\n  \"n\": 1\n}"},
		"structured, twice": {`{"content":[{"type":"text","text":"{\"n\": 1}"}],"structuredContent":{"n":1}}`, "{\n  \"n\": 1\n}"},
		"an error":          {`{"code":-32001,"message":"full"}`, "{\n  \"code\": -32001,\n  \"message\": \"full\"\n}"},
		"no content":        {`{"content":[]}`, "{\n  \"content\": []\n}"},
	} {
		if got := c.responseText([]byte(want.raw)); got != want.text {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Numbers have commas, and texts are cut to the columns of a terminal.
func TestShownNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		thousands(0): "0", thousands(999): "999", thousands(1000): "1,000", thousands(1234567): "1,234,567",
		commas(shownMillis(0.04)): "0.0", commas(shownMillis(9.96)): "10.0", commas(shownMillis(12345.6)): "12,346",
		cutTo("hello world", 11): "hello world", cutTo("hello world", 8): "hello w…", cutTo("こんにちは", 6): "こん…",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
