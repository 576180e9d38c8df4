package app

import (
	"context"
	"path/filepath"
	"reflect"
	"sync"

	"genkan/internal/config"
	"genkan/internal/embed"
	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
	"genkan/internal/kb/semantic"
	"genkan/internal/lang"
)

// knowledge is the knowledge base of the process. It outlives reloads; only its
// plugins follow the configuration.
type knowledge struct {
	base    *kb.Base
	indexes *kb.Indexes
	upkeep  *kb.Upkeep

	mu sync.Mutex
	// source provides its tools, in a language. It has a plugin for this model.
	source   *plugin.Manager
	model    config.Embeddings
	language lang.Language
}

// KnowledgeIndex returns the folder of the knowledge base's index in a data
// directory.
func KnowledgeIndex(dataDir string) string { return filepath.Join(dataDir, "kb-index") }

func (p *Process) openKnowledge() {
	store := p.store.Knowledge()
	p.knowledge.indexes = kb.NewIndexes(store, kb.IndexOptions{Dir: KnowledgeIndex(p.opt.DataDir), Log: p.log, Building: p.works.Track("kb.index")})
	p.knowledge.upkeep = kb.NewUpkeep(p.knowledge.indexes, func(what string) kb.Progress { return p.works.Begin("kb."+what, 0) })
	p.knowledge.base = kb.New(store, kb.Options{Finder: p.knowledge.indexes, Graph: p.knowledge.indexes})
}

// setStatuses applies the statuses of a configuration to all processes of the data
// directory. If their configurations differ, the process that started or reloaded
// last decides.
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

// forgetSource makes the next configuration that enables the knowledge base create
// a new source. The present source retires with its house.
func (k *knowledge) forgetSource() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.source = nil
}

// sourceFor returns the source with a plugin for a model, in a language. It returns the
// present source if that has the same model and language.
func (k *knowledge) sourceFor(p *Process, model config.Embeddings, language lang.Language) *plugin.Manager {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.source != nil && language == k.language && reflect.DeepEqual(model, k.model) {
		return k.source
	}
	store := p.store.Knowledge()
	k.source = plugin.New(plugin.Options{Base: k.base, Store: store, Tools: kb.NewTools(k.base, kb.Languages{Translate: language.Translator(), Others: language.Others()}), Storage: store, Log: p.log})
	k.model, k.language = model, language
	switch {
	case len(model.Unresolved.Each) > 0:
		p.log.Warn("semantic_search is not there: the configuration refers to something that is not there", "lacking", model.Unresolved.String())
	case model.URL != "":
		at := config.KnowledgeSource + ".semantic"
		find := semantic.New(semantic.Options{Store: store, Connect: func(c semantic.Config) semantic.Embedder {
			return embed.New(embed.Settings{URL: c.URL, Model: c.Model, Key: c.APIKey, Kind: c.Kind, Dimensions: c.Dimensions, At: at})
		}})
		// Add logs its errors.
		_ = k.source.Add(context.Background(), find, semantic.Config{
			URL: model.URL, Model: model.Model, APIKey: model.APIKey, Kind: model.Kind, Dimensions: model.Dimensions, Weight: &model.Weight,
		})
	}
	return k.source
}
