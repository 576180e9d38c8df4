package kb_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// kept returns everything that can be read from a knowledge base.
func kept(t testing.TB, s kb.Store) []any {
	t.Helper()
	ctx := t.Context()
	seq, err1 := s.Sequence(ctx)
	changes, err2 := s.Changes(ctx, kb.Position{}, 1000)
	links, err3 := s.Links(ctx, kb.Position{}, 1000)
	tags, err4 := s.Tags(ctx)
	state, err5 := s.State(ctx)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	return []any{seq, changes, links, tags, state}
}

// TestRefused: an error names the wrong value, and nothing changes.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	tools := kb.NewTools(b.Base, kb.Languages{})
	send := func(name string, arguments map[string]any) ([]byte, error) {
		raw, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
		if err != nil {
			t.Fatal(err)
		}
		return call(t.Context(), tools, raw)
	}
	type args = map[string]any
	for _, made := range []args{
		{"type": "docs", "title": "one", "tags": []string{"x"}},
		{"type": "docs", "title": "two", "related": []string{"docs-1"}},
		{"type": "docs", "title": "moved"},
	} {
		if _, err := send("create_item", made); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := send("change_item_type", args{"from_type": "docs", "from_id": 3, "to_type": "notes"}); err != nil {
		t.Fatal(err)
	}
	many := func(n int, one string) []string { return strings.Split(strings.Repeat(one+"\n", n-1)+one, "\n") }
	long := func(n int) string { return strings.Repeat("字", n) }
	one := func(more args) args { // an update of docs-1
		all := args{"type": "docs", "id": 1}
		for key, value := range more {
			all[key] = value
		}
		return all
	}
	const notFound, invalid, violated = kb.CodeItemNotFound, kb.CodeValidation, kb.CodeConstraintViolation
	for _, c := range []struct {
		tool      string
		arguments args
		code      kb.Code
		field     string
	}{
		{"get_statuses", args{long(100_000): 1}, invalid, gateway.Short(long(100_000))}, // not repeated at any length
		{"create_item", args{"type": "docs"}, invalid, "title"},
		{"create_item", args{"type": "docs", "title": ""}, invalid, "title"},
		{"create_item", args{"type": "docs", "title": " \n\t　"}, invalid, "title"},
		{"create_item", args{"type": "docs", "title": long(201)}, invalid, "title"},
		{"create_item", args{"type": "docs", "title": "a\x00b"}, invalid, "title"},
		{"create_item", args{"type": "docs", "title": 5}, invalid, "title"},
		{"create_item", args{"type": "docs", "title": []string{"x"}}, invalid, "title"},
		{"create_item", args{"title": "x"}, invalid, "type"},
		{"create_item", args{"type": "", "title": "x"}, invalid, "type"},
		{"create_item", args{"type": "  ", "title": "x"}, invalid, "type"},
		{"create_item", args{"type": long(51), "title": "x"}, invalid, "type"},
		{"create_item", args{"type": "docs", "title": "x", "description": long(1001)}, invalid, "description"},
		{"create_item", args{"type": "docs", "title": "x", "content": long(102_401)}, invalid, "content"},
		{"create_item", args{"type": "docs", "title": "x", "content": true}, invalid, "content"},
		{"create_item", args{"type": "docs", "title": "x", "category": long(201)}, invalid, "category"},
		{"create_item", args{"type": "docs", "title": "x", "version": long(201)}, invalid, "version"},
		{"create_item", args{"type": "docs", "title": "x", "status": "Opne"}, violated, "status"},
		{"create_item", args{"type": "docs", "title": "x", "status": "open"}, violated, "status"},
		{"create_item", args{"type": "docs", "title": "x", "priority": "URGENT"}, invalid, "priority"},
		{"create_item", args{"type": "docs", "title": "x", "priority": "high"}, invalid, "priority"},
		{"create_item", args{"type": "docs", "title": "x", "start_date": "tomorrow"}, invalid, "start_date"},
		{"create_item", args{"type": "docs", "title": "x", "end_date": "2026-02-30T00:00:00Z"}, invalid, "end_date"},
		{"create_item", args{"type": "docs", "title": "x", "end_date": " "}, invalid, "end_date"},
		{"create_item", args{"type": "docs", "title": "x", "start_date": "2026-02-02", "end_date": "2026-02-01"}, invalid, "start_date"},
		{"create_item", args{"type": "docs", "title": "x", "end_date": "0001-01-01"}, invalid, "end_date"},
		{"create_item", args{"type": "docs", "title": "x", "end_date": "0000-01-01T00:00:00+09:00"}, invalid, "end_date"},
		{"create_item", args{"type": "docs", "title": "x", "related": "docs-1"}, invalid, "related"},
		{"create_item", args{"type": "docs", "title": "x", "related": []any{1}}, invalid, "related[0]"},
		{"create_item", args{"type": "docs", "title": "x", "related": []string{"docs-1", "docs"}}, invalid, "related[1]"},
		{"create_item", args{"type": "docs", "title": "x", "related": []string{"-1"}}, invalid, "related[0]"},
		{"create_item", args{"type": "docs", "title": "x", "related": []string{"docs-01"}}, invalid, "related[0]"},
		{"create_item", args{"type": "docs", "title": "x", "related": []string{"docs-0"}}, invalid, "related[0]"},
		{"create_item", args{"type": "docs", "title": "x", "related": []string{"docs-1", "docs-9"}}, notFound, "related[1]"},
		{"create_item", args{"type": "docs", "title": "x", "related": []string{"notes-1"}}, notFound, "related[0]"},
		{"create_item", args{"type": "docs", "title": "x", "related": many(1001, "docs-1")}, invalid, "related"},
		{"create_item", args{"type": "docs", "title": "x", "tags": many(101, "t")}, invalid, "tags"},
		{"create_item", args{"type": "docs", "title": "x", "tags": []string{"a", " "}}, invalid, "tags[1]"},
		{"create_item", args{"type": "docs", "title": "x", "tags": []string{long(101)}}, invalid, "tags[0]"},
		{"create_item", args{"type": "docs", "title": "x", "tags": args{"a": 1}}, invalid, "tags"},
		{"create_item", args{"type": "docs", "title": "x", "colour": "red"}, invalid, "colour"},
		{"create_item", args{"type": "docs", "title": "x", "startDate": "2026-01-01"}, invalid, "startDate"},

		{"get_item_detail", args{"type": "docs"}, invalid, "id"},
		{"get_item_detail", args{"id": 1}, invalid, "type"},
		{"get_item_detail", args{"type": "docs", "id": nil}, invalid, "id"},
		{"get_item_detail", args{"type": "docs", "id": "1"}, invalid, "id"},
		{"get_item_detail", args{"type": "docs", "id": 1.5}, invalid, "id"},
		{"get_item_detail", args{"type": "docs", "id": json.Number("1e400")}, invalid, "id"},
		{"get_item_detail", args{"type": "docs", "id": json.Number("9223372036854775808")}, invalid, "id"},
		{"get_item_detail", args{"type": "docs", "id": 0}, invalid, "id"},
		{"get_item_detail", args{"type": "docs", "id": -1}, invalid, "id"},
		{"get_item_detail", args{"type": "docs", "id": 99}, notFound, ""},
		{"get_item_detail", args{"type": "notes", "id": 1}, notFound, ""},
		{"delete_item", args{"type": "notes", "id": 1}, notFound, ""},
		{"delete_item", args{"type": "docs"}, invalid, "id"},

		{"get_items", args{}, invalid, "type"},
		{"get_items", args{"type": " "}, invalid, "type"},
		{"get_items", args{"type": "docs", "limit": -1}, invalid, "limit"},
		{"get_items", args{"type": "docs", "limit": 0}, invalid, "limit"},
		{"get_items", args{"type": "docs", "limit": 101}, invalid, "limit"},
		{"get_items", args{"type": "docs", "limit": 1e18}, invalid, "limit"},
		{"get_items", args{"type": "docs", "limit": "20"}, invalid, "limit"},
		{"get_items", args{"type": "docs", "offset": -1}, invalid, "offset"},
		{"get_items", args{"type": "docs", "statuses": []string{"Open", "Nowhere"}}, violated, "statuses[1]"},
		{"get_items", args{"type": "docs", "statuses": "Open"}, invalid, "statuses"},
		{"get_items", args{"type": "docs", "includeClosedStatuses": "yes"}, invalid, "includeClosedStatuses"},
		{"get_items", args{"type": "docs", "start_date": "2026-1-1"}, invalid, "start_date"},
		{"get_items", args{"type": "docs", "end_date": "2026-02-29"}, invalid, "end_date"},
		{"get_items", args{"type": "docs", "end_date": "2026-01-01T00:00:00Z"}, invalid, "end_date"},
		{"get_items", args{"type": "docs", "start_date": "2026-02-02", "end_date": "2026-02-01"}, invalid, "start_date"},

		{"update_item", one(args{"title": nil}), invalid, "title"},
		{"update_item", one(args{"title": long(201)}), invalid, "title"},
		{"update_item", one(args{"content": long(102_401)}), invalid, "content"},
		{"update_item", one(args{"status": "Nowhere", "title": "changed", "tags": []string{"new"}}), violated, "status"},
		{"update_item", one(args{"related": []string{"docs-1"}}), invalid, "related[0]"},
		{"update_item", one(args{"related": []string{"docs-99"}, "tags": []string{"new"}}), notFound, "related[0]"},
		{"update_item", args{"type": "docs", "id": 3, "related": []string{"notes-4"}}, invalid, "related[0]"},
		{"update_item", args{"type": "docs", "id": 99, "title": "x"}, notFound, ""},

		{"search_items", args{}, invalid, "query"},
		{"search_items", args{"query": " "}, invalid, "query"},
		{"search_items", args{"query": long(1001)}, invalid, "query"},
		{"search_items", args{"query": "x", "limit": 101}, invalid, "limit"},
		{"search_items", args{"query": "x", "types": []string{""}}, invalid, "types[0]"},
		{"search_items", args{"query": "x", "statuses": []string{"Open", "Opne"}}, violated, "statuses[1]"},
		{"search_items", args{"query": "x", "statuses": "Open"}, invalid, "statuses"},
		{"search_items", args{"query": "x", "tag": ""}, invalid, "tag"},
		{"search_items", args{"query": "x", "tag": " "}, invalid, "tag"},
		{"search_items", args{"query": "x", "start_date": "tomorrow"}, invalid, "start_date"},
		{"search_items", args{"query": "x", "start_date": "2026-01-16", "end_date": "2026-01-15"}, invalid, "start_date"},
		{"search_suggest", args{"query": "x", "limit": 21}, invalid, "limit"},
		{"search_suggest", args{"query": ""}, invalid, "query"},

		{"get_related_items", args{"type": "docs", "id": 1, "depth": 4}, invalid, "depth"},
		{"get_related_items", args{"type": "docs", "id": 1, "depth": 0}, invalid, "depth"},
		{"get_related_items", args{"type": "docs", "id": 1, "max_results": -5}, invalid, "max_results"},
		{"get_related_items", args{"type": "docs", "id": 1, "max_results": 1001}, invalid, "max_results"},
		{"find_path", args{"from_type": "docs", "from_id": 1, "to_type": "docs"}, invalid, "to_id"},
		{"find_path", args{"from_type": "docs", "from_id": 1, "to_type": "docs", "to_id": 2, "max_depth": 11}, invalid, "max_depth"},
		{"find_path", args{"from_type": "docs", "from_id": 9, "to_type": "docs", "to_id": 2}, notFound, "from_id"},

		{"get_tags", args{"limit": 1}, invalid, "limit"},
		{"search_items_by_tag", args{"tag": ""}, invalid, "tag"},
		{"search_items_by_tag", args{"tag": "x", "limit": 1000}, invalid, "limit"},
		{"update_current_state", args{"content": long(102_401)}, invalid, "content"},
		{"update_current_state", args{"content": "x", "updated_by": long(201)}, invalid, "updated_by"},
		{"update_current_state", args{"content": "x", "related": []string{"docs-99"}}, notFound, "related[0]"},
		{"update_current_state", args{"content": "x", "tags": []string{""}}, invalid, "tags[0]"},
		{"change_item_type", args{"from_type": "docs", "from_id": 1, "to_type": ""}, invalid, "to_type"},
		{"change_item_type", args{"from_type": "docs", "from_id": 1, "to_type": long(51)}, invalid, "to_type"},
		{"change_item_type", args{"from_type": "docs", "from_id": 99, "to_type": "x"}, notFound, ""},
		{"bulk_update", args{"updates": many(1001, "x")}, invalid, "updates"},
		{"bulk_update", args{"updates": []args{
			{"type": "docs", "id": 1, "data": args{"title": "changed", "related": []string{}}},
			{"type": "docs", "id": 2, "data": args{"related": []string{"docs-2"}}},
		}}, invalid, "related[0]"},
	} {
		before := kept(t, b.store)
		raw, err := send(c.tool, c.arguments)
		if err != nil {
			t.Errorf("%s %.100v: %v", c.tool, c.arguments, err)
			continue
		}
		var got struct {
			Code    kb.Code
			Message string
			Data    struct {
				Type, Timestamp string
				Details         map[string]any
			}
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		field, _ := got.Data.Details["field"].(string)
		if got.Code != c.code || field != c.field {
			t.Errorf("%s %.100v: %d %q, want %d %q: %.300s", c.tool, c.arguments, got.Code, field, c.code, c.field, raw)
		}
		want := map[kb.Code][2]string{
			notFound: {"Item not found", "ItemNotFoundError"},
			invalid:  {"Validation failed", "ValidationError"},
			violated: {"Constraint violation", "ConstraintViolationError"},
		}[c.code]
		if !strings.HasPrefix(got.Message, want[0]+": ") || got.Data.Type != want[1] || !strings.HasPrefix(got.Data.Timestamp, "2026-01-1") {
			t.Errorf("%s: %s", c.tool, raw)
		}
		_, valued := got.Data.Details["value"]
		if constraint, _ := got.Data.Details["constraint"].(string); c.code != notFound && (constraint == "" || !valued) {
			t.Errorf("%s does not say what would be right: %s", c.tool, raw)
		}
		if len(raw) > 1500 {
			t.Errorf("%s repeats too much: %d bytes", c.tool, len(raw))
		}
		if diff := cmp.Diff(before, kept(t, b.store)); diff != "" {
			t.Fatalf("%s %.100v changed something:\n%s", c.tool, c.arguments, diff)
		}
	}
}

// TestRefusedAsWritten: input that a decoder would change silently is refused, so that the
// stored values are the given ones.
func TestRefusedAsWritten(t *testing.T) {
	b := newBase(t)
	tools := kb.NewTools(b.Base, kb.Languages{})
	for _, c := range []struct{ tool, arguments, field, constraint string }{
		{"create_item", `{"type":"docs","title":"\ud83d"}`, "title", "Must not have half of a surrogate pair"},
		{"create_item", `{"type":"docs","title":"x","tags":["a","\ude00\ud83d"]}`, "tags", "Must not have half of a surrogate pair"},
		{"search_items", `{"query":"\ud83d"}`, "query", "Must not have half of a surrogate pair"},
		{"delete_item", `{"type":"docs","id":1,"id":2}`, "id", "Must be given once"},
		{"delete_item", `{"type":"docs","\u0069d":2,"id":1}`, "id", "Must be given once"},
		{"bulk_update", `{"updates":[{"type":"docs","id":1,"data":{"title":"a","title":"b"}}]}`, "updates", "Must not have a key twice"},
		{"create_item", `{"type":"docs","title":"` + strings.Repeat("x", 1001) + `"}`, "title", "Must have at most 200 characters; it has 1001"},
	} {
		before := kept(t, b.store)
		raw, err := call(t.Context(), tools, []byte(`{"name":"`+c.tool+`","arguments":`+c.arguments+`}`))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Code kb.Code
			Data struct {
				Details struct{ Field, Constraint string }
			}
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if d := got.Data.Details; got.Code != kb.CodeValidation || d.Field != c.field || !strings.HasPrefix(d.Constraint, c.constraint) {
			t.Errorf("%.80s: %s", c.arguments, raw)
		}
		if diff := cmp.Diff(before, kept(t, b.store)); diff != "" {
			t.Fatalf("%.80s changed something:\n%s", c.arguments, diff)
		}
	}
	raw, err := call(t.Context(), tools, []byte(`{"name":"create_item","arguments":{"type":"docs","title":"\ud83d\ude00 \\ud83d"}}`))
	if err != nil || !strings.Contains(string(raw), `"title":"😀 \\ud83d"`) {
		t.Errorf("a whole pair: %s, %v", raw, err)
	}
}

// TestLimitsAreInclusive: values at the limits are stored unchanged.
func TestLimitsAreInclusive(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	text := func(n int) *string { s := strings.Repeat("🦊", n); return &s }
	title := "  " + *text(kb.MaxTitle) + "\n"
	var tags []string
	for i := range kb.MaxTags {
		tags = append(tags, strings.Repeat("t", kb.MaxTag-3)+string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	got, err := b.Create(t.Context(), *text(kb.MaxType), kb.Patch{
		Title: &title, Description: text(kb.MaxDescription), Content: text(kb.MaxContent),
		Category: text(kb.MaxWords), Version: text(kb.MaxWords), Tags: &tags,
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := b.Get(t.Context(), got.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, found.Item); diff != "" || got.Title != title || got.Content != *text(kb.MaxContent) {
		t.Errorf("it was not kept as it was given: %.500s", diff)
	}

	// The maximum number of neighbours, and of entries in a bulk update.
	edits := make([]kb.Edit, kb.MaxBulk)
	var related []kb.Ref
	err = b.store.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
		related = nil
		for i := range edits {
			one := kb.Item{Type: "n", Title: title, Priority: kb.PriorityMedium, CreatedAt: b.clock(), UpdatedAt: b.clock()}
			if err := w.Insert(ctx, &one); err != nil {
				return err
			}
			related = append(related, one.Ref())
			edits[i] = kb.Edit{Ref: one.Ref(), Patch: kb.Patch{Description: text(1)}}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Update(t.Context(), got.Ref(), kb.Patch{Related: &related}); err != nil {
		t.Fatal(err)
	}
	if all, err := b.BulkUpdate(t.Context(), edits); err != nil || len(all) != kb.MaxBulk {
		t.Fatalf("%d: %v", len(all), err)
	}
	if found, err = b.Get(t.Context(), got.Ref()); err != nil || len(found.Item.Related) != kb.MaxRelated {
		t.Fatalf("%d neighbours: %v", len(found.Item.Related), err)
	}
}

// brokenStore is a store that fails.
type brokenStore struct {
	kb.Store
	err error
}

func (s brokenStore) Item(context.Context, int64) (kb.Found, bool, error) {
	return kb.Found{}, false, s.err
}

func TestStoreFails(t *testing.T) {
	full := &gateway.Error{Code: gateway.CodeUnavailable, Message: "the disk is full", Err: errors.New("inside")}
	_, err := kb.New(brokenStore{err: full}, kb.Options{}).Get(t.Context(), kb.Ref{Type: "a", ID: 1})
	var own *kb.Error
	if !errors.As(err, &own) || own.Code != kb.CodeDatabase || own.Details.Hint.String() != "the disk is full" || !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	raw, err := call(t.Context(), kb.NewTools(kb.New(brokenStore{err: full}, kb.Options{}), kb.Languages{}),
		[]byte(`{"name":"get_item_detail","arguments":{"type":"a","id":1}}`))
	if err != nil || !strings.Contains(string(raw), `"details":{"message":"the disk is full"}`) || strings.Contains(string(raw), "inside") {
		t.Errorf("%s, %v", raw, err)
	}
	// A canceled call must not get an answer that looks valid.
	_, err = kb.New(brokenStore{err: context.Canceled}, kb.Options{}).Get(t.Context(), kb.Ref{Type: "a", ID: 1})
	if errors.As(err, &own) || gateway.AsError(err).Code != gateway.CodeCanceled {
		t.Errorf("%v", err)
	}
}

// TestErrorsHaveTheGatewaysCode, for programs that know only that.
func TestErrorsHaveTheGatewaysCode(t *testing.T) {
	tools := kb.NewTools(newBase(t).Base, kb.Languages{})
	for arguments, want := range map[string]string{
		`{"type":"docs","id":9}`: "not_found",
		`{"type":"docs"}`:        "invalid",
	} {
		one := &gateway.Call{Tool: &gateway.Tool{Name: "get_item_detail"}}
		one.Params = gateway.Params{Raw: []byte(arguments), Arguments: gateway.Span{End: uint32(len(arguments))}}
		result, err := tools.Handle(t.Context(), one)
		if err != nil || !strings.HasSuffix(string(result.Raw), `"_meta":{"genkan/error":{"code":"`+want+`"}}}`) {
			t.Errorf("%s: %s, %v", arguments, result.Raw, err)
		}
	}
}
