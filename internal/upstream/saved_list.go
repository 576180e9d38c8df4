package upstream

import (
	"context"
	"fmt"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// SavedList is what the store keeps of a server, so that its tools are listed
// before it has started.
type SavedList struct {
	// Fingerprint identifies the configuration that the list came from; a list of
	// another configuration is not used.
	Fingerprint string
	Era         gateway.Era
	// Version is the protocol version that was agreed on.
	Version string
	// BothEras is set if the server speaks the other era, too.
	BothEras bool
	// Tools, Prompts, Resources and Templates are JSON arrays of definitions as
	// the server sent them.
	Tools, Prompts, Resources, Templates []byte
	About                                About
	Habits                               Habits
	// Changes are the recent changes of tool definitions. Gone is a JSON array of
	// definitions that the server does not list any more.
	Changes []Change
	Gone    []byte
	SavedAt time.Time
}

// About is a server's description of itself: its capabilities, its name and
// version, and its instructions.
type About struct {
	// Capabilities and Info are JSON objects, as they came.
	Capabilities, Info []byte
	Instructions       string
}

// maxAbout is how many bytes of each part of About are kept. Real servers use a
// few thousand.
const maxAbout = 64 << 10

// bounded returns a with each part cut to what is kept. Instructions end with a
// note that says so. Capabilities that are too large keep the members that
// genkan knows.
func (a About) bounded() About {
	if len(a.Instructions) > maxAbout {
		head, cut := gateway.Cut(a.Instructions, maxAbout-128) // the rest has room for the note
		a.Instructions = head + fmt.Sprintf("\n[cut: %d more bytes of these instructions are not shown]", cut)
	}
	if len(a.Info) > maxAbout {
		a.Info = nil
	}
	if len(a.Capabilities) > maxAbout {
		a.Capabilities = knownCapabilities(a.Capabilities)
	}
	return a
}

func knownCapabilities(raw []byte) []byte {
	const maxCapability = 4 << 10
	known := []byte{'{'}
	for _, key := range []string{"tools", "prompts", "resources", "completions", "logging", "tasks", "extensions"} {
		value := jsonrpc.Lookup(raw, key)
		if value == nil {
			continue
		}
		if len(value) > maxCapability {
			value = []byte("{}")
		}
		if len(known) > 1 {
			known = append(known, ',')
		}
		known = append(append(jsonrpc.AppendQuoted(known, key), ':'), value...)
	}
	return append(known, '}')
}

// Habits are observations of a server.
type Habits struct {
	// Asks is set when the server has asked a client something during a call.
	Asks bool
	// Roots is set when the server has asked for roots.
	Roots bool
}

// list returns the saved list of a kind.
func (l *SavedList) list(kind gateway.Kind) *[]byte {
	switch kind {
	case gateway.KindPrompt:
		return &l.Prompts
	case gateway.KindResource:
		return &l.Resources
	case gateway.KindTemplate:
		return &l.Templates
	default:
		return &l.Tools
	}
}

// ListStore saves the last known lists. LoadList reports false if there is none.
type ListStore interface {
	LoadList(ctx context.Context, server string) (SavedList, bool, error)
	SaveList(ctx context.Context, server string, list SavedList) error
}
