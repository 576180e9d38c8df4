package app

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"genkan/internal/config"
	"genkan/internal/embed"
	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
	"genkan/internal/kb/semantic"
)

// knowledge is the knowledge base of the process. It outlives reloads; only its
// plugins follow the configuration.
type knowledge struct {
	base   *kb.Base
	keeper *kb.Keeper
	upkeep upkeep

	mu sync.Mutex
	// source are its tools, with a plugin for this model.
	source *plugin.Manager
	model  config.Embeddings
	// former are sources whose house is to be replaced.
	former []*plugin.Manager
}

func (p *Process) openKnowledge() {
	store := p.store.Knowledge()
	p.knowledge.keeper = kb.NewKeeper(store, kb.KeeperOptions{Dir: KnowledgeIndex(p.opt.DataDir), Log: p.log})
	p.knowledge.upkeep.keeper = p.knowledge.keeper
	p.knowledge.base = kb.New(store, kb.Options{Finder: p.knowledge.keeper, Graph: p.knowledge.keeper})
}

// setStatuses puts the statuses of a configuration into force, for all processes of
// the data directory: of several with different ones, the last one that has started
// or reloaded decides.
func (p *Process) setStatuses(ctx context.Context, h *house) {
	if h.Knowledge() != nil {
		return
	}
	statuses := kb.DefaultStatuses()
	if set := h.config.Knowledge.Statuses; set != nil {
		statuses = make([]kb.Status, len(set))
		for i, s := range set {
			statuses[i] = kb.Status{Name: s.Name, Closed: s.Closed}
		}
	}
	if err := p.knowledge.base.SetStatuses(ctx, statuses); err != nil {
		p.log.WarnContext(ctx, "the statuses of the configuration are not in force", "error", err)
	}
}

// sourceFor are the tools with a plugin for a model: those that are there if that
// is the same.
func (k *knowledge) sourceFor(p *Process, model config.Embeddings) *plugin.Manager {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.source != nil && reflect.DeepEqual(model, k.model) {
		return k.source
	}
	if k.source != nil {
		k.former = append(k.former, k.source)
	}
	store := p.store.Knowledge()
	k.source = plugin.New(plugin.Options{Base: k.base, Store: store, Tools: kb.NewTools(k.base), Storage: store, Log: p.log})
	k.model = model
	switch {
	case len(model.Unresolved.Each) > 0:
		p.log.Warn("semantic_search is not there: the configuration refers to something that is not there", "lacking", model.Unresolved.String())
	case model.URL != "":
		at := config.KnowledgeRoom + ".semantic"
		find := semantic.New(semantic.Options{Store: store, Connect: func(c semantic.Config) semantic.Embedder {
			return embed.New(embed.Settings{URL: c.URL, Model: c.Model, Key: c.APIKey, Kind: c.Kind, Dimensions: c.Dimensions, At: at})
		}})
		// What is wrong with it is in the log.
		_ = k.source.Add(context.Background(), find, semantic.Config{
			URL: model.URL, Model: model.Model, APIKey: model.APIKey, Kind: model.Kind, Dimensions: model.Dimensions, Weight: &model.Weight,
		})
	}
	return k.source
}

// retireKnowledge ends what the house that serves now does not use any more.
func (p *Process) retireKnowledge() {
	k := &p.knowledge
	k.mu.Lock()
	former := k.former
	k.former = nil
	k.mu.Unlock()
	for _, m := range former {
		p.retired.Go(func() {
			p.endPlugins(m)
			p.executor.Forget(m)
		})
	}
}

// pluginPatience is how long plugins may take to end.
const pluginPatience = 5 * time.Second

func (p *Process) endPlugins(m *plugin.Manager) {
	ctx, cancel := context.WithTimeout(context.Background(), pluginPatience)
	defer cancel()
	if err := m.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		p.log.Warn("a plugin of the knowledge base did not end well", "error", err)
	}
}

// closeKnowledge is for the end, before the store is closed.
func (p *Process) closeKnowledge() {
	k := &p.knowledge
	k.mu.Lock()
	source := k.source
	k.mu.Unlock()
	if source != nil {
		p.endPlugins(source)
	}
	if err := k.keeper.Close(); err != nil {
		p.log.Warn("the index of the knowledge base did not end well", "error", err)
	}
}
