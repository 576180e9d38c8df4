package upstream

import (
	"context"
	"fmt"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// SavedList is what is kept of a server between runs, so that its tools are
// listed before it has started, or when it does not.
type SavedList struct {
	// Fingerprint identifies the configuration that the list came from; a list
	// of another command or URL is not used.
	Fingerprint string
	Era         gateway.Era
	// Version is the protocol version that was agreed on.
	Version string
	// Tools is the JSON array of tool definitions, as they came; so are the
	// others.
	Tools, Prompts, Resources, Templates []byte
	About                                About
	Habits                               Habits
	// Changes are the definitions of tools that changed lately. Gone is a JSON
	// array of definitions that the server listed before and lists no more.
	Changes []Change
	Gone    []byte
	SavedAt time.Time
}

// About is what a server says of itself: its capabilities, who it is, and how
// it wants to be used.
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

// Habits are what was learnt about a server by watching it.
type Habits struct {
	// Asks is set when it has asked a client something during a call.
	Asks bool
	// Roots is set when it wants to know where its client works.
	Roots bool
}

// list is the saved list of a kind.
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

// ListStore keeps the last known lists. LoadList reports false when there is
// none.
type ListStore interface {
	LoadList(ctx context.Context, server string) (SavedList, bool, error)
	SaveList(ctx context.Context, server string, list SavedList) error
}
