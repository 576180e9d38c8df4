package app

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/registry"
	"genkan/internal/script"
	"genkan/internal/webhook"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
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
	webhook  *webhook.Sender
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
	w.webhook = webhook.New(webhook.Options{
		Settings: func() config.Approvals { return p.Config().Approvals }, Address: p.servedAt,
		Report:    func(id string, told workflow.Told, problem gateway.Text) { w.desk.Tell(id, told, problem) },
		Translate: p.say,
		Redact:    p.secrets.Mask, Log: p.log, Version: p.opt.Version,
	})
	w.desk = workflow.NewDesk(workflow.DeskOptions{Redact: p.redactKnown, Translate: p.say, Opened: p.approvalOpened, Closed: p.approvalClosed})
	w.engine = workflow.NewEngine(workflow.Options{
		Runner: w.hooks, DetachedRunner: w.detached,
		Call: gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			return p.house.Load().inner.Handle(ctx, call)
		}),
		Fetch:   script.Fetch,
		Decider: workflow.DeciderFunc(w.desk.Ask), Recheck: p.recheck,
		CheckOutput: func(tool *gateway.Tool, structured []byte) error {
			return p.house.Load().validator.CheckOutput(tool, structured)
		},
		Redact: p.redactSaid, Sink: runSink{p}, Log: p.log, Replacing: p.rewrite,
	})
	w.folder = workflow.NewFolder(p.store, p.log)
	w.library = workflow.NewLibrary(w.folder, w.engine, workflow.Environment{
		Compile:  func(name, source string) (*script.Program, error) { return w.hooks.Compile(p.life, name, source) },
		Template: template.HookOf,
		Params:   checkParams,
		Variable: func(value json.RawMessage) (json.RawMessage, error) { return registry.Variable(p.life, p.vault, value) },
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

// checkParams checks the params of a hook against the schema of its module. A schema that
// cannot be used checks nothing.
func checkParams(schema, params json.RawMessage) error {
	definition := slices.Concat([]byte(`{"outputSchema":`), schema, []byte("}"))
	return new(catalog.Validator).CheckOutput(&gateway.Tool{Exposed: "params", Definition: definition}, params)
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
	w.webhook.Close()
	w.hooks.Close()
	w.detached.Close()
}
