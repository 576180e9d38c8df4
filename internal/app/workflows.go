package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/registry"
	"genkan/internal/script"
	"genkan/internal/workflow"
)

// workflows are what happens around calls: the processes that run scripts, the engine,
// and what is stored.
type workflows struct {
	// hooks run scripts that calls wait for, and detached those that run beside them.
	hooks, detached *script.Pool
	engine          *workflow.Engine
	library         *workflow.Library
	// folder has the workflow files. unfollow ends watching it, at path.
	folder   *workflow.Folder
	path     string
	unfollow func()
	traces   *workflow.Traces
	desk     *workflow.Desk
	webhook  *webhook
}

// keptTraces is how many calls have their traces kept in memory.
const keptTraces = 2000

// callTraces are the traces of calls: in memory those of the last ones, and in the history
// those of all calls whose bodies it keeps.
type callTraces struct {
	*workflow.Traces
	p *Process
}

// Of returns the traces of a call, without secrets; nil if there are none.
func (t callTraces) Of(call string) []workflow.Trace {
	if kept := t.Traces.Of(call); kept != nil {
		return kept
	}
	raw, err := t.p.calls.Trace(t.p.life, call)
	if err != nil {
		return nil
	}
	return t.Decode(raw)
}

// openWorkflows makes the engine and gives it the workflows that are enabled.
func (p *Process) openWorkflows(ctx context.Context, cfg *config.Config) error {
	w := &p.workflows
	w.hooks, w.detached = script.NewPool(script.Options{}), script.NewPool(script.Options{})
	w.traces = workflow.NewTraces(keptTraces, p.redactJSON)
	w.webhook = newWebhook(p)
	w.desk = workflow.NewDesk(workflow.DeskOptions{Redact: p.redactJSON, Opened: p.approvalOpened, Closed: p.approvalClosed})
	w.engine = workflow.NewEngine(workflow.Options{
		Runner: w.hooks, DetachedRunner: w.detached,
		Call: gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			return p.house.Load().inner.Handle(ctx, call)
		}),
		Fetch:   fetch,
		Decider: workflow.DeciderFunc(p.decide),
		CheckOutput: func(tool *gateway.Tool, structured []byte) error {
			return p.house.Load().validator.CheckOutput(tool, structured)
		},
		Redact: p.redactSaid, Sink: runSink{p}, Log: p.log, Replacing: p.rewrite,
	})
	w.folder = workflow.NewFolder(p.store, p.log)
	w.library = workflow.NewLibrary(w.folder, w.engine, workflow.Environment{
		Compile:  func(name, source string) (*script.Program, error) { return w.hooks.Compile(p.life, name, source) },
		Variable: p.variable,
	}, time.Now)
	w.library.OnChange(p.workflowChanged)
	// No call may pass before they are in force.
	w.folder.Read(cfg.Workflows, func(d *workflow.Definition) []workflow.Problem { return w.library.Validate(ctx, d) })
	broken, err := w.library.Load(ctx)
	for id, problems := range broken {
		p.log.Error("a workflow that is enabled cannot be run any more", "workflow", id, "error", workflow.Invalid(id, problems))
	}
	return err
}

// followWorkflows watches the folder of workflow files that a configuration names.
func (p *Process) followWorkflows(cfg *config.Config) {
	w := &p.workflows
	if w.unfollow != nil {
		if cfg.Workflows == w.path {
			return
		}
		w.unfollow()
	}
	ctx, cancel := context.WithCancel(p.life)
	ended := make(chan struct{})
	w.path, w.unfollow = cfg.Workflows, func() { cancel(); <-ended }
	p.beside.Go(func() {
		defer close(ended)
		w.folder.Watch(ctx, cfg.Workflows, w.library)
		<-ctx.Done()
	})
}

func (w *workflows) close() {
	w.engine.Close(context.Background()) // it has a limit of its own
	w.webhook.close()
	w.hooks.Close()
	w.detached.Close()
}

// redactJSON takes secrets out of what people are shown of a call. Nothing is shown if
// the secrets are not known.
func (p *Process) redactJSON(raw []byte) []byte {
	rules, err := p.secrets.rulesNow(p.life)
	if err != nil {
		return []byte(unreadableVault)
	}
	out, _ := rules.JSON(raw)
	return out
}

// redactSaid takes secrets out of what scripts say to callers.
func (p *Process) redactSaid(text string) string {
	if !p.keepsBodies.Load() {
		return text // the vault may be locked, and nothing else needs it
	}
	return string(p.redactJSON([]byte(text)))
}

// variable resolves a variable of a workflow that refers to a secret.
func (p *Process) variable(value json.RawMessage) (json.RawMessage, error) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value, nil
	}
	name, isSecret := strings.CutPrefix(text, "${secret:")
	name, ends := strings.CutSuffix(name, "}")
	if !isSecret || !ends {
		return value, nil
	}
	secret, found, err := p.vault.Load(p.life, registry.SecretPrefix+name)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, gateway.Errorf(gateway.CodeNotFound, "there is no secret %s; `genkan secrets set %s` keeps one", gateway.Short(name), gateway.Short(name))
	}
	return json.Marshal(secret.Reveal())
}

// Limits of what scripts fetch.
const (
	fetchTime = 10 * time.Second
	fetchSize = 1 << 20
)

// fetcher follows no redirects: they could lead to hosts that the workflow may not
// reach.
var fetcher = &http.Client{ //nolint:gochecknoglobals // it keeps connections
	Timeout:       fetchTime,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// fetch makes an HTTP request for a script.
func fetch(ctx context.Context, r script.Request) (script.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return script.Response{}, err
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	response, err := fetcher.Do(request)
	if err != nil {
		return script.Response{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, fetchSize+1))
	if err != nil {
		return script.Response{}, err
	}
	if len(body) > fetchSize {
		return script.Response{}, gateway.Errorf(gateway.CodeInvalid, "the answer of %s has more than %d bytes", request.URL.Host, fetchSize)
	}
	out := script.Response{Status: response.StatusCode, Header: map[string]string{}, Body: string(body)}
	for name := range response.Header {
		out.Header[strings.ToLower(name)] = response.Header.Get(name)
	}
	return out, nil
}
