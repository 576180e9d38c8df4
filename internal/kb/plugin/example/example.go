// Package example is a plugin of the knowledge base to begin another one from. It
// is not part of genkan: only tests use it. Its tool counts words.
package example

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
)

// Config is what the configuration would say.
type Config struct {
	// Least is how many letters a word must have to count.
	Least int
}

// Plugin counts the words of items, and remembers how often it was asked.
type Plugin struct {
	cfg Config
	db  *plugin.Database

	mu    sync.Mutex // guards what follows
	asked int
}

// Name is unique among the plugins.
func (p *Plugin) Name() string { return "word-count" }

// Version is the plugin's.
func (p *Plugin) Version() string { return "0.1.0" }

// Description is for those who look at what is there.
func (p *Plugin) Description() string { return "Counts the words of items" }

// Tools are what clients see.
func (p *Plugin) Tools() []plugin.Tool {
	return []plugin.Tool{{
		Name: "count_words", Title: "Count words",
		Description: "Count the words of all items of a type.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"type":{"type":"string","description":"Type of the items"}},"required":["type"]}`),
		ReadOnly:    true,
	}}
}

// Initialize takes what the plugin is given.
func (p *Plugin) Initialize(ctx context.Context, c plugin.Context) error {
	p.db = c.Database
	p.cfg, _ = c.Config.(Config) // none is the zero Config
	value, ok, err := p.db.Load(ctx, "asked")
	if err != nil || !ok {
		return err
	}
	p.asked, err = strconv.Atoi(string(value))
	return err
}

type answer struct {
	Items int `json:"items"`
	Words int `json:"words"`
	Asked int `json:"asked"`
}

// Call answers a call of count_words.
func (p *Plugin) Call(ctx context.Context, call plugin.Call) (any, error) {
	kind := call.Arguments.Text("type")
	if err := call.Arguments.Err(); err != nil {
		return nil, err
	}
	if kind == "everything" {
		return nil, kb.Invalid("type", kind, "Must be the type of some items")
	}
	var a answer
	const page = 100
	for last := int64(0); ; {
		items, err := p.db.Items(ctx, last, page)
		if err != nil {
			return nil, err
		}
		for i := range items {
			if last = items[i].ID; items[i].Type == kind {
				a.Items++
				a.Words += p.count(items[i].Title) + p.count(items[i].Description) + p.count(items[i].Content)
			}
		}
		if len(items) < page {
			break
		}
	}
	p.mu.Lock()
	p.asked++
	a.Asked = p.asked
	p.mu.Unlock()
	return a, nil
}

func (p *Plugin) count(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if len(word) >= p.cfg.Least {
			n++
		}
	}
	return n
}

// Cleanup keeps how often it was asked.
func (p *Plugin) Cleanup(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.db.Save(ctx, "asked", []byte(strconv.Itoa(p.asked)))
}
