// Package plugin adds tools to the knowledge base. A Plugin has definitions and
// answers calls. A Manager is the gateway.Source of the knowledge base: it lists
// the sixteen tools of package kb, followed by those of the plugins. Package app
// makes the Manager and adds plugins to it; package semantic is one, and package
// example is one to copy. docs/plugins.md says how to write one.
//
// Manager.Add checks the names and schemas of a plugin before it calls Initialize.
// A plugin that cannot be used is left out; the reason is in the log and in
// Manager.Plugins, and the others work. A Database is all that a plugin gets of the
// knowledge base: it reads items and their changes, searches, and stores small
// values of its own. A reload that changes the model makes a new Manager; the old
// one retires when its calls are done. Close cancels the calls of plugins and ends
// the plugins in reverse order.
//
// Invariants:
//
//   - A plugin cannot replace a tool of the knowledge base or of another plugin.
//   - A panic of a plugin becomes an error of its call.
//   - Call is called only between Initialize and Cleanup.
//   - Unknown and missing arguments are refused before Call, in the form that all
//     tools of the knowledge base have.
package plugin

import (
	"context"
	"encoding/json"
	"log/slog"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// Plugin adds tools to the knowledge base. Its methods are called by a Manager:
// the first four once and before Initialize, Call from many goroutines and only
// between Initialize and Cleanup, which is called only after Initialize has
// succeeded.
type Plugin interface {
	// Name is unique among the plugins: small letters, digits, - and _.
	Name() string
	Version() string
	Description() string
	Tools() []Tool
	// Initialize gets it ready, soon: the house waits for it. What takes long
	// belongs into a goroutine, which Cleanup ends. The context is that of the
	// start alone.
	Initialize(ctx context.Context, c Context) error
	// Call answers a call of one of its tools with something that can be encoded
	// as a JSON object. A *kb.Error is shown to the caller as it is; of others
	// only a *gateway.Error shows its text.
	Call(ctx context.Context, call Call) (any, error)
	// Cleanup ends what Initialize began. No call is under way any more.
	Cleanup(ctx context.Context) error
}

// Tool is what clients see of a tool.
type Tool struct {
	// Name is unique among all tools of the knowledge base.
	Name, Title, Description string
	// InputSchema is a JSON Schema of type object. Arguments that are not among
	// its properties are refused, as are calls that lack a required one.
	InputSchema json.RawMessage
	// ReadOnly and Idempotent calls may be made again when their fate is unknown;
	// Destructive ones remove or replace something. OpenWorld ones reach beyond
	// this machine's knowledge base.
	ReadOnly, Idempotent, Destructive, OpenWorld bool
}

// Call is a call of a plugin's tool.
type Call struct {
	Tool string
	// Arguments have been checked for unknown and missing ones. Ask Err after
	// reading them.
	Arguments *kb.Arguments
	// Caller says who calls.
	Caller gateway.Identity
}

// Context is what a plugin is given.
type Context struct {
	Database *Database
	// Logger says which plugin it is for.
	Logger *slog.Logger
	// Config is what the configuration says for the plugin, in whichever type the
	// two have agreed on; nil is nothing.
	Config any
}

// Storage is where plugins keep what is theirs: small values by keys.
type Storage interface {
	// PluginValue is false if there is none.
	PluginValue(ctx context.Context, plugin, key string) ([]byte, bool, error)
	// SavePluginValue replaces a value; nil removes it.
	SavePluginValue(ctx context.Context, plugin, key string, value []byte) error
	// PluginKeys are those that have values, in order.
	PluginKeys(ctx context.Context, plugin string) ([]string, error)
}

// Database is what of the knowledge base a plugin may use: it reads items and
// their changes, searches, and keeps values of its own.
type Database struct {
	base    *kb.Base
	store   kb.Store
	storage Storage
	plugin  string
}

// Get finds an item.
func (d *Database) Get(ctx context.Context, ref kb.Ref) (kb.Found, error) {
	return d.base.Get(ctx, ref)
}

// List lists items, the last updated first.
func (d *Database) List(ctx context.Context, f kb.Filter) (kb.Page, error) {
	return d.base.List(ctx, f)
}

// Search finds items by their words, as search_items does.
func (d *Database) Search(ctx context.Context, q kb.Query) (kb.Matches, error) {
	return d.base.Search(ctx, q)
}

// Tags are all tags that items have, the most used first.
func (d *Database) Tags(ctx context.Context) ([]kb.Tag, error) { return d.base.Tags(ctx) }

// Summaries are those of the items that exist, in the order of the ids.
func (d *Database) Summaries(ctx context.Context, ids []int64) ([]kb.Summary, error) {
	return d.store.Summaries(ctx, ids)
}

// Items are all items in the order of their ids, after one and at most limit,
// without their neighbours.
func (d *Database) Items(ctx context.Context, after int64, limit int) ([]kb.Item, error) {
	return d.store.Items(ctx, after, limit)
}

// Sequence is the number of the last write to the knowledge base.
func (d *Database) Sequence(ctx context.Context) (int64, error) { return d.store.Sequence(ctx) }

// Changes tells the items that were changed or deleted after a position, in
// order, at most limit. Who derives something from items reads on from where they
// are, for ever.
func (d *Database) Changes(ctx context.Context, after kb.Position, limit int) ([]kb.Change, error) {
	return d.store.Changes(ctx, after, limit)
}

// The limits of a plugin's own values.
const (
	maxKey   = 200
	maxValue = 1 << 20
)

// Load is a value that the plugin has saved; false if there is none.
func (d *Database) Load(ctx context.Context, key string) ([]byte, bool, error) {
	return d.storage.PluginValue(ctx, d.plugin, key)
}

// Save keeps a value under a key; nil removes it.
func (d *Database) Save(ctx context.Context, key string, value []byte) error {
	if key == "" || len(key) > maxKey || len(value) > maxValue {
		return gateway.Errorf(gateway.CodeInvalid, "a plugin's value must have a key of 1 to %d bytes and be at most %d bytes long", maxKey, maxValue)
	}
	return d.storage.SavePluginValue(ctx, d.plugin, key, value)
}

// Keys are those of the values that the plugin has saved, in order.
func (d *Database) Keys(ctx context.Context) ([]string, error) {
	return d.storage.PluginKeys(ctx, d.plugin)
}
