package sqlite

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/kb"
)

var kbItems = flag.Int("kb.items", 10_000, "how many items the knowledge base of the benchmarks has")

// filled is a store with many items: 10 types, 12 statuses, about 1 KB of text,
// three tags and two relations each.
func filled(b *testing.B) *Store {
	b.Helper()
	s := openStore(b, newPath(b))
	err := s.transact(b.Context(), "fill", func(tx *sql.Tx) error {
		for _, statement := range []string{
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO kb_items (seq, type, status, closed, priority, created_at, updated_at, title, category, version, description, content)
			SELECT i, 'type' || (i % 10), s.id, s.closed, 'MEDIUM', i * 1000, i * 1000, 'title ' || i, '', '', 'description of ' || i, ?2
			FROM n CROSS JOIN kb_statuses s ON s.position = (i / 10) % 12`,
			`INSERT INTO kb_tags (name, items) SELECT 'tag' || id, 0 FROM kb_items WHERE id <= 1000 AND ?1 > 0 AND ?2 <> ''`,
			`INSERT INTO kb_item_tags (item, position, tag, updated_at)
			SELECT i.id, p.value, 1 + (i.id * 7 + p.value * 331) % min(1000, ?1), i.updated_at
			FROM kb_items i CROSS JOIN json_each('[0,1,2]') p WHERE ?2 <> ''`,
			`INSERT INTO kb_relations (src, src_type, dst, dst_type, kind)
			SELECT id / 2, 'type' || (id / 2 % 10), id, type, 'related' FROM kb_items WHERE id > 1 AND ?1 > 0 AND ?2 <> ''
			UNION SELECT id - 1, 'type' || ((id - 1) % 10), id, type, 'related' FROM kb_items WHERE id > 3`,
			`UPDATE kb_sequence SET value = ?1 WHERE ?2 <> ''`,
		} {
			if _, err := tx.ExecContext(b.Context(), statement, *kbItems, strings.Repeat("x", 1000)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	// What is in the log is read more slowly, and nobody writes all of it at once.
	run(b, s.writer, "PRAGMA wal_checkpoint(TRUNCATE)")
	return s
}

func BenchmarkKB(b *testing.B) {
	s := filled(b)
	k := s.Knowledge()
	base := kb.New(k, kb.Options{})
	ctx := b.Context()
	n := *kbItems
	b.Run("Sequence", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := k.Sequence(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			id := 1 + i*7919%n
			if _, err := base.Get(ctx, kb.Ref{Type: fmt.Sprint("type", id%10), ID: int64(id)}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, f := range map[string]kb.Filter{
		"open":     {Types: []string{"type3"}},
		"all":      {Types: []string{"type3"}, Closed: true},
		"statuses": {Types: []string{"type3"}, Statuses: []string{"Open", "Review", "Closed"}},
		"days":     {Types: []string{"type3"}, From: kbDay(n / 2), Until: kbDay(n/2 + 500)},
	} {
		b.Run("List/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page, err := base.List(ctx, f)
				if err != nil || len(page.Items) == 0 {
					b.Fatal(len(page.Items), err)
				}
			}
		})
	}
	b.Run("ByTag", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := base.ByTag(ctx, "tag7", nil, 20, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Tags", func(b *testing.B) {
		for b.Loop() {
			if _, err := base.Tags(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Relations", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if all, err := k.Relations(ctx); err != nil || len(all.IDs) != n {
				b.Fatal(len(all.IDs), err)
			}
		}
	})
	title, tags, content := "a new item", []string{"tag1", "tag2", "new"}, strings.Repeat("x", 1000)
	related := []kb.Ref{{Type: "type3", ID: 3}, {Type: "type4", ID: 4}}
	create := func(ctx context.Context, b *testing.B) {
		if _, err := base.Create(ctx, "type1", kb.Patch{Title: &title, Tags: &tags, Content: &content, Related: &related}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("Create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			create(ctx, b)
		}
	})
	b.Run("Create, 16 at once", func(b *testing.B) {
		var commits atomic.Int64
		k.committed = func(int) { commits.Add(1) }
		b.SetParallelism(8)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				create(ctx, b)
			}
		})
		b.ReportMetric(float64(b.N)/float64(max(commits.Load(), 1)), "writes/commit")
	})
}

// kbDay is when the item of a number was updated.
func kbDay(i int) time.Time { return time.UnixMicro(int64(i) * 1000).UTC() }
