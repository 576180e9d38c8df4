package storetest

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/upstream"
)

func testTokens(t *testing.T, s Stores) {
	if got := tokensOf(t, s); len(got) != 0 {
		t.Fatalf("a new store has tokens: %v", got)
	}
	b, a, c := newToken("b", true), newToken("a", false), newToken("c", false)
	for _, token := range []identity.Token{b, a, c} {
		must(t, s.Identity.AddToken(t.Context(), token))
	}
	wantEqual(t, tokensOf(t, s), []identity.Token{a, b, c})
	must(t, s.Identity.RevokeToken(t.Context(), "b"))
	wantEqual(t, tokensOf(t, s), []identity.Token{a, c})
	// A name that was given up can be given again.
	again := newToken("b", false)
	must(t, s.Identity.AddToken(t.Context(), again))
	wantEqual(t, tokensOf(t, s), []identity.Token{a, again, c})
}

func testTokenConflict(t *testing.T, s Stores) {
	first := newToken("editor", false)
	must(t, s.Identity.AddToken(t.Context(), first))
	before := sequenceOf(t, s)
	wantCode(t, s.Identity.AddToken(t.Context(), newToken("editor", true)), gateway.CodeConflict)
	wantEqual(t, tokensOf(t, s), []identity.Token{first})
	if after := sequenceOf(t, s); after != before {
		t.Errorf("what changed nothing moved the change sequence from %d to %d", before, after)
	}
}

func testTokenNotFound(t *testing.T, s Stores) {
	must(t, s.Identity.AddToken(t.Context(), newToken("editor", false)))
	before := sequenceOf(t, s)
	for _, name := range []string{"nobody", "", "Editor", "editor ", "%", "edito_"} {
		wantCode(t, s.Identity.RevokeToken(t.Context(), name), gateway.CodeNotFound)
	}
	must(t, s.Identity.RevokeToken(t.Context(), "editor"))
	wantCode(t, s.Identity.RevokeToken(t.Context(), "editor"), gateway.CodeNotFound)
	if after := sequenceOf(t, s); after <= before {
		t.Errorf("a revocation left the change sequence at %d", after)
	}
}

func testTokenUses(t *testing.T, s Stores) {
	editor, other := newToken("editor", false), newToken("other", false)
	must(t, s.Identity.AddToken(t.Context(), editor))
	must(t, s.Identity.AddToken(t.Context(), other))
	before := sequenceOf(t, s)
	note := func(token identity.Token, at time.Time, client string) {
		t.Helper()
		must(t, s.Identity.NoteUses(t.Context(), []identity.TokenUse{{Name: token.Name, Hash: token.Hash, At: at, Client: client}}))
	}
	noon := instant()
	note(editor, noon, "editor 1.0 日本語")
	editor.LastUsed, editor.LastClient = noon, "editor 1.0 日本語"
	wantEqual(t, tokensOf(t, s), []identity.Token{editor, other})
	// Another process may be late with what it knows.
	note(editor, noon.Add(-time.Minute), "editor 0.9")
	wantEqual(t, tokensOf(t, s), []identity.Token{editor, other})
	// The name of the client may come after the use.
	note(editor, noon, "editor 1.1")
	editor.LastClient = "editor 1.1"
	wantEqual(t, tokensOf(t, s), []identity.Token{editor, other})
	// Several at once; those that are gone are nobody's concern.
	must(t, s.Identity.NoteUses(t.Context(), []identity.TokenUse{
		{Name: "nobody", Hash: editor.Hash, At: noon},
		{Name: "other", Hash: editor.Hash, At: noon, Client: "an older token of that name"},
		{Name: "editor", Hash: editor.Hash, At: noon.Add(time.Hour), Client: "c"},
	}))
	must(t, s.Identity.NoteUses(t.Context(), nil))
	editor.LastUsed, editor.LastClient = noon.Add(time.Hour), "c"
	wantEqual(t, tokensOf(t, s.Another(t)), []identity.Token{editor, other})
	if after := sequenceOf(t, s); after != before {
		t.Errorf("uses moved the change sequence from %d to %d", before, after)
	}
}

func testLocalUses(t *testing.T, s Stores) {
	uses := func(s Stores) []identity.LocalUse {
		t.Helper()
		all, err := s.Identity.LocalUses(t.Context())
		must(t, err)
		return all
	}
	if got := uses(s); len(got) != 0 {
		t.Fatalf("a new store has seen %v", got)
	}
	before := sequenceOf(t, s)
	noon := instant()
	zed := identity.LocalUse{Name: "zed", At: noon, Client: "Zed 日本語"}
	cursor := identity.LocalUse{Name: "cursor", At: noon}
	must(t, s.Identity.NoteLocalUses(t.Context(), []identity.LocalUse{zed, cursor}))
	wantEqual(t, uses(s), []identity.LocalUse{cursor, zed})
	// Another process may be late with what it knows; the name of the program may
	// come after the use.
	cursor.Client = "Cursor 1.7"
	must(t, s.Identity.NoteLocalUses(t.Context(), []identity.LocalUse{
		cursor, {Name: "zed", At: noon.Add(-time.Minute), Client: "an older one"},
	}))
	must(t, s.Identity.NoteLocalUses(t.Context(), nil))
	wantEqual(t, uses(s.Another(t)), []identity.LocalUse{cursor, zed})
	if after := sequenceOf(t, s); after != before {
		t.Errorf("uses moved the change sequence from %d to %d", before, after)
	}
	wantCode(t, s.Identity.NoteLocalUses(canceled(t), []identity.LocalUse{zed}), gateway.CodeCanceled)
	_, err := s.Identity.LocalUses(canceled(t))
	wantCode(t, err, gateway.CodeCanceled)
}

// oddNames would be dangerous, or one name, if a store were careless.
func oddNames() []string {
	return []string{
		"o'brien", `say "hi"`, "back\\slash", "semi;colon -- comment", "'; DROP TABLE tokens; --",
		"%", "_", "$1", "?", ":name", "日本語", "étoile", "e\u0301toile", "🚪", "Straße", "STRASSE", "strasse",
		" leading", "trailing ", "line\nbreak", "\u200bzero width", strings.Repeat("long", 1000),
	}
}

func testTokenNames(t *testing.T, s Stores) {
	want := map[string]identity.Token{}
	for _, name := range oddNames() {
		want[name] = newToken(name, false)
		must(t, s.Identity.AddToken(t.Context(), want[name]))
	}
	got := map[string]identity.Token{}
	for _, token := range tokensOf(t, s) {
		got[token.Name] = token
	}
	wantEqual(t, got, want)
	for _, name := range oddNames() {
		must(t, s.Identity.RevokeToken(t.Context(), name))
	}
	if left := tokensOf(t, s); len(left) != 0 {
		t.Errorf("%d tokens cannot be revoked", len(left))
	}
}

func testChangeSequence(t *testing.T, s Stores) {
	last := sequenceOf(t, s)
	for _, change := range []func(context.Context) error{
		func(ctx context.Context) error { return s.Identity.AddToken(ctx, newToken("a", false)) },
		func(ctx context.Context) error { return s.Lists.SaveList(ctx, "server", newList("[]")) },
		func(ctx context.Context) error { return s.Lists.SaveList(ctx, "server", newList("[1]")) },
		func(ctx context.Context) error { return s.Identity.RevokeToken(ctx, "a") },
		func(ctx context.Context) error {
			_, err := s.Overrides.ChangeOverride(ctx, catalog.ToolKey{Server: "s", Name: "t"}, disable)
			return err
		},
	} {
		must(t, change(t.Context()))
		now := sequenceOf(t, s)
		if now <= last {
			t.Fatalf("a change moved the change sequence from %d to %d", last, now)
		}
		tokensOf(t, s)
		if again := sequenceOf(t, s); again != now {
			t.Fatalf("reading moved the change sequence from %d to %d", now, again)
		}
		last = now
	}
}

func testTwoHandles(t *testing.T, one Stores) {
	two := one.Another(t)
	before := sequenceOf(t, two)
	token := newToken("editor", true)
	must(t, one.Identity.AddToken(t.Context(), token))
	// At once, not eventually: what was acknowledged is there for everybody.
	wantEqual(t, tokensOf(t, two), []identity.Token{token})
	wantCode(t, two.Identity.AddToken(t.Context(), newToken("editor", false)), gateway.CodeConflict)
	after := sequenceOf(t, two)
	if after <= before {
		t.Errorf("another handle sees the change sequence at %d after %d", after, before)
	}
	if here := sequenceOf(t, one); here != after {
		t.Errorf("two handles see the change sequence at %d and %d", here, after)
	}
	must(t, two.Lists.SaveList(t.Context(), "server", newList(`[{"name":"a"}]`)))
	wantEqual(t, listOf(t, one, "server"), newList(`[{"name":"a"}]`))
	must(t, two.Identity.RevokeToken(t.Context(), "editor"))
	if left := tokensOf(t, one); len(left) != 0 {
		t.Errorf("a token that another handle revoked is still there: %v", left)
	}
}

func testLists(t *testing.T, s Stores) {
	wantNoList(t, s, "server")
	for _, list := range []upstream.SavedList{
		newList(`[{"name":"a"}]`),
		{Era: gateway.EraNone, Tools: []byte("[]"), SavedAt: instant()},
		{
			Fingerprint: "other", Era: gateway.EraModern, Version: "2026-07-28",
			Tools: []byte("[ 1.50, 1e2, \"\\u0041\", \"é\" ]\n"), SavedAt: instant().Add(time.Hour),
		},
		{
			Tools: []byte("[]"), SavedAt: instant(), Gone: []byte(`[{"name":"b"} ]`),
			Changes: []upstream.Change{
				{Tool: "a", Parts: []string{"description", "inputSchema"}, Diffs: []upstream.Diff{{Part: "description", Before: "…é", After: "\\u202e"}}, At: instant(), Times: 2},
				{Tool: "c", Parts: []string{"title"}, At: instant(), Times: 1},
			},
		},
	} {
		must(t, s.Lists.SaveList(t.Context(), "server", list))
		wantEqual(t, listOf(t, s, "server"), list)
	}
	wantNoList(t, s, "another server")
}

func testListNames(t *testing.T, s Stores) {
	for _, name := range oddNames() {
		list := newList("[]")
		list.Fingerprint, list.Version = name, name
		must(t, s.Lists.SaveList(t.Context(), name, list))
	}
	for _, name := range oddNames() {
		list := listOf(t, s, name)
		if list.Fingerprint != name || list.Version != name {
			t.Errorf("the list of %q is that of %q", name, list.Fingerprint)
		}
	}
}

func testListSizes(t *testing.T, s Stores) {
	another := s.Another(t)
	random := rand.NewChaCha8([32]byte{1, 2}) // bytes that compress badly, the same every time
	for _, size := range []int{4 << 20, 1, 4096, 1 << 20, 4<<20 + 1} {
		tools := make([]byte, size)
		_, _ = random.Read(tools)
		list := newList("")
		list.Tools = tools
		must(t, s.Lists.SaveList(t.Context(), "server", list))
		for _, handle := range []Stores{s, another} {
			if got := listOf(t, handle, "server"); string(got.Tools) != string(tools) {
				t.Fatalf("a list of %d bytes came back with %d, or with others", size, len(got.Tools))
			}
		}
	}
	// Nothing is not the same as no list.
	for _, nothing := range [][]byte{nil, {}} {
		list := newList("")
		list.Tools = nothing
		must(t, s.Lists.SaveList(t.Context(), "server", list))
		if got := listOf(t, s, "server"); len(got.Tools) != 0 {
			t.Fatalf("an empty list came back with %d bytes", len(got.Tools))
		}
	}
}

func testTimes(t *testing.T, s Stores) {
	for i, at := range []time.Time{
		instant(),
		time.Unix(0, 0).UTC(),
		time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC),
		time.Date(2262, 4, 12, 0, 0, 0, 1000, time.UTC), // beyond int64 nanoseconds
		time.Date(2026, 7, 1, 9, 0, 0, 123456789, time.FixedZone("JST", 9*60*60)),
		time.Date(2026, 10, 25, 2, 30, 0, 0, time.FixedZone("CEST", 2*60*60)),
	} {
		// What comes back is the same instant, in UTC, cut to microseconds.
		want := at.UTC().Truncate(time.Microsecond)
		list := newList("[]")
		list.SavedAt = at
		must(t, s.Lists.SaveList(t.Context(), "server", list))
		wantSame(t, listOf(t, s, "server").SavedAt, want)

		token := newToken("t"+string(rune('a'+i)), false)
		token.CreatedAt = at
		must(t, s.Identity.AddToken(t.Context(), token))
		all := tokensOf(t, s)
		wantSame(t, all[len(all)-1].CreatedAt, want)
	}
}

func wantSame(t testing.TB, got, want time.Time) {
	t.Helper()
	if got != want { //nolint:revive // the zone has to be the same too
		t.Errorf("got %v, want %v", got, want)
	}
}

func testCanceled(t *testing.T, s Stores) {
	must(t, s.Identity.AddToken(t.Context(), newToken("editor", false)))
	must(t, s.Lists.SaveList(t.Context(), "server", newList("[]")))
	before := sequenceOf(t, s)
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	for code, ctx := range map[gateway.Code]context.Context{
		gateway.CodeCanceled: canceled(t), gateway.CodeTimeout: expired,
	} {
		_, err := s.Identity.Tokens(ctx)
		wantCode(t, err, code)
		_, err = s.Identity.ChangeSequence(ctx)
		wantCode(t, err, code)
		wantCode(t, s.Identity.AddToken(ctx, newToken("other", false)), code)
		wantCode(t, s.Identity.RevokeToken(ctx, "editor"), code)
		wantCode(t, s.Identity.NoteUses(ctx, []identity.TokenUse{{Name: "editor"}}), code)
		_, _, err = s.Lists.LoadList(ctx, "server")
		wantCode(t, err, code)
		wantCode(t, s.Lists.SaveList(ctx, "server", newList("[1]")), code)
		_, err = s.Overrides.Overrides(ctx)
		wantCode(t, err, code)
		_, err = s.Overrides.ChangeOverride(ctx, catalog.ToolKey{Server: "s", Name: "t"}, disable)
		wantCode(t, err, code)
	}
	if after := sequenceOf(t, s); after != before {
		t.Errorf("canceled calls moved the change sequence from %d to %d", before, after)
	}
	if tokens := tokensOf(t, s); len(tokens) != 1 {
		t.Errorf("canceled calls left %d tokens", len(tokens))
	}
	wantEqual(t, listOf(t, s, "server"), newList("[]"))
}

// testKeeper is the port in use: what one handle changes, a keeper on the
// other learns.
func testKeeper(t *testing.T, one Stores) {
	two := one.Another(t)
	here := identity.NewTokens(one.Identity, "", time.Now)
	now := time.Now()
	there := identity.NewTokens(two.Identity, "", func() time.Time { return now })
	_, secret, err := here.Add(t.Context(), "editor", true)
	must(t, err)
	for _, keeper := range []*identity.Tokens{here, there} {
		id, err := keeper.Verify(t.Context(), secret.Reveal())
		must(t, err)
		wantEqual(t, id, gateway.Identity{ClientID: "editor", Admin: true})
	}
	must(t, here.Revoke(t.Context(), "editor"))
	_, err = here.Verify(t.Context(), secret.Reveal())
	wantCode(t, err, gateway.CodeUnauthenticated)
	now = now.Add(time.Second)
	_, err = there.Verify(t.Context(), secret.Reveal())
	wantCode(t, err, gateway.CodeUnauthenticated)
}
