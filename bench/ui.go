package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"genkan/internal/app"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/testkit/corpus"
)

// What the web UI is measured with.
const (
	uiServers   = 1000
	uiToolsEach = 10
	uiCalls     = 100_000
	uiItems     = 10_000
	// uiDays is how far back the calls go.
	uiDays = 7
)

// uiRole fills an empty data directory with calls, items and a configuration of many
// servers, and then is those servers. Its argument is the directory.
func uiRole(args []string) error {
	if len(args) != 1 {
		return errors.New("ui wants a data directory")
	}
	ctx, dir := context.Background(), args[0]
	k, err := openKnowledge(ctx, dir, uiItems, true)
	if err != nil {
		return err
	}
	if err := errors.Join(k.fill(func(string) {}), k.close()); err != nil {
		return err
	}
	if err := fillCalls(ctx, dir); err != nil {
		return err
	}
	handlers := make(map[string]http.Handler, uiServers)
	for i := range uiServers {
		handlers["/"+uiServer(i)] = &echo{era: "modern", list: madeTools(i)}
	}
	return serveRoleAt(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := handlers[r.URL.Path]; h != nil {
			h.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}), func(address string) error {
		servers := make(map[string]server, uiServers)
		for i := range uiServers {
			servers[uiServer(i)] = server{URL: "http://" + address + "/" + uiServer(i)}
		}
		config, err := json.Marshal(map[string]any{"mcpServers": servers})
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "genkan.yaml"), config, 0o600) // JSON is YAML
	})
}

func uiServer(i int) string { return fmt.Sprintf("server-%04d", i) }

// uiTool is the name of a server's tool: the first is echo, the others say what they do.
func uiTool(server, tool int) string {
	if tool == 0 {
		return "echo"
	}
	w := corpus.Writer{Rand: mathrand.New(mathrand.NewPCG(uint64(server), uint64(tool)))}
	word := func() string {
		return strings.ReplaceAll(strings.ToLower(w.Of(corpus.EnglishNouns)), " ", "_")
	}
	return fmt.Sprintf("%s_%s_%d", word(), word(), tool)
}

// madeTools makes the list of a server's tools.
func madeTools(server int) []byte {
	list := []byte("[" + echoTool)
	for tool := 1; tool < uiToolsEach; tool++ {
		about := corpus.Made(server*uiToolsEach + tool)
		text, _ := json.Marshal(about.Title + ". " + about.Description)
		list = fmt.Appendf(list, `,{"name":%q,"description":%s,"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"fields":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},"cursor":{"type":"string"}},"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`, uiTool(server, tool), text)
	}
	return append(list, ']')
}

// fillCalls writes the calls of the last days, with what was sent and answered, as a
// genkan that ran then would have.
func fillCalls(ctx context.Context, dir string) error {
	w, err := newPast(ctx, dir)
	if err != nil {
		return err
	}
	r := mathrand.New(mathrand.NewPCG(1, 1))
	step := uiDays * 24 * time.Hour / uiCalls
	for n := range uiCalls {
		server, tool := r.IntN(uiServers), r.IntN(uiToolsEach)
		if r.IntN(2) == 0 {
			server = r.IntN(10) // half of the calls are of a few servers
		}
		d := corpus.Made(r.IntN(uiItems))
		call := pastCall{
			Ago: (time.Duration(uiCalls-n) * step).Seconds(), Took: r.ExpFloat64() * 120,
			Client: fmt.Sprintf("editor-%d 1.0", r.IntN(8)), Server: uiServer(server), Tool: uiServer(server) + "__" + uiTool(server, tool),
			Arguments: map[string]string{"query": d.Title}, Text: d.Content,
		}
		if r.IntN(20) == 0 {
			call.Error = d.Title
		}
		w.add(ctx, call)
	}
	return w.close()
}

// callsRole writes calls of the past into an empty data directory, its argument. It reads
// them from standard input, as a JSON array.
func callsRole(args []string) error {
	if len(args) != 1 {
		return errors.New("calls wants a data directory")
	}
	var calls []pastCall
	if err := json.NewDecoder(os.Stdin).Decode(&calls); err != nil {
		return err
	}
	ctx := context.Background()
	w, err := newPast(ctx, args[0])
	if err != nil {
		return err
	}
	for _, c := range calls {
		w.add(ctx, c)
	}
	return w.close()
}

// pastCall is a call that ended with a text, or with an error.
type pastCall struct {
	Ago                  float64 // in seconds
	Took                 float64 // in milliseconds
	Client, Server, Tool string
	Arguments            any
	Text, Error          string
	Saved                int // tokens
}

// past writes calls into a history.
type past struct {
	*history.Writer
	now time.Time
	n   int
}

func newPast(ctx context.Context, dir string) (*past, error) {
	key := make([]byte, history.KeySize)
	_, _ = rand.Read(key) // never fails
	err := app.OpenVault(dir).Save(ctx, "history/key", gateway.Secret(base64.StdEncoding.EncodeToString(key)))
	return &past{Writer: history.NewWriter(history.Options{
		Dir: filepath.Join(dir, "calls"), Run: "MADEUP", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Key: func(context.Context) ([]byte, error) { return key, nil },
	}), now: time.Now()}, err
}

func (p *past) add(ctx context.Context, c pastCall) {
	took := time.Duration(c.Took * float64(time.Millisecond))
	request, _ := json.Marshal(map[string]any{"name": c.Tool, "arguments": c.Arguments})
	response, _ := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": c.Text}}})
	p.n++
	e := history.Entry{
		ID: "MADEUP-" + strconv.Itoa(p.n), Started: p.now.Add(-time.Duration(c.Ago*float64(time.Second)) - took), Took: took,
		Timing: gateway.Timing{Server: took * 9 / 10},
		Caller: "local", Client: c.Client, Edge: "stdio", Era: "modern", Method: "tools/call",
		Server: c.Server, Tool: c.Tool, Outcome: "ok", Attempts: 1,
		BytesIn: len(request), BytesOut: len(response), TokensIn: len(request) / 4, TokensOut: len(response) / 4, TokensSaved: c.Saved,
	}
	if c.Error != "" {
		e.Outcome, e.Error = "tool_error", c.Error
	}
	p.Add(e, history.Bodies{Request: request, Response: response, Sent: request, Answered: response}, false)
	if p.n%1000 == 0 {
		p.Flush(ctx)
	}
}

func (p *past) close() error {
	p.Close()
	if lost, bodies := p.Dropped(); lost+bodies > 0 {
		return fmt.Errorf("%d calls and %d bodies were lost", lost, bodies)
	}
	return nil
}
