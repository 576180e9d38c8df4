package learn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/learn"
	"genkan/internal/search"
	"genkan/internal/sqlite"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type school struct {
	*testing.T
	*learn.Learner
	store *sqlite.Store
	clock *clock
}

func newSchool(t *testing.T, path string) school {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	k := learn.NewLearner(store, c.Now)
	if err := k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return school{t, k, store, c}
}

var (
	post  = learn.Tool{Server: "chat", Name: "post_message"}
	issue = learn.Tool{Server: "tracker", Name: "create_issue"}
)

// learned is what is kept, as text.
func (s school) learned(which learn.Selection) string {
	s.Helper()
	all, err := s.Lessons(s.Context(), which)
	if err != nil {
		s.Fatal(err)
	}
	var lines []string
	for _, l := range all {
		lines = append(lines, fmt.Sprintf("%s %s/%s %s x%d", l.Client, l.Tool.Server, l.Tool.Name, strings.Join(l.Terms, "+"), l.Times))
	}
	return strings.Join(lines, "; ")
}

func (s school) want(what, want string) {
	s.Helper()
	if got := s.learned(learn.Selection{}); got != want {
		s.Errorf("%s: %q, want %q", what, got, want)
	}
}

// found is what a client finds in a house with both tools.
func (s school) found(client, query string) string {
	x := search.New(
		search.Server{Name: "chat", Documents: []search.Document{{ID: "post", Name: post.Name, Description: "Sends a text to a channel."}}},
		search.Server{Name: "tracker", Documents: []search.Document{{ID: "issue", Name: issue.Name, Description: "Opens a ticket."}}},
	)
	r := x.Search(search.Query{Text: query, Evidence: s.Evidence(client)})
	var ids []string
	for _, h := range r.Hits {
		ids = append(ids, h.Document.ID)
	}
	return strings.Join(ids, " ")
}

func TestALesson(t *testing.T) {
	t.Parallel()
	s := newSchool(t, filepath.Join(t.TempDir(), "genkan.db"))
	if got := s.found("ann", "standup late"); got != "" {
		t.Errorf("found %s before anything was learned", got)
	}
	s.Called("ann", post)
	s.want("a call without a search", "")
	s.Searched("ann", "Tell the standup that I am late", []learn.Tool{issue, post})
	s.want("a search without a call", "")
	s.Called("bob", post)
	s.want("somebody else's call", "")
	s.Called("ann", learn.Tool{Server: "chat", Name: "list_channels"})
	s.want("a call of what was not shown", "")
	s.Called("ann", post)
	s.want("a search and a call", "ann chat/post_message late+standup x1")
	s.Called("ann", post)
	s.want("a second call", "ann chat/post_message late+standup x1")
	s.Called("ann", issue)
	s.want("a call of another hit", "ann chat/post_message late+standup x1; ann tracker/create_issue late+standup x1")
	s.Searched("ann", "late? tell the standup!", []learn.Tool{post})
	s.Called("ann", post)
	s.want("again in the same words", "ann chat/post_message late+standup x2; ann tracker/create_issue late+standup x1")

	if got := s.found("ann", "standup late"); got != "post issue" {
		t.Errorf("ann finds %s", got)
	}
	if got := s.found("bob", "standup late"); got != "" {
		t.Errorf("bob finds %s", got)
	}
}

func TestWhatDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(s school){
		"nobody":         func(s school) { s.Searched("", "standup", []learn.Tool{post}) },
		"no words":       func(s school) { s.Searched("ann", "the 42", []learn.Tool{post}) },
		"nothing shown":  func(s school) { s.Searched("ann", "standup", nil) },
		"long ago":       func(s school) { s.Searched("ann", "standup", []learn.Tool{post}); s.clock.pass(11 * time.Minute) },
		"a few searches": func(s school) { s.searchedOften(6) },
		"forgotten": func(s school) {
			s.Searched("ann", "standup", []learn.Tool{post})
			if _, err := s.Forget(s.Context(), learn.Selection{Client: "ann"}); err != nil {
				s.Error(err)
			}
		},
		"that tool forgotten": func(s school) {
			s.Searched("ann", "standup", []learn.Tool{post})
			if _, err := s.Forget(s.Context(), learn.Selection{Tool: post}); err != nil {
				s.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSchool(t, filepath.Join(t.TempDir(), "genkan.db"))
			before(s)
			s.Called("ann", post)
			s.Called("", post)
			s.want(name, "")
		})
	}
}

// searchedOften shows the tool once, and something else after that.
func (s school) searchedOften(n int) {
	s.Searched("ann", "standup", []learn.Tool{post})
	for range n - 1 {
		s.Searched("ann", "tickets", []learn.Tool{issue})
	}
}

// The latest search that showed the tool is what the call is because of.
func TestTheLatestSearchCounts(t *testing.T) {
	t.Parallel()
	s := newSchool(t, filepath.Join(t.TempDir(), "genkan.db"))
	s.Searched("ann", "first words", []learn.Tool{post})
	s.Searched("ann", "better words", []learn.Tool{post})
	s.Searched("ann", "something else", []learn.Tool{issue})
	s.clock.pass(9 * time.Minute)
	s.Called("ann", post)
	s.want("one lesson", "ann chat/post_message bett+word x1")
}

func TestSharing(t *testing.T) {
	t.Parallel()
	s := newSchool(t, filepath.Join(t.TempDir(), "genkan.db"))
	s.Searched("ann", "standup late", []learn.Tool{post})
	s.Called("ann", post)
	n, err := s.Share(t.Context(), "ann")
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	s.want("shared", "* chat/post_message late+standup x1; ann chat/post_message late+standup x1")
	if got := s.found("bob", "standup late"); got != "post" {
		t.Errorf("bob finds %q", got)
	}
	for _, nobody := range []string{"", learn.Shared, "bob"} {
		if _, err := s.Share(t.Context(), nobody); err == nil {
			t.Errorf("%q was shared", nobody)
		}
	}
	if n, err := s.Forget(t.Context(), learn.Selection{Client: learn.Shared}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	s.want("taken back", "ann chat/post_message late+standup x1")
	if got := s.found("bob", "standup late"); got != "" {
		t.Errorf("bob finds %q", got)
	}
}

// Lessons fade, and stay with the tool however long it is gone.
func TestLessonsFade(t *testing.T) {
	t.Parallel()
	s := newSchool(t, filepath.Join(t.TempDir(), "genkan.db"))
	s.Searched("ann", "standup ticket", []learn.Tool{post})
	s.Called("ann", post)
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.found("ann", "standup ticket"); got != "post issue" {
		t.Errorf("at once: %s", got)
	}
	s.clock.pass(3 * 365 * 24 * time.Hour)
	if got := s.found("ann", "standup ticket"); got != "issue post" {
		t.Errorf("after years: %s", got)
	}
}

// Another process, and the next one, know what was learned.
func TestAnotherProcessLearns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "genkan.db")
	one, two := newSchool(t, path), newSchool(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, s := range []school{one, two} {
		running.Go(func() { s.Learner.Run(ctx, func(err error) { t.Error(err) }) })
	}
	defer running.Wait()
	defer cancel()
	one.Searched("ann", "standup late", []learn.Tool{post})
	one.Called("ann", post)
	testkit.Eventually(t, func() bool { return one.found("ann", "standup late") == "post" }, "it is written down in the background")
	testkit.Eventually(t, func() bool {
		two.clock.pass(time.Second)
		return two.found("ann", "standup late") == "post"
	}, "the other one looks again")
	if got := newSchool(t, path).found("ann", "standup late"); got != "post" {
		t.Errorf("after a restart: %q", got)
	}
}

// broken is a store that fails while it is told to.
type broken struct {
	learn.Store
	fails bool
}

func (b *broken) AddLessons(ctx context.Context, lessons []learn.Lesson, bounds learn.Bounds) error {
	if b.fails {
		return errors.New("the disk is full")
	}
	return b.Store.AddLessons(ctx, lessons, bounds)
}

func TestAStoreThatFails(t *testing.T) {
	t.Parallel()
	s := newSchool(t, filepath.Join(t.TempDir(), "genkan.db"))
	b := &broken{s.store, true}
	k := learn.NewLearner(b, s.clock.Now)
	for n := range 1000 {
		k.Searched("ann", "standup "+strings.Repeat("x", n%20+1), []learn.Tool{post})
		k.Called("ann", post)
		if err := k.Flush(t.Context()); err == nil {
			t.Fatal("that was to fail")
		}
	}
	b.fails = false
	all, err := k.Lessons(t.Context(), learn.Selection{Client: "ann"})
	if err != nil || len(all) == 0 || len(all) > learn.DefaultBounds().Tool {
		t.Errorf("%d lessons, %v", len(all), err)
	}
}

// Many clients at once, and more than are remembered.
func TestManyClients(t *testing.T) {
	t.Parallel()
	s := newSchool(t, filepath.Join(t.TempDir(), "genkan.db"))
	var wg sync.WaitGroup
	for c := range 20 {
		wg.Go(func() {
			for n := range 20 {
				client := fmt.Sprintf("c%d-%d", c, n)
				s.Searched(client, "standup late", []learn.Tool{post})
				s.Called(client, post)
				_ = s.Evidence(client)
			}
		})
	}
	wg.Wait()
	all, err := s.Lessons(t.Context(), learn.Selection{})
	if err != nil || len(all) == 0 || !slices.IsSortedFunc(all, func(a, b learn.Lesson) int { return strings.Compare(a.Client, b.Client) }) {
		t.Errorf("%d lessons, %v", len(all), err)
	}
}
