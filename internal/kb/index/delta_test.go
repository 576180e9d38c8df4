package index

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// longDocument is one of 100,000 characters, nearly all of whose terms are different.
func longDocument(id int64, seed uint64, japanese bool) Document {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < 100_000 {
		if japanese {
			b.WriteRune(rune(0x4e00 + random.IntN(0x5000)))
			continue
		}
		for range 5 {
			b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[random.IntN(36)])
		}
		b.WriteByte(' ')
	}
	return Document{ID: id, Type: "docs", Title: fmt.Sprint("t", id), Content: b.String()}
}

// TestDeltaKnowsItsSize: what the delta says that it takes is what it takes, but for
// a third.
func TestDeltaKnowsItsSize(t *testing.T) {
	allocated := func() int {
		// What earlier tests left in pools and behind finalizers goes with the third.
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for name, of := range map[string]struct {
		documents int
		document  func(i int) Document
	}{
		"random words":      {testkit.Count(3, 10), func(i int) Document { return longDocument(int64(i+1), uint64(i), false) }},
		"random characters": {testkit.Count(2, 10), func(i int) Document { return longDocument(int64(i+1), uint64(i), true) }},
		"made-up texts":     {testkit.Count(200, 1000), made},
	} {
		t.Run(name, func(t *testing.T) {
			x := New(nil)
			before := allocated()
			for i := range of.documents {
				x.Apply(int64(i+1), []Document{of.document(i)}, nil)
			}
			took := allocated() - before
			t.Logf("takes %d KB, says %d KB", took>>10, x.DeltaSize()>>10)
			if says := x.DeltaSize(); says < took*2/3 || says > took*3/2 {
				t.Errorf("it takes %d KB and says %d KB", took>>10, says>>10)
			}
			runtime.KeepAlive(x)
		})
	}
}

// TestReplacedTextsAreForgotten: a long text that is replaced again and again does not
// pile up.
func TestReplacedTextsAreForgotten(t *testing.T) {
	x := New(nil)
	x.Apply(1, []Document{longDocument(1, 1, false)}, nil)
	one := x.DeltaSize()
	for i := int64(2); i < int64(testkit.Count(8, 20)); i++ {
		x.Apply(i, []Document{longDocument(1, uint64(i), false)}, nil)
	}
	if size := x.DeltaSize(); size > 2*one+tidySize {
		t.Errorf("texts in turn take %d KB, one takes %d", size>>10, one>>10)
	}
}
