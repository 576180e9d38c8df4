// Package semantic is the plugin semantic_search of the knowledge base, which finds
// items by meaning. It keeps vectors of all items, made in the background by a
// model that runs elsewhere, and compares a query with each of them. Words count
// more than meaning, and answer alone while the model does not.
//
// A worker (worker.go) follows the changes of the knowledge base in order and makes
// the vectors of changed items. It saves its position with them. An item is
// embedded again only if the hash of its text has changed, so a new status costs
// nothing. A long item has several vectors, one for each part of its text
// (text.go). A vector is a scale and one byte for each dimension, in the Store and
// in the matrix, which the first search reads into memory (vector.go, matrix.go).
// fuse (search.go) combines the scores of words and meaning.
//
// Invariants:
//
//   - The items after the worker's position, and only these, may lack current
//     vectors. No other bookkeeping exists.
//   - Vectors of different models never mix: a new model hash, or vectors of
//     another length, begin at the first change again.
//   - An item that the endpoint refuses goes without vectors and blocks no other.
//   - A failure of the endpoint is a note in the answer and not an error.
package semantic

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/kb/plugin"
)

// Name is the name of the plugin and of its tool.
const Name = "semantic_search"

const (
	usualLimit, maxLimit = 10, 100
	// pool is the number of items that words and meaning each contribute.
	pool = 100
	// queryPatience is how long a search waits for its query's vector.
	queryPatience = 3 * time.Second
	// silence is how long queries are not sent to the endpoint after a failure.
	silence = 15 * time.Second
	// mostQueries is the number of queries whose vectors are cached.
	mostQueries = 256
)

// These are the kinds of endpoints.
const (
	KindOpenAI = "openai"
	KindOllama = "ollama"
)

// DefaultWeight is low, because the benefit of a real model over words has not been
// measured, and a weak model must not harm.
const DefaultWeight = .3

// Config is the configuration of the plugin.
type Config struct {
	// URL is the address of the API, and Model the name of a model there.
	URL, Model string
	APIKey     gateway.Secret
	// Kind is one of the Kind constants; empty is KindOpenAI.
	Kind string
	// Dimensions is the requested number, if the model supports that; 0 is the model's
	// default.
	Dimensions int
	// Weight is the weight of meaning relative to words, from 0 to 1; nil is DefaultWeight.
	Weight *float64
}

// Check validates the configuration. At is its place in the configuration file.
func (c Config) Check(at string) error {
	switch {
	case c.URL == "" || c.Model == "":
		return gateway.Errorf(gateway.CodeInvalid, "%s needs a url (where the model is) and a model (its name there)", at)
	case c.Kind != "" && c.Kind != KindOpenAI && c.Kind != KindOllama:
		return gateway.Errorf(gateway.CodeInvalid, "%s must be openai or ollama", at+".kind")
	case c.Dimensions < 0:
		return gateway.Errorf(gateway.CodeInvalid, "%s must be a number of 0 or more", at+".dimensions")
	case c.Weight != nil && !(*c.Weight >= 0 && *c.Weight <= 1):
		return gateway.Errorf(gateway.CodeInvalid, "%s must be a number from 0 to 1", at+".weight")
	}
	return nil
}

// modelHash distinguishes the vectors of different models, and of texts that were split
// differently. The address of the model does not matter.
func (c Config) modelHash() Hash {
	return hashOf("1", c.Model, fmt.Sprint(c.Dimensions, longestChunk, mostChunks))
}

func (c Config) weight() float64 {
	if c.Weight == nil {
		return DefaultWeight
	}
	return *c.Weight
}

// Embedder computes vectors: one for each text, in order and all of one length.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Close()
}

// Options are the options of New.
type Options struct {
	// Connect returns the embedder of a configuration. It does not wait for the endpoint.
	Connect func(Config) Embedder
	Store   Store
	// Now and After are the clock; nil is the system's.
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	// Patience is how long a query waits for its vector; 0 is the default.
	Patience time.Duration
}

// Plugin is semantic_search. It is initialised with a Config.
type Plugin struct {
	opt      Options
	cfg      Config
	db       *plugin.Database
	log      *slog.Logger
	embedder Embedder
	index    *index
	worker   *worker
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	queries map[string][]float32
	// silentUntil is the time until which no queries are sent to the endpoint.
	silentUntil time.Time
	failing     bool
}

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin.
func New(opt Options) *Plugin {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.After == nil {
		opt.After = time.After
	}
	if opt.Patience == 0 {
		opt.Patience = queryPatience
	}
	return &Plugin{opt: opt, queries: map[string][]float32{}}
}

// Name returns the name of the plugin.
func (p *Plugin) Name() string { return Name }

// Version returns the version of the plugin.
func (p *Plugin) Version() string { return "1.0.0" }

// Description returns the description of the plugin.
func (p *Plugin) Description() string {
	return "Finds items of the knowledge base by their meaning, with the embeddings of a model"
}

// Tools returns the tool semantic_search. Its texts are formats, so that they have
// translations.
func (p *Plugin) Tools() []plugin.Tool {
	say := func(text gateway.Text) string { return text.Format }
	described := func(rest string, text gateway.Text) string {
		return `{` + rest + `,"description":` + strconv.Quote(say(text)) + `}`
	}
	return []plugin.Tool{{
		Name: Name, Title: say(gateway.Textf("Search items by meaning")),
		Description: say(gateway.Textf("Search items by what they mean, the best first, also those that have none of the query's words. " +
			"Describe what you look for in a phrase or a sentence. search_items is for exact words.")),
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":` + described(`"type":"string"`, gateway.Textf("What to look for, in your own words")) +
			`,"limit":` + described(`"type":"number","default":10`, gateway.Textf("How many at most (default: 10, maximum: 100)")) +
			`,"types":` + described(`"type":"array","items":{"type":"string"}`, gateway.Textf("Types to look in (default: all)")) +
			`},"required":["query"]}`),
		// The query goes to the endpoint of the model.
		ReadOnly: true, OpenWorld: true,
	}}
}

// Initialize starts to compute vectors. It does not wait for the endpoint.
func (p *Plugin) Initialize(ctx context.Context, c plugin.Context) error {
	cfg, ok := c.Config.(Config)
	if !ok {
		cfg = Config{}
	}
	if err := cfg.Check("kb.semantic"); err != nil {
		return err
	}
	p.cfg, p.db, p.log = cfg, c.Database, c.Logger
	p.embedder = p.opt.Connect(cfg)
	p.index = newIndex(p.opt.Store, cfg.modelHash(), mostBytes)
	p.worker = &worker{
		items: p.db, embedder: p.embedder, store: p.opt.Store, index: p.index, model: cfg.modelHash(),
		log: p.log, after: p.opt.After, tell: p.tell, wake: make(chan struct{}, 1), well: make(chan struct{}, 1),
		refused: map[int64]int{},
	}
	// The worker retries this. If the position is known now, the first search can report the
	// number of pending items.
	if err := p.worker.begin(ctx); err != nil {
		p.log.Warn("the vectors of items cannot be read; it is tried again", "error", err)
	}
	working, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.done.Go(func() { p.worker.run(working) })
	return nil
}

// Cleanup ends the background work.
func (p *Plugin) Cleanup(context.Context) error {
	p.stop()
	p.done.Wait()
	p.embedder.Close()
	return nil
}

// tell logs once that the endpoint fails, and once that it works again.
func (p *Plugin) tell(err error) {
	p.mu.Lock()
	changed := p.failing != (err != nil)
	p.failing = err != nil
	if err == nil {
		p.silentUntil = time.Time{}
	}
	p.mu.Unlock()
	switch {
	case changed && err != nil:
		p.log.Warn("embeddings cannot be had; semantic_search answers by words alone until they can", "error", err)
	case changed:
		p.log.Info("embeddings can be had again")
		signal(p.worker.well)
	}
}
