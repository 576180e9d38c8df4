package app

import (
	"cmp"
	"context"
	"sync"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/n8n"
)

// n8nSources returns the sources of the n8n instances of a configuration.
func (p *Process) n8nSources(cfg *config.Config) (sources []gateway.Source) {
	for _, instance := range cfg.N8N {
		if !p.wantsBuiltIn(cfg, instance.Name) {
			continue
		}
		if s := p.n8n.sourceFor(p, instance, language(cfg)); s != nil {
			sources = append(sources, s)
		}
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

// sourceFor returns the source of an instance; nil if it cannot be used, which the log
// explains.
func (k *n8nInstances) sourceFor(p *Process, set config.N8N, language lang.Language) *n8n.Source {
	if len(set.Unresolved.Each) > 0 {
		p.log.Warn("an n8n instance is not there: the configuration refers to something that is not there", "name", set.Name, "lacking", set.Unresolved.String())
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.known[set.Name]
	if old.source != nil && old.language == language && old.set.URL == set.URL && old.set.APIKey == set.APIKey {
		return old.source
	}
	client, err := n8n.NewClient(n8n.Options{Name: set.Name, URL: set.URL, Key: set.APIKey})
	if err != nil {
		p.log.Error("an n8n instance cannot be used", "name", set.Name, "error", gateway.AsError(err).In(language.Translator()))
		return nil
	}
	source := n8n.New(client, n8n.Setup{
		Translate: language.Translator(), Others: language.Others(), Folder: p.folderOf, Log: p.log,
		Executions: &n8n.Reader{},
	})
	if k.known == nil {
		k.known = map[string]n8nInstance{}
	}
	k.known[set.Name] = n8nInstance{set, language, source}
	return source
}

// folderOf returns the folder that a caller works in; empty if it has none or may not
// work there.
func (p *Process) folderOf(_ context.Context, call *gateway.Call) (string, error) {
	dir := call.Dir
	if call.Session != nil {
		dir = cmp.Or(call.Session.Dir, dir)
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
