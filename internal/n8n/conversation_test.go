package n8n_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/lang"
	"genkan/internal/n8n"
	"genkan/internal/testkit"
	"genkan/internal/testkit/conversation"
	"genkan/internal/testkit/n8nfake"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// TestConversations plays the conversations in testdata against the fake. A conversation
// lists the params of calls and the expected texts of the answers. Its files
// workflows/NAME.json are stored in n8n and fake/NAME.json in the fake alone, executions has one execution a line and hooks
// one trigger, files/NAME are in the caller's folder, and lang is the language. A line -> {"fault": …} makes the
// fake misbehave, and -> {"key": …} replaces the API key.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			conversation.Play(t, file, func(t *testing.T, arc *txtar.Archive) testkit.Conn { return connect(t, arc) })
		})
	}
}

// caller is a client of the tools.
type caller struct {
	t       *testing.T
	fake    *n8nfake.N8N
	source  *n8n.Source
	setup   n8n.Setup
	dir     string
	answers chan []byte
}

func connect(t *testing.T, arc *txtar.Archive) *caller {
	c := &caller{t: t, fake: n8nfake.New(t), dir: t.TempDir(), answers: make(chan []byte, 1)}
	for _, f := range arc.Files {
		switch {
		case strings.HasPrefix(f.Name, "workflows/"), strings.HasPrefix(f.Name, "fake/"):
			c.fake.Add(t, string(f.Data))
		case strings.HasPrefix(f.Name, "files/"):
			if err := os.WriteFile(filepath.Join(c.dir, filepath.Base(f.Name)), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		case f.Name == "executions":
			for line := range strings.Lines(string(f.Data)) {
				c.fake.AddExecution(t, line)
			}
		case f.Name == "hooks":
			for line := range strings.Lines(string(f.Data)) {
				c.fake.AddHook(t, line)
			}
		case f.Name == "lang":
			l, _ := lang.Parse(strings.TrimSpace(string(f.Data)))
			c.setup.Translate = l.Translator()
		}
	}
	reader := &n8n.Reader{Dir: t.TempDir()}
	t.Cleanup(reader.Close)
	c.setup.Executions = reader
	c.source = newSource(t, c.fake.URL, n8nfake.Key, c.setup)
	return c
}

// faultIn returns the fault of a line of a conversation.
func faultIn(t *testing.T, line string) n8nfake.Fault {
	t.Helper()
	var control struct{ Fault n8nfake.Fault }
	if err := json.Unmarshal([]byte(line), &control); err != nil {
		t.Fatal(err)
	}
	if control.Fault.Body == "HTML500" {
		control.Fault.Body = n8nfake.HTML500
	}
	return control.Fault
}

func newSource(t testing.TB, url, key string, setup n8n.Setup) *n8n.Source {
	t.Helper()
	client, err := n8n.NewClient(n8n.Options{URL: url, Key: gateway.Secret(key), Backoff: time.Millisecond, Patience: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return n8n.New(client, setup)
}

func (c *caller) Send(line []byte) error {
	var control struct {
		Fault json.RawMessage
		Key   string
	}
	if err := json.Unmarshal(line, &control); err != nil {
		return err
	}
	switch {
	case control.Fault != nil:
		c.fake.Fail(faultIn(c.t, string(line)))
		return nil
	case control.Key != "":
		c.source = newSource(c.t, c.fake.URL, control.Key, c.setup)
		return nil
	}
	text, err := call(c.t.Context(), c.source, c.dir, line)
	if err != nil {
		text = fmt.Appendf(nil, "%q", err.Error())
	}
	// The address of the fake differs each time.
	text = []byte(strings.ReplaceAll(string(text), c.fake.URL, "http://n8n.test"))
	select {
	case c.answers <- text:
		return nil
	default:
		return errors.New("every call has an answer: a <- line is missing before this one")
	}
}

// call calls a tool with these params and returns the text of the answer.
func call(ctx context.Context, source *n8n.Source, dir string, raw []byte) ([]byte, error) {
	params, err := jsonrpc.ScanParams(raw)
	if err != nil {
		return nil, err
	}
	var name string
	if err := json.Unmarshal(params.Get(params.Name), &name); err != nil {
		return nil, err
	}
	result, err := source.Handle(ctx, &gateway.Call{
		Method: "tools/call", Params: params, Name: name, Tool: &gateway.Tool{Name: name},
		Caller: gateway.Caller{Identity: gateway.LocalIdentity(""), Dir: dir},
	})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if err := json.Unmarshal(result.Raw, &answer); err != nil {
		return nil, err
	}
	text := answer.Content[0].Text
	if failed := strings.HasPrefix(text, `{"name":`); failed != answer.IsError || failed != result.IsError {
		return nil, fmt.Errorf("isError does not fit: %s", result.Raw)
	}
	if strings.Contains(text, n8nfake.Key) {
		return nil, errors.New("the answer has the API key")
	}
	return []byte(text), nil
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
