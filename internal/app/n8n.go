package app

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"genkan/internal/checkup"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/n8n"
	"genkan/internal/script"
	"genkan/internal/upstream"
)

// n8nSources returns the sources of the n8n instances of a configuration.
func (p *Process) n8nSources(cfg *config.Config) (sources []gateway.Source) {
	for _, instance := range cfg.N8N {
		if !p.wantsBuiltIn(cfg, instance.Name) {
			continue
		}
		sources = append(sources, p.n8n.sourceFor(p, instance, language(cfg)))
	}
	return sources
}

// n8nInstances keeps the sources of n8n instances across configurations, with their
// connections and what is known of their state.
type n8nInstances struct {
	mu    sync.Mutex
	known map[string]n8nInstance
}

type n8nInstance struct {
	set      config.N8N
	language lang.Language
	source   *n8n.Source
}

// unusable is the source of an n8n instance whose settings cannot be used. It has no
// tools.
type unusable struct {
	name    string
	problem gateway.Text
}

func (u *unusable) Name() string                     { return u.name }
func (u *unusable) List(gateway.Kind) []gateway.Tool { return nil }
func (u *unusable) Health() gateway.Health           { return gateway.Health{Down: true, Problem: u.problem} }

func (u *unusable) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: u.problem.Format, Values: u.problem.Values}
}

// newN8NClient returns the client of an instance, or why it cannot be used.
func newN8NClient(set config.N8N) (*n8n.Client, gateway.Text) {
	if len(set.Unresolved.Each) > 0 {
		return nil, gateway.Textf("%s", set.Unresolved)
	}
	client, err := n8n.NewClient(n8n.Options{Name: set.Name, URL: set.URL, Key: set.APIKey})
	if err != nil {
		return nil, gateway.Textf("%s", gateway.AsError(err))
	}
	return client, gateway.Text{}
}

// checkN8N asks an instance what is wrong with it, and where its own MCP server is.
func checkN8N(ctx context.Context, set config.N8N) (problem gateway.Text, mcpServer string) {
	client, problem := newN8NClient(set)
	if client == nil {
		return problem, ""
	}
	defer client.Close()
	err := client.Check(ctx)
	var own *n8n.Error
	switch {
	case err == nil:
		return gateway.Text{}, client.MCPServer(ctx)
	case errors.As(err, &own):
		return own.Text(), ""
	default:
		return gateway.Textf("%s", gateway.AsError(err)), ""
	}
}

// testN8N asks an instance that is not configured, or not yet, how it is.
func (p *Process) testN8N(ctx context.Context, raw []byte) (problem, advice gateway.Text, err error) {
	set, err := p.registry.N8N(ctx, raw)
	if err != nil {
		return problem, advice, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkup.N8NPatience)
	defer cancel()
	problem, mcpServer := checkN8N(ctx, set)
	if mcpServer != "" {
		advice = gateway.Textf("this n8n has an MCP server of its own, with tools that search nodes and test workflows")
	}
	return problem, advice, nil
}

// sourceFor returns the source of an instance. If it cannot be used, its health says why.
func (k *n8nInstances) sourceFor(p *Process, set config.N8N, language lang.Language) gateway.Source {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.known[set.Name]
	if old.source != nil && old.language == language && old.set.URL == set.URL && old.set.APIKey == set.APIKey {
		return old.source
	}
	client, problem := newN8NClient(set)
	if client == nil {
		p.log.Warn("an n8n instance cannot be used", "name", set.Name, "problem", problem.In(language.Translator()))
		return &unusable{set.Name, problem}
	}
	source := n8n.New(client, n8n.Setup{
		Translate: language.Translator(), Others: language.Others(), Folder: p.folderOf, Allowed: p.mayRead, Log: p.log,
		Executions: &n8n.Reader{}, CheckCode: p.checkCode,
	})
	if k.known == nil {
		k.known = map[string]n8nInstance{}
	}
	k.known[set.Name] = n8nInstance{set, language, source}
	return source
}

// checkCode returns what is wrong with the JavaScript of a Code node.
func (p *Process) checkCode(code string) error {
	err := p.workflows.detached.Check(p.life, code) // no call waits for these workers
	var wrong *script.SyntaxError
	if errors.As(err, &wrong) {
		return gateway.Errorf(gateway.CodeInvalid, "line %d, column %d: %s", wrong.Line, wrong.Column, wrong.Text())
	}
	return err
}

// mayRead returns a folder if a caller that has none may read files in it, or why not.
func (p *Process) mayRead(call *gateway.Call, dir string) (string, gateway.Text) {
	return p.folder(call.Identity, dir)
}

// folderOf returns the folder that a caller works in, which is the first of the roots that
// its client states; empty if it has none or may not work there.
func (p *Process) folderOf(ctx context.Context, call *gateway.Call) (string, error) {
	dir := call.Dir
	if call.Session != nil {
		dir = cmp.Or(upstream.FirstRoot(ctx, call), call.Session.Dir, dir)
	}
	if dir == "" {
		return "", nil
	}
	folder, why := p.folder(call.Identity, dir)
	if folder == "" {
		return "", gateway.Errorf(gateway.CodeDenied, "files cannot be read from your folder: %s", why)
	}
	return folder, nil
}
