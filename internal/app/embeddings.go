package app

import (
	"log/slog"
	"reflect"
	"sync"

	"genkan/internal/config"
	"genkan/internal/embed"
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
	m.client = embed.New(embed.Settings{URL: cfg.URL, Model: cfg.Model, Key: cfg.APIKey, Kind: cfg.Kind, Dimensions: cfg.Dimensions})
	m.shelf = embed.NewShelf(embed.Options{Embedder: m.client, Store: store, Log: log, Model: cfg.Model, Dimensions: cfg.Dimensions})
	return m.shelf
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
