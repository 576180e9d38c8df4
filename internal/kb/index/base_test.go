package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"genkan/internal/testkit"
)

// TestBuildInRuns: a build that has to put postings aside makes the same file.
func TestBuildInRuns(t *testing.T) {
	documents := corpus(testkit.Count(60, 500))
	dir := t.TempDir()
	var files [][]byte
	for _, limit := range []int{usualLimits().runBytes, 200_000, 1} {
		path := filepath.Join(dir, "base")
		progress := 0
		if err := build(t.Context(), path, 7, pretended, seq(documents), func(done int) { progress = done }, limits{runBytes: limit, sample: 64, beginning: 100}); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if progress != len(documents) {
			t.Errorf("progress ended at %d", progress)
		}
		files = append(files, content)
	}
	if !bytes.Equal(files[0], files[1]) || !bytes.Equal(files[0], files[2]) {
		t.Error("the files differ")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestBuildThatFails leaves what was there as it was, and nothing else.
func TestBuildThatFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "base")
	if err := Build(t.Context(), path, 1, pretended, seq(titled("one")), nil); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("broken")
	for name, build := range map[string]func() error{
		"order": func() error {
			return Build(t.Context(), path, 2, pretended, seq(append(titled("a", "b"), titled("c")...)), nil)
		},
		"canceled": func() error { return Build(canceled, path, 2, pretended, seq(titled("a")), nil) },
		"source": func() error {
			return Build(t.Context(), path, 2, pretended, func(yield func(Document, error) bool) { yield(Document{}, broken) }, nil)
		},
	} {
		if err := build(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	after, _ := os.ReadFile(path)
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || !bytes.Equal(before, after) {
		t.Errorf("left behind: %v", left)
	}
	if err := Build(t.Context(), filepath.Join(dir, "none", "base"), 1, pretended, seq(nil), nil); err == nil {
		t.Error("a folder that is not there: no error")
	}
}

func TestEmptyBase(t *testing.T) {
	x := indexOf(t, nil)
	if r := x.Search(Query{Text: "the 検索 データベース"}); r.Total != 0 {
		t.Errorf("%d found", r.Total)
	}
	if s := x.Suggest("", nil, 10); len(s) != 0 {
		t.Errorf("%v", s)
	}
}

// TestSizeOfBase: the base is no larger than the text that it covers, in either
// language.
func TestSizeOfBase(t *testing.T) {
	japanese := slices.DeleteFunc(corpus(testkit.Count(800, 4000)), func(d Document) bool { return ascii(d.Content) || ascii(d.Title) })
	english := slices.DeleteFunc(corpus(testkit.Count(400, 2000)), func(d Document) bool { return !ascii(d.Content) })
	for name, documents := range map[string][]Document{"japanese": japanese, "english": english, "own docs": ownDocs(t, 1)} {
		size := 0
		for i := range documents {
			size += textSize(&documents[i])
		}
		path := filepath.Join(t.TempDir(), "base")
		if err := Build(t.Context(), path, 1, len(documents), seq(documents), nil); err != nil {
			t.Fatal(err)
		}
		b, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(b.Size()) / float64(size)
		t.Logf("%s: %d documents, %.2f bytes for a byte of text", name, len(documents), ratio)
		if ratio > 1 {
			t.Errorf("%s: the base has %.2f bytes for a byte of text", name, ratio)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDamage: a file that is cut, changed or foreign is refused by Open or by
// Verify, and searching it anyway does no harm.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "base")
	if err := Build(t.Context(), path, 1, pretended, seq(corpus(testkit.Count(40, 300))), nil); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range testkit.Count(100, 600) {
		bad := slices.Clone(good)
		switch r.IntN(4) {
		case 0:
			bad = bad[:r.IntN(len(bad))]
		case 1:
			bad = append(bad, byte(r.IntN(256)))
		case 2:
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		case 3:
			at := r.IntN(len(bad))
			for i := at; i < min(len(bad), at+r.IntN(64)+1); i++ {
				bad[i] = byte(r.IntN(256))
			}
		}
		if bytes.Equal(bad, good) {
			continue
		}
		survive(t, bad)
	}
	for _, foreign := range [][]byte{nil, []byte("SQLite format 3\x00"), make([]byte, 5000), bytes.Repeat([]byte("genkanKB"), 200)} {
		if _, err := newBase(foreign); !errors.Is(err, ErrDamaged) {
			t.Errorf("%.20q: %v", foreign, err)
		}
	}
}

// survive opens a damaged file and uses it.
func survive(t *testing.T, file []byte) {
	t.Helper()
	b, err := newBase(file)
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
		return
	}
	if err := b.Verify(); err == nil {
		t.Error("the damage was not seen")
	}
	harmless(t, b)
}

// harmless uses a base as an index does, whatever is in it.
func harmless(t *testing.T, b *Base) {
	x := New(b)
	known := map[int64]bool{}
	for i := range b.Len() {
		known[b.id(uint32(i))] = true
	}
	x.Apply(b.Sequence()+1, []Document{made(3), made(1 << 20)}, []int64{1, 7, 16})
	known[made(1<<20).ID], known[made(3).ID] = true, true
	for _, q := range splitQueries {
		for _, h := range x.Search(q).Hits {
			if !known[h.ID] {
				t.Errorf("%q: found %d, which is nowhere", q.Text, h.ID)
			}
		}
	}
	x.Suggest("s", nil, 10)
	x.Suggest("", []string{"doc", "issue"}, 10)
}

// FuzzOpen changes files and makes the header's checksum fit, so that what is
// behind it is reached.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "base")
	if err := Build(f.Context(), path, 1, pretended, seq(corpus(40)), nil); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(600), []byte{1, 2, 3})
	f.Add(uint32(60), []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(uint32(len(good)-100), bytes.Repeat([]byte{0x80}, 50))
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		bad := slices.Clone(good)
		copy(bad[int(at)%len(bad):], change)
		binary.LittleEndian.PutUint32(bad[headerLen-4:], crc32.Checksum(bad[:headerLen-4], castagnoli()))
		b, err := newBase(bad)
		if err == nil {
			harmless(t, b)
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
	})
}

func FuzzTokenise(f *testing.F) {
	f.Add("ユーザーのAPI設計 ＡＰＩ ﾃﾞｰﾀ 2024年 don't café", "API設計")
	f.Add("\xff\xfe\x00", "゛゜ ﷺ ㌔ İ ǆ")
	f.Add("がぎぐ か\u3099", "か\u3099")
	f.Fuzz(func(t *testing.T, text, query string) {
		d := Document{ID: 1, Title: text, Content: query}
		p := prepare(&d)
		if again := prepare(&Document{ID: 1, Title: text, Content: query}); !slices.Equal(p.keys, again.keys) {
			t.Fatal("two readings differ")
		}
		if f := Fold(text); Fold(f) != f && utf8.ValidString(text) {
			// NFKC of a lower-case letter may be another one; never more than once.
			if g := Fold(f); Fold(g) != g {
				t.Fatalf("%q does not come to rest", text)
			}
		}
		if got, want := Fold(text), strings.Map(unicode.ToLower, norm.NFKC.String(text)); got != want && utf8.ValidString(text) {
			t.Fatalf("%q is folded to %q, want %q", text, got, want)
		}
		whole, prefix := Fold(text), Fold(query)
		want := strings.Compare(whole[:min(len(whole), len(prefix))], prefix)
		if got := compareFolding(text, prefix); utf8.ValidString(text) && (got < 0) != (want < 0) || utf8.ValidString(text) && (got > 0) != (want > 0) {
			t.Fatalf("%q before %q: %d, want %d", text, prefix, got, want)
		}
		x := New(nil)
		x.Apply(1, []Document{d}, nil)
		x.Search(Query{Text: query})
		x.Suggest(query, nil, 3)
		// What stands in a document as a run is found.
		pieces(Fold(query), func(w piece) {
			if w.class == ideal {
				if r := x.Search(Query{Text: w.text}); r.Total != 1 {
					t.Fatalf("%q is not found in %q", w.text, query)
				}
			}
		})
	})
}

func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range testkit.Count(500, 3000) {
		values := make([]uint32, 1+r.IntN(300))
		width := r.IntN(33)
		for i := range values {
			values[i] = uint32(r.Uint64() >> (64 - width))
			if r.IntN(20) == 0 {
				values[i] = r.Uint32()
			}
		}
		packed := appendPacked(nil, values)
		for _, behind := range []int{0, 3, 20} {
			got := make([]uint32, len(values))
			rest, ok := unpack(append(slices.Clone(packed), make([]byte, behind)...), got)
			if !ok || len(rest) != behind || !slices.Equal(got, values) {
				t.Fatalf("%v became %v", values, got)
			}
			at := r.IntN(len(values))
			if one, ok := pick(append(slices.Clone(packed), make([]byte, behind)...), at, len(values)); !ok || one != values[at] {
				t.Fatalf("number %d of %v is %d", at, values, one)
			}
		}
	}
}
