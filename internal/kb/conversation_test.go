package kb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
	"genkan/internal/testkit"
	"genkan/internal/testkit/conversation"
)

// TestConversations plays the conversations in testdata. A conversation lists the params
// of calls and the expected structured answers.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			conversation.Play(t, file, func(t *testing.T, arc *txtar.Archive) testkit.Conn {
				return &caller{tools: kb.NewTools(newBase(t).configured(arc).Base, kb.Languages{}), answers: make(chan []byte, 1)}
			})
		})
	}
}

// TestConversationsWithIndexes plays the same conversations with index and graph. Only the
// order and the scores of searches differ.
func TestConversationsWithIndexes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no conversations: %v", err)
	}
	for _, file := range files {
		if filepath.Base(file) == "search.txtar" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			conversation.Play(t, file, func(t *testing.T, arc *txtar.Archive) testkit.Conn {
				b := newBase(t).configured(arc)
				indexes := kb.NewIndexes(b.store, kb.IndexOptions{})
				t.Cleanup(func() { _ = indexes.Close() })
				return &caller{tools: kb.NewTools(kb.New(b.store, kb.Options{Finder: indexes, Graph: indexes, Now: b.clock}), kb.Languages{}), answers: make(chan []byte, 1)}
			})
		})
	}
}

// testBase is a knowledge base with its store. Its clock advances by a minute with each
// reading.
type testBase struct {
	*kb.Base
	store kb.Store
	clock func() time.Time
	t     testing.TB
}

// configured sets the statuses of a conversation that defines some: its file statuses has
// one name on each line, and a name that begins with a minus is a closed status.
func (b testBase) configured(arc *txtar.Archive) testBase {
	b.t.Helper()
	for _, f := range arc.Files {
		if f.Name != "statuses" {
			continue
		}
		var all []kb.Status
		for line := range strings.Lines(string(f.Data)) {
			name, closed := strings.CutPrefix(strings.TrimSpace(line), "-")
			all = append(all, kb.Status{Name: name, Closed: closed})
		}
		if err := kb.New(b.store, kb.Options{}).SetStatuses(b.t.Context(), all); err != nil {
			b.t.Fatal(err)
		}
	}
	return b
}

func newBase(t testing.TB) testBase {
	t.Helper()
	s := openDatabase(t, filepath.Join(t.TempDir(), "genkan.db"))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var minutes atomic.Int64
	clock := func() time.Time {
		return time.Date(2026, 1, 15, 10, 0, 0, 123456789, time.UTC).Add(time.Duration(minutes.Add(1)) * time.Minute)
	}
	return testBase{kb.New(s.Knowledge(), kb.Options{Now: clock}), s.Knowledge(), clock, t}
}

// caller is a client of the tools.
type caller struct {
	tools   *kb.Tools
	answers chan []byte
}

func (c *caller) Send(line []byte) error {
	result, err := call(context.Background(), c.tools, line)
	if err != nil {
		result = fmt.Append(nil, err)
	}
	select {
	case c.answers <- result:
		return nil
	default:
		return errors.New("every call has an answer: a <- line is missing before this one")
	}
}

// call calls a tool with these params and returns the structured answer, after checking
// that the text says the same.
func call(ctx context.Context, tools *kb.Tools, raw []byte) ([]byte, error) {
	params, err := jsonrpc.ScanParams(raw)
	if err != nil {
		return nil, err
	}
	var name string
	if err := json.Unmarshal(params.Get(params.Name), &name); err != nil {
		return nil, err
	}
	result, err := tools.Handle(ctx, &gateway.Call{
		Method: "tools/call",
		Params: params,
		Name:   name,
		Tool:   &gateway.Tool{Name: name},
		Caller: gateway.Caller{Identity: gateway.Identity{ClientID: "tester"}},
	})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Content []struct{ Type, Text string }
		Raw     json.RawMessage `json:"structuredContent"`
		IsError bool
	}
	if err := json.Unmarshal(result.Raw, &answer); err != nil {
		return nil, err
	}
	failed := bytes.HasPrefix(answer.Raw, []byte(`{"code":`))
	if len(answer.Content) != 1 || answer.Content[0].Text != string(answer.Raw) || answer.IsError != result.IsError || failed != result.IsError {
		return nil, fmt.Errorf("the two forms differ: %s", result.Raw)
	}
	return answer.Raw, nil
}

func (c *caller) Receive(ctx context.Context) ([]byte, error) {
	select {
	case answer := <-c.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *caller) Close() error { return nil }

// FuzzTools: a tool answers any input, and changes something only if it understood the
// input.
func FuzzTools(f *testing.F) {
	b := newBase(f)
	tools := kb.NewTools(b.Base, kb.Languages{})
	for _, seed := range []string{
		`{"type":"docs","title":"x","related":["docs-1"],"tags":["a"],"start_date":"2026-01-01"}`,
		`{"type":"docs","id":1.0,"limit":1e2,"offset":0,"statuses":["Open"],"depth":2}`,
		`{"query":"ａ 設計","types":["docs"],"tag":"a","content":null}`,
		`{"updates":[{"type":"docs","id":1,"data":{"title":"y","status":null}}]}`,
		`{"from_type":"docs","from_id":1,"to_type":"docs","to_id":2,"max_depth":3}`,
	} {
		for i := range tools.List(gateway.KindTool) {
			f.Add(uint8(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, tool uint8, arguments string) {
		list := tools.List(gateway.KindTool)
		name := list[int(tool)%len(list)].Name
		before, err := b.store.Sequence(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		answer, err := call(t.Context(), tools, []byte(`{"name":"`+name+`","arguments":`+arguments+`}`))
		if err != nil {
			return // it was no call
		}
		after, err := b.store.Sequence(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(answer, []byte(`{"code":`)) && after != before {
			t.Errorf("%s %s changed something: %s", name, arguments, answer)
		}
		if bytes.Contains(answer, []byte(`"code":1003`)) {
			t.Errorf("%s %s: %s", name, arguments, answer)
		}
	})
}
