package upstream

import (
	"context"
	"time"

	"genkan/internal/gateway"
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
	// Tools is the JSON array of tool definitions, as they came.
	Tools   []byte
	SavedAt time.Time
}

// ListStore keeps the last known lists. LoadList reports false when there is
// none.
type ListStore interface {
	LoadList(ctx context.Context, server string) (SavedList, bool, error)
	SaveList(ctx context.Context, server string, list SavedList) error
}
