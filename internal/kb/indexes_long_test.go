package kb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"genkan/internal/kb"
)

// randomWords returns a text whose words are nearly all different.
func randomWords(seed uint64, words int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range words {
		for range 5 {
			b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[random.IntN(36)])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// fillLong adds items of 3,000 characters of random words. Each is the number of items in a write.
func (p *process) fillLong(t *testing.T, items, each int) {
	t.Helper()
	for done := 0; done < items; done += each {
		err := p.store.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
			for i := range each {
				item := kb.Item{
					Type: "docs", Priority: kb.PriorityMedium, Title: fmt.Sprint("Long ", done+i), Description: "common",
					Content: randomWords(uint64(done+i), 17_000/32),
				}
				if err := w.Insert(ctx, &item); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongItemsGetAFile: a few items with very many different words are not held in
// memory. They get a file, and the memory until then is bounded. Once there is a file, a
// write builds no other.
func TestLongItemsGetAFile(t *testing.T) {
	t.Parallel()
	for _, each := range []int{1, 50} { // many writes, and one that is too large for a step
		t.Run(fmt.Sprint(each, " in a write"), func(t *testing.T) {
			p := openProcess(t, t.TempDir(), (*kb.Indexes).LittleMemory)
			p.fillLong(t, 50, each)
			if n := p.total(t, "common"); n != 50 {
				t.Errorf("%d found", n)
			}
			const oneStep = 40 << 20 / 32
			if held := p.indexes.DeltaSize(); held > p.indexes.MostDelta()+oneStep {
				t.Errorf("%d MB are held", held>>20)
			}
			file := p.built(t, "")
			p.store.items.Store(0)
			for i := range 5 {
				if _, err := p.Create(t.Context(), "docs", kb.Patch{Title: new("Short"), Content: new(fmt.Sprint("common short", i))}); err != nil {
					t.Fatal(err)
				}
				if n := p.total(t, "common"); n != 51+i {
					t.Errorf("%d found after %d writes", n, i+1)
				}
			}
			if now, _ := p.indexes.HeldFile(); now != file {
				t.Error("a small write has made another file")
			}
			if n := p.store.items.Load(); n != 0 {
				t.Errorf("%d pages of rows were read", n)
			}
			if held := p.indexes.DeltaSize(); held > 64<<10 {
				t.Errorf("%d KB are held for five short items", held>>10)
			}
		})
	}
}
