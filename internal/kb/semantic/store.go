package semantic

import (
	"context"
	"crypto/sha256"

	"genkan/internal/kb"
)

// Hash identifies a model or a text.
type Hash [sha256.Size]byte

// Row holds the vectors of an item.
type Row struct {
	Item int64
	// Seq is the number of the item's last change when its text was read.
	Seq int64
	// Type is the item's type. A store reads it from the item and does not store it: the type
	// of an id never changes.
	Type string
	// Text is the hash of the embedded texts.
	Text Hash
	// Chunks is the number of vectors. It is 0 for a text that the model refuses.
	Chunks int
	// Vectors holds all vectors one after the other, as package semantic encodes them.
	Vectors []byte
}

// Store stores the vectors of items, of one or several models. The vectors of an item are
// deleted with the item.
type Store interface {
	// BeginVectors returns the position up to which a model's vectors are complete. If the
	// last vectors were of another model, that is the beginning.
	BeginVectors(ctx context.Context, model Hash) (kb.Position, error)
	// SaveVectors stores the rows of items that still exist, and the position reached. It
	// keeps newer data of another process: the row of a later change, and a later position.
	SaveVectors(ctx context.Context, model Hash, rows []Row, done kb.Position) error
	// VectorsOf returns the rows of a model for these items, in any order.
	VectorsOf(ctx context.Context, model Hash, items []int64) ([]Row, error)
	// VectorsAfter returns the rows of a model in the order of their items, after an id and
	// at most limit.
	VectorsAfter(ctx context.Context, model Hash, item int64, limit int) ([]Row, error)
	// ForgetVectors deletes the rows of a model and resets the position to the beginning.
	ForgetVectors(ctx context.Context, model Hash) error
	// ItemsAfter counts the items that have changed after a position.
	ItemsAfter(ctx context.Context, after kb.Position) (int, error)
}
