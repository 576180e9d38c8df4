package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/testkit"
)

func newItem(title string) kb.Item {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return kb.Item{Type: "docs", Title: title, Priority: kb.PriorityMedium, CreatedAt: at, UpdatedAt: at}
}

// inserting is a change that adds an item.
func inserting(item kb.Item) func(context.Context, kb.Writer) error {
	return func(ctx context.Context, w kb.Writer) error {
		one := item
		return w.Insert(ctx, &one)
	}
}

func itemCount(t testing.TB, s *Store) int {
	t.Helper()
	page, err := s.Knowledge().List(t.Context(), kb.Filter{Closed: true, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}

// waiting is how many writes wait for the one that is being made.
func waiting(k *Knowledge) int {
	k.queue.mu.Lock()
	defer k.queue.mu.Unlock()
	return len(k.queue.waiting)
}

// nothing is an argument for each parameter of a statement.
func nothing(text string) []any {
	highest := strings.Count(text, "?")
	if numbered := regexp.MustCompile(`\?([0-9]+)`).FindAllStringSubmatch(text, -1); numbered != nil {
		highest = 0
		for _, one := range numbered {
			n, _ := strconv.Atoi(one[1])
			highest = max(highest, n)
		}
	}
	return make([]any, highest)
}

// explained is SQLite's plan for a statement.
func explained(t *testing.T, s *Store, text string) (all []string) {
	t.Helper()
	rows, err := s.writer.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, nothing(text)...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		all = append(all, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPlans: the statements that must be fast at a million items walk along
// indexes, and none sorts or reads all items.
func TestPlans(t *testing.T) {
	s := newStore(t)
	listed := func(f kb.Filter) (page, total string) {
		f.Limit = 20
		q, err := newListQuery(f)
		if err != nil {
			t.Fatal(err)
		}
		page, _ = q.page(20, 0)
		total, _ = q.total()
		return page, total
	}
	type plan struct {
		name, text string
		// uses is how each way to a table must be taken.
		uses []string
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	open, openTotal := listed(kb.Filter{Types: []string{"a"}})
	everything, _ := listed(kb.Filter{Types: []string{"a"}, Closed: true})
	statuses, statusTotal := listed(kb.Filter{Types: []string{"a"}, Statuses: []string{"Open", "Closed"}})
	dated, datedTotal := listed(kb.Filter{Types: []string{"a"}, From: day, Until: day})
	anything, _ := listed(kb.Filter{})
	tagged, taggedTotal := listed(kb.Filter{Tag: "a"})
	byType := "SEARCH i USING COVERING INDEX kb_items_by_type (type=? AND closed=? AND updated_at>? AND updated_at<?)"
	byStatus := "SEARCH i USING COVERING INDEX kb_items_by_status (type=? AND status=? AND updated_at>? AND updated_at<?)"
	byID := "SEARCH i USING INTEGER PRIMARY KEY (rowid=?)"
	from, to := "SEARCH kb_relations USING PRIMARY KEY (src=?)", "SEARCH kb_relations USING COVERING INDEX kb_relations_by_dst (dst=?)"
	for _, p := range []plan{
		{"sequence", selectSequence, []string{"SEARCH kb_sequence USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"get", selectItem, []string{byID, "SEARCH x USING PRIMARY KEY (item=?)", from, to}},
		{"items", selectItems, []string{"SEARCH i USING INTEGER PRIMARY KEY (rowid>?)", "SEARCH x USING PRIMARY KEY (item=?)"}},
		{"moved", selectMoved, []string{"SEARCH kb_moved USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"summaries", selectSummaries, []string{byID}},
		{"texts", selectTexts, []string{byID}},
		{"all ids", selectIDs, []string{"SCAN kb_items USING COVERING INDEX kb_items_by_seq"}},
		{"all relations", selectRelations, []string{"SEARCH kb_relations USING PRIMARY KEY (src>? AND src<?)"}},
		{"neighbours", selectNeighbours, []string{"SEARCH r USING PRIMARY KEY (src=?)", "SEARCH r USING COVERING INDEX kb_relations_by_dst (dst=?)"}},
		{"changes", selectChanges, []string{
			"SEARCH kb_items USING COVERING INDEX kb_items_by_seq (seq>?)", "SEARCH kb_deleted USING COVERING INDEX kb_deleted_by_seq (seq>?)", byID,
		}},
		{"links", selectLinks, []string{"SEARCH kb_items USING COVERING INDEX kb_items_by_seq (seq>?)", from, to}},
		{"list", open, []string{byType, byID}},
		{"list, closed too", everything, []string{byType, byID}},
		{"list by statuses", statuses, []string{byStatus, byID}},
		{"list by days", dated, []string{byType, byID}},
		{"list of all", anything, []string{"SEARCH i USING COVERING INDEX kb_items_by_time (closed=? AND updated_at>? AND updated_at<?)", byID}},
		{"list by tag", tagged, []string{"SEARCH x USING COVERING INDEX kb_item_tags_by_tag (tag=?)", byID}},
		{"total", openTotal, []string{"SEARCH c USING PRIMARY KEY (type=?)"}},
		{"total by statuses", statusTotal, []string{"SEARCH c USING PRIMARY KEY (type=?)"}},
		{"total by days", datedTotal, []string{byType}},
		{"total by tag", taggedTotal, []string{"SEARCH kb_tags USING INDEX sqlite_autoindex_kb_tags_1 (name=?)"}},
		{"resolve", resolveIDs, []string{byID, "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"touch", touchNeighbours, []string{from, to, "SEARCH kb_items USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"unlink", deleteRelationsFrom, []string{"SEARCH kb_relations USING INDEX kb_relations_by_dst (dst=? AND src=?)"}},
		{"tags of an item", insertItemTags, []string{"SEARCH t USING COVERING INDEX sqlite_autoindex_kb_tags_1 (name=?)"}},
		{"vectors", selectVectorsAfter, []string{"SEARCH v USING INTEGER PRIMARY KEY (rowid>?)", byID}},
		{"vectors of some", selectVectorsOf, []string{"SEARCH v USING INTEGER PRIMARY KEY (rowid=?)", byID}},
		{"pending", countItemsAfter, []string{"SEARCH kb_items USING COVERING INDEX kb_items_by_seq (seq>?)"}},
		{"moved references", moveFormer, []string{"SEARCH kb_moved USING COVERING INDEX kb_moved_by_item (item=?)"}},
	} {
		all := explained(t, s, p.text)
		for _, detail := range all {
			// What is scanned are arguments, pages and the few statuses.
			if table, ok := strings.CutPrefix(detail, "SCAN "); ok {
				table, _, _ = strings.Cut(table, " ")
				// All ids are for who begins anew; c is how many items of each type and
				// status there are.
				if p.name == "all ids" || p.name == "list of all" && table == "c" {
					continue
				}
				if !slices.Contains([]string{"v", "w", "p", "n", "json_each", "kb_statuses", "CONSTANT"}, table) && !strings.HasPrefix(table, "(subquery-") {
					t.Errorf("%s reads all of %s", p.name, table)
				}
			}
		}
		shown := strings.Join(all, "\n")
		// A list is read in its order; only what several branches gave is put in
		// order, and of each that is no more than a page.
		if sorts, branches := strings.Count(shown, "FOR ORDER BY"), strings.Count(shown, "CO-ROUTINE (subquery"); strings.HasPrefix(p.name, "list") && sorts > branches {
			t.Errorf("%s sorts:\n%s", p.name, shown)
		}
		for _, way := range p.uses {
			if !strings.Contains(shown, way) {
				t.Errorf("%s does not use %q:\n%s", p.name, way, shown)
			}
		}
	}
}

// TestWritesShareACommit: writes that come while the writer is busy are made
// together, and one that fails or panics is the only one.
func TestWritesShareACommit(t *testing.T) {
	s := newStore(t)
	k := s.Knowledge()
	if err := k.Write(t.Context(), inserting(newItem("first"))); err != nil {
		t.Fatal(err)
	}
	const others = 20
	refusal := errors.New("no")
	errs, panics := make([]error, others), make([]any, others)
	commits := 0
	k.committed = func(int) { commits++ }
	var wg sync.WaitGroup
	err := k.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
		for i := range others {
			wg.Go(func() {
				defer func() { panics[i] = recover() }()
				errs[i] = k.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
					if err := inserting(newItem(fmt.Sprint(i)))(ctx, w); err != nil {
						return err
					}
					switch i {
					case 3:
						return refusal
					case 5:
						panic("boom")
					}
					return nil
				})
			})
		}
		testkit.Eventually(t, func() bool { return waiting(k) == others }, "all of them wait")
		return inserting(newItem("leader"))(ctx, w)
	})
	wg.Wait()
	if err != nil || commits != 2 {
		t.Errorf("%d commits, %v", commits, err)
	}
	for i := range others {
		if i == 3 && !errors.Is(errs[i], refusal) || i == 5 && panics[i] != "boom" || i != 3 && i != 5 && (errs[i] != nil || panics[i] != nil) {
			t.Errorf("%d: %v, %v", i, errs[i], panics[i])
		}
	}
	if n := itemCount(t, s); n != others {
		t.Errorf("%d items, want %d", n, others)
	}
}

// TestFullDiskInACommonCommit: what fits is kept, and what does not is told so.
func TestFullDiskInACommonCommit(t *testing.T) {
	s := newStore(t)
	k := s.Knowledge()
	if err := k.Write(t.Context(), inserting(newItem("first"))); err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := s.writer.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	run(t, s.writer, fmt.Sprintf("PRAGMA max_page_count = %d", pages+20))
	big := newItem("big")
	big.Content = strings.Repeat("x", 1<<20)
	writes := []*kbWrite{}
	for _, item := range []kb.Item{newItem("small"), big, newItem("small, too")} {
		writes = append(writes, &kbWrite{ctx: t.Context(), change: inserting(item)})
	}
	k.together("test", writes)
	for i, w := range writes {
		if i == 1 {
			wantError(t, w.err, gateway.CodeUnavailable, "the disk is full")
			wantCause(t, w.err)
			if !errors.Is(w.err, gateway.ErrNoSpace) {
				t.Errorf("who shows it cannot tell why: %v", w.err)
			}
		} else if w.err != nil {
			t.Errorf("%d: %v", i, w.err)
		}
	}
	if n := itemCount(t, s); n != 3 {
		t.Errorf("%d items, want 3", n)
	}
	if seq, err := k.Sequence(t.Context()); err != nil || seq != 3 {
		t.Errorf("sequence %d, %v", seq, err)
	}
}

// TestWaitingWriteIsCanceled: who gives up while others write has written
// nothing.
func TestWaitingWriteIsCanceled(t *testing.T) {
	s := newStore(t)
	k := s.Knowledge()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	err := k.Write(t.Context(), func(context.Context, kb.Writer) error {
		go func() { done <- k.Write(ctx, inserting(newItem("canceled"))) }()
		testkit.Eventually(t, func() bool { return waiting(k) == 1 }, "it waits")
		cancel()
		wantError(t, <-done, gateway.CodeCanceled, "")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Write(t.Context(), inserting(newItem("next"))); err != nil {
		t.Fatal(err)
	}
	if n := itemCount(t, s); n != 1 {
		t.Errorf("%d items, want 1", n)
	}
}

func TestWaitForALockByAWriteCanBeCanceled(t *testing.T) {
	path := made(t)
	s := openStore(t, path)
	if err := s.Knowledge().Write(t.Context(), inserting(newItem("first"))); err != nil {
		t.Fatal(err)
	}
	other := raw(t, path)
	run(t, other, "BEGIN IMMEDIATE")
	defer run(t, other, "ROLLBACK")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantError(t, s.Knowledge().Write(ctx, inserting(newItem("late"))), gateway.CodeTimeout, "")
	if n := itemCount(t, s); n != 1 {
		t.Errorf("%d items, want 1", n)
	}
}

// createForever creates items until it is killed, and tells each that was
// acknowledged.
func createForever(ctx context.Context, path string, logger *slog.Logger) int {
	s, err := Open(ctx, path, logger)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	base := kb.New(s.Knowledge(), kb.Options{})
	var wg sync.WaitGroup
	for id := range 4 {
		wg.Go(func() {
			for round := 0; ; round++ {
				title := fmt.Sprintf("%d-%d-%d", os.Getpid(), id, round)
				item, err := base.Create(ctx, "docs", kb.Patch{Title: &title, Content: new(strings.Repeat(title, 500)), Tags: &[]string{"all", title}})
				if err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Println("wrote", item.ID, title)
			}
		})
	}
	wg.Wait()
	return 0
}

// TestKilledWhileCreating: two processes create items and one of them is killed,
// again and again; what was acknowledged is there.
func TestKilledWhileCreating(t *testing.T) {
	t.Parallel()
	cycles := testkit.Count(3, 10)
	path := migratedPath(t)
	s := openStore(t, path)
	acknowledged := map[int64]string{}
	for cycle := range cycles {
		other := otherProcess(t, self(t), "create", path)
		out, err := other.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			var id int64
			var title string
			if _, err := fmt.Sscanf(lines.Text(), "wrote %d %s", &id, &title); err != nil {
				t.Fatal(lines.Text())
			}
			acknowledged[id] = title
			if n == 3+cycle*7%50 {
				_ = other.Process.Kill() // SIGKILL; what it told before is still read
			}
			if n%5 == 0 {
				if err := s.Knowledge().Write(t.Context(), inserting(newItem("ours"))); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = other.Wait()
		for id, title := range acknowledged {
			found, ok, err := s.Knowledge().Item(t.Context(), id)
			if err != nil || !ok || found.Item.Title != title || len(found.Item.Tags) != 2 {
				t.Fatalf("cycle %d: the acknowledged item %d %s is gone: %v", cycle, id, title, err)
			}
		}
	}
	var wrong int
	err := s.reader.QueryRowContext(t.Context(), `SELECT
		(SELECT count(*) FROM kb_items) - (SELECT sum(items) FROM kb_counts) +
		(SELECT count(*) FROM kb_item_tags) - (SELECT sum(items) FROM kb_tags)`).Scan(&wrong)
	if err != nil || wrong != 0 {
		t.Errorf("the counts are off by %d, %v", wrong, err)
	}
	var problems sql.NullString
	if err := s.reader.QueryRowContext(t.Context(), "PRAGMA foreign_key_check").Scan(&problems, new(any), new(any), new(any)); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("%v, %v", problems, err)
	}
}
