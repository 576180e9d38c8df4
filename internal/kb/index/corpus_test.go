package index

import (
	"context"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"genkan/internal/testkit"
	madeup "genkan/internal/testkit/corpus"
)

// pretended is how many documents bases are built for: so many that they have all
// that a large one has.
const pretended = 1_000_000

// shared is how many documents the base has that most tests read: enough for
// lists of several blocks and, with smallLimits, for lists of beginnings.
var shared = testkit.Count(400, 1000)

// known are the documents that were made already: tests ask for the same ones
// again and again, and to make one costs more than to index it.
var known sync.Map

// made is document i (from 0) of the corpus that all measurements share.
func made(i int) Document {
	const most = 20_000 // those of benchmarks are not kept
	if d, ok := known.Load(i); ok {
		return d.(Document)
	}
	d := document(madeup.Made(i), i)
	if i < most {
		known.Store(i, d)
	}
	return d
}

func document(d madeup.Document, i int) Document {
	return Document{
		ID: int64(i)*3 + 1, Type: d.Type, Status: d.Status, Title: d.Title, Description: d.Description, Content: d.Content,
		Tags: d.Tags, Updated: d.Updated,
	}
}

func textSize(d *Document) int {
	n := len(d.Title) + len(d.Description) + len(d.Content)
	for _, t := range d.Tags {
		n += len(t)
	}
	return n
}

// The words of the corpus, for queries.
var (
	englishNouns, japaneseNouns, mixedNouns = madeup.EnglishNouns, madeup.JapaneseNouns, madeup.MixedNouns
	rareWord                                = madeup.RareWord
)

// writer picks words as the corpus does.
type writer struct{ *rand.Rand }

func (w writer) of(list []string) string { return madeup.Writer{Rand: w.Rand}.Of(list) }

func corpus(n int) []Document {
	list := make([]Document, n)
	for i := range list {
		list[i] = made(i)
	}
	return list
}

func seq(documents []Document) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, d := range documents {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// ownDocs are the sections of the project's own documents, English and
// Japanese, numbered from an id.
func ownDocs(tb testing.TB, from int64) []Document {
	tb.Helper()
	root := filepath.Join("..", "..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		tb.Fatal(err)
	}
	files = append(files, filepath.Join(root, "README.md"), filepath.Join(root, "README.ja.md"))
	var list []Document
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for part := range strings.SplitSeq("\n"+string(text), "\n#") {
			title, content, _ := strings.Cut(part, "\n")
			if strings.TrimSpace(part) == "" {
				continue
			}
			list = append(list, Document{
				ID: from + int64(len(list)), Type: "doc", Status: "Open",
				Title: strings.Trim(title, "# "), Content: content, Tags: []string{filepath.Base(file)},
			})
		}
	}
	return list
}

// smallLimits make a base of a few hundred documents what a large one is: most
// documents come after those that decide what is common.
func smallLimits() limits {
	return limits{runBytes: usualLimits().runBytes, sample: testkit.Count(100, 256), beginning: testkit.Count(160, 400)}
}

// open builds a base of documents and opens it.
func open(tb testing.TB, documents []Document) *Base {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "base")
	if err := build(tb.Context(), path, 1, pretended, seq(documents), nil, smallLimits()); err != nil {
		tb.Fatal(err)
	}
	b, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// fixtures are the files of openCorpus by their number of documents.
var fixtures sync.Map

// openCorpus is open for the first n documents of the corpus. Tests that ask for
// the same n read the same file, which is built once.
func openCorpus(tb testing.TB, n int) *Base {
	tb.Helper()
	once, _ := fixtures.LoadOrStore(n, sync.OnceValues(func() ([]byte, error) {
		path := filepath.Join(tb.TempDir(), "base")
		if err := build(context.Background(), path, 1, pretended, seq(corpus(n)), nil, smallLimits()); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	}))
	file, err := once.(func() ([]byte, error))()
	if err != nil {
		tb.Fatal(err)
	}
	b, err := newBase(file)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// indexOf is an index of documents that are all in the base.
func indexOf(tb testing.TB, documents []Document) *Index {
	tb.Helper()
	x := New(open(tb, documents))
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}
