package index_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"genkan/internal/kb/index"
)

// Build writes a base of documents to a file, Open opens it, and Apply adds what has
// changed since.
func ExampleBuild() {
	dir, err := os.MkdirTemp("", "index-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, documents := filepath.Join(dir, "base"), []index.Document{
		{ID: 1, Type: "docs", Title: "Gateway retries", Content: "A call is sent again when it never left."},
		{ID: 2, Type: "docs", Title: "検索の仕様", Content: "日本語は二文字ずつに分ける。"},
	}
	all := func(yield func(index.Document, error) bool) {
		for d := range slices.Values(documents) {
			if !yield(d, nil) {
				return
			}
		}
	}
	if err := index.Build(context.Background(), path, 1, len(documents), all, nil); err != nil {
		fmt.Println(err)
		return
	}
	base, err := index.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := index.New(base)
	defer func() { _ = x.Close() }()
	x.Apply(2, []index.Document{{ID: 3, Type: "docs", Title: "Retrying calls"}}, nil)
	for _, query := range []string{"retry gateway", "検索", "retries"} {
		found := x.Search(index.Query{Text: query})
		fmt.Print(query, ":")
		for _, hit := range found.Hits {
			fmt.Print(" ", hit.ID)
		}
		fmt.Println()
	}
	// Output:
	// retry gateway: 1
	// 検索: 2
	// retries: 3 1
}
