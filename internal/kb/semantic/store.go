package semantic

import (
	"context"
	"crypto/sha256"

	"genkan/internal/kb"
)

// Hash tells models, or texts, from each other.
type Hash [sha256.Size]byte

// Row is what is kept of an item.
type Row struct {
	Item int64
	// Seq is the item's, when its text was read.
	Seq int64
	// Type is the item's. A store reads it and does not keep it: an id has one
	// type for ever.
	Type string
	// Text is the hash of what the vectors are of.
	Text Hash
	// Chunks is how many vectors there are; none for a text that the model does
	// not take.
	Chunks int
	// Vectors are all of them in a row, as package semantic encodes them.
	Vectors []byte
}

// Store keeps the vectors of items, of one model or of several. Those of an item
// go when the item is deleted.
type Store interface {
	// BeginVectors is how far the vectors of a model have been made. When the last
	// ones were of another model, that is the beginning.
	BeginVectors(ctx context.Context, model Hash) (kb.Position, error)
	// SaveVectors keeps the rows of items that still exist, and how far one has
	// come with them. What another process knows better stays: the row of a later
	// change, and a later position.
	SaveVectors(ctx context.Context, model Hash, rows []Row, done kb.Position) error
	// VectorsOf are the rows of a model for these items, in no order.
	VectorsOf(ctx context.Context, model Hash, items []int64) ([]Row, error)
	// VectorsAfter are the rows of a model in the order of their items, after one
	// and at most limit.
	VectorsAfter(ctx context.Context, model Hash, item int64, limit int) ([]Row, error)
	// ForgetVectors drops the rows of a model, and begins anew.
	ForgetVectors(ctx context.Context, model Hash) error
	// ItemsAfter counts the items that have changed after a position.
	ItemsAfter(ctx context.Context, after kb.Position) (int, error)
}
