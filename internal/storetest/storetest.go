// Package storetest defines what a store is: one suite that every database passes,
// so that no other package needs to know which one is in use. The suite uses only
// the interfaces that other packages declare. Tests of what is particular to a
// database are in its own package.
package storetest

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/embed"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
	"genkan/internal/kb/semantic"
	"genkan/internal/learn"
	"genkan/internal/upstream"
	"genkan/internal/workflow"
)

// Stores is one handle on a database, seen through each port.
type Stores struct {
	Identity identity.Store
	// Sessions are those of browsers.
	Sessions identity.SessionStore
	Lists    upstream.ListStore
	// Overrides are what is said about tools.
	Overrides catalog.OverrideStore
	// Servers are those beside the configuration file.
	Servers config.ServerStore
	// Lessons are what searches led to.
	Lessons learn.Store
	// Vectors are those of texts.
	Vectors embed.Store
	// Knowledge is where the knowledge base is kept.
	Knowledge kb.Store
	// ItemVectors are those of items.
	ItemVectors semantic.Store
	// PluginValues are what plugins of the knowledge base keep.
	PluginValues plugin.Storage
	// Workflows are workflows, their tests and hook modules.
	Workflows workflow.Store
	// Another opens a further handle on the same database, as a second process
	// would. The handle is closed when the test ends.
	Another func(t *testing.T) Stores
}

// Run runs the suite. Each call of open returns a handle on a new, empty
// database, which is closed when the test ends. Tests run in parallel.
func Run(t *testing.T, open func(t *testing.T) Stores) {
	tests := map[string]func(*testing.T, Stores){
		"Tokens":            testTokens,
		"TokenConflict":     testTokenConflict,
		"TokenNotFound":     testTokenNotFound,
		"TokenNames":        testTokenNames,
		"TokenUses":         testTokenUses,
		"LocalUses":         testLocalUses,
		"Sessions":          testSessions,
		"ChangeSequence":    testChangeSequence,
		"TwoHandles":        testTwoHandles,
		"Lists":             testLists,
		"ListNames":         testListNames,
		"ListSizes":         testListSizes,
		"Overrides":         testOverrides,
		"OverrideNames":     testOverrideNames,
		"OverrideRefused":   testOverrideRefused,
		"OverridesAtOnce":   testOverridesAtOnce,
		"Servers":           testServers,
		"ServerNames":       testServerNames,
		"ServerRefused":     testServerRefused,
		"ServersAtOnce":     testServersAtOnce,
		"Lessons":           testLessons,
		"LessonBounds":      testLessonBounds,
		"LessonNames":       testLessonNames,
		"LessonsAtOnce":     testLessonsAtOnce,
		"Vectors":           testVectors,
		"Times":             testTimes,
		"Canceled":          testCanceled,
		"ConcurrentTokens":  testConcurrentTokens,
		"ConcurrentLists":   testConcurrentLists,
		"ConcurrentOneName": testConcurrentOneName,
		"Keeper":            testKeeper,
		"WorkflowSequence":  testWorkflowSequence,
	}
	maps.Copy(tests, kbTests())
	maps.Copy(tests, workflowTests())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// instant is a time that every store can keep.
func instant() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789012000, time.UTC) }

// newToken makes a token under any name, also one that identity would refuse:
// what a name may be is not for a store to say.
func newToken(name string, admin bool) identity.Token {
	token, _, err := identity.NewToken("any", admin, instant())
	if err != nil {
		panic(err) // the name is fine
	}
	token.Name = name
	return token
}

func newList(tools string) upstream.SavedList {
	return upstream.SavedList{
		Fingerprint: "sha256:0123", Era: gateway.EraLegacy, Version: "2025-11-25", BothEras: true,
		Tools: []byte(tools), Prompts: []byte(`[{"name":"p"}]`), Resources: []byte(`[{"uri":"a:b"}]`),
		Templates: []byte(`[{"uriTemplate":"a:{b}"}]`),
		About:     upstream.About{Capabilities: []byte(`{"tools":{}}`), Info: []byte(`{"name":"s"}`), Instructions: "Be kind. 親切に。"},
		Habits:    upstream.Habits{Asks: true},
		SavedAt:   instant(),
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code gateway.Code) {
	t.Helper()
	var e *gateway.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a gateway.Error", err)
	}
	if e.Code != code {
		t.Fatalf("code %v, want %v (%v)", e.Code, code, err)
	}
}

func wantEqual[T any](t testing.TB, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

func tokensOf(t testing.TB, s Stores) []identity.Token {
	t.Helper()
	tokens, err := s.Identity.Tokens(t.Context())
	must(t, err)
	return tokens
}

func sequenceOf(t testing.TB, s Stores) int64 {
	t.Helper()
	sequence, err := s.Identity.ChangeSequence(t.Context())
	must(t, err)
	return sequence
}

func listOf(t testing.TB, s Stores, server string) upstream.SavedList {
	t.Helper()
	list, found, err := s.Lists.LoadList(t.Context(), server)
	must(t, err)
	if !found {
		t.Fatalf("there is no list of %q", server)
	}
	return list
}

func wantNoList(t testing.TB, s Stores, server string) {
	t.Helper()
	list, found, err := s.Lists.LoadList(t.Context(), server)
	must(t, err)
	if found {
		t.Fatalf("there is a list of %q", server)
	}
	wantEqual(t, list, upstream.SavedList{})
}

// canceled is a context that ended before the call.
func canceled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
