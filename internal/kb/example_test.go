package kb_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// A knowledge base over a store, with indexes that answer searches.
func ExampleBase() {
	dir, err := os.MkdirTemp("", "kb-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "genkan.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()
	indexes := kb.NewIndexes(store.Knowledge(), kb.IndexOptions{})
	defer func() { _ = indexes.Close() }()
	base := kb.New(store.Knowledge(), kb.Options{Finder: indexes, Graph: indexes})

	item, err := base.Create(ctx, "docs", kb.Patch{Title: new("Gateway retries"), Content: new("A call is sent again when it never left.")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item.Ref())
	found, err := base.Search(ctx, kb.Query{Text: "call sent", Limit: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, match := range found.Items {
		fmt.Println(match.Title, "-", match.Snippet)
	}
	// Output:
	// docs-1
	// Gateway retries - A **call** is **sent** again when it never left.
}
