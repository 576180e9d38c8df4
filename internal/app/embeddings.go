package app

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"genkan/internal/config"
	"genkan/internal/embed"
	"genkan/internal/gateway"
)

// vectorShelf holds the vectors of texts for the configuration in force.
type vectorShelf struct {
	mu     sync.Mutex
	of     config.Embeddings
	client *embed.Client
	shelf  *embed.Shelf
}

// shelfFor returns the shelf of a configuration: the present one if it has the same
// model, and nil if the configuration names no model.
func (m *vectorShelf) shelfFor(cfg config.Embeddings, store embed.Store, log *slog.Logger) *embed.Shelf {
	m.mu.Lock()
	defer m.mu.Unlock()
	same := cfg
	same.Weight = m.of.Weight // the weight belongs to the house
	if m.shelf != nil && reflect.DeepEqual(same, m.of) {
		return m.shelf
	}
	m.end()
	if cfg.URL == "" && len(cfg.Unresolved.Each) == 0 {
		return nil
	}
	if len(cfg.Unresolved.Each) > 0 {
		log.Warn("embeddings are not used: the configuration refers to something that is not there", "lacking", cfg.Unresolved.String())
		return nil
	}
	m.of = cfg
	m.client = newEmbedder(cfg)
	m.shelf = embed.NewShelf(embed.Options{Embedder: m.client, Store: store, Log: log, Model: cfg.Model, Dimensions: cfg.Dimensions})
	return m.shelf
}

func newEmbedder(cfg config.Embeddings) *embed.Client {
	return embed.New(embed.Settings{URL: cfg.URL, Model: cfg.Model, Key: cfg.APIKey, Kind: cfg.Kind, Dimensions: cfg.Dimensions})
}

// embeddingsPatience is how long a test of a model takes at most: it may have to be loaded.
const embeddingsPatience = 30 * time.Second

// testEmbeddings asks a model that is not configured, or not yet, for a vector.
func (p *Process) testEmbeddings(ctx context.Context, raw []byte) (problem gateway.Text, err error) {
	set, err := p.registry.Embeddings(ctx, raw)
	if err != nil {
		return problem, err
	}
	if len(set.Unresolved.Each) > 0 {
		return gateway.Textf("%s", set.Unresolved), nil
	}
	ctx, cancel := context.WithTimeout(ctx, embeddingsPatience)
	defer cancel()
	client := newEmbedder(set)
	defer client.Close()
	if _, err := client.Embed(ctx, []string{"tool"}); err != nil {
		return gateway.Textf("%s", gateway.AsError(err)), nil
	}
	return problem, nil
}

// embeddingsProblem returns why the configured model gives no vectors, and when it was asked
// last; nothing if it does, or there is none.
func (p *Process) embeddingsProblem() (problem gateway.Text, at time.Time) {
	if lacking := p.Config().Embeddings.Unresolved; len(lacking.Each) > 0 {
		return gateway.Textf("%s", lacking), at
	}
	p.vectors.mu.Lock()
	defer p.vectors.mu.Unlock()
	if p.vectors.shelf == nil {
		return problem, at
	}
	at, err := p.vectors.shelf.Wrong()
	if err == nil {
		return problem, time.Time{}
	}
	return gateway.Textf("%s", gateway.AsError(err)), at
}

// end closes the present shelf. Searches that still use it find no more vectors.
func (m *vectorShelf) end() {
	if m.shelf != nil {
		m.shelf.Close()
		m.client.Close()
	}
	m.shelf, m.client, m.of = nil, nil, config.Embeddings{}
}

func (m *vectorShelf) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end()
}
