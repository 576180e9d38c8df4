package upstream

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"genkan/internal/gateway"
)

// listeners are the functions that a connection calls when the server sends
// something other than an answer.
type listeners struct {
	// changed reports that a list changed, or may have.
	changed func(kind gateway.Kind, how listSignal)
	// updated reports a changed resource.
	updated func(uri string)
	// progressed reports the state of a task of the modern era.
	progressed func(state []byte)
	// asked reports a request of the server.
	asked func(method string)
	// renewed reports that the server has forgotten its session and has a new
	// one: subscriptions and log level must be sent again.
	renewed func()
}

// listChanged handles list_changed notifications. It reports false for other
// methods.
func (e listeners) listChanged(method string) bool {
	found := false
	for _, kind := range gateway.Kinds() {
		switch {
		case kind.Changed() != method:
			continue
		case kind == gateway.KindTemplate:
			e.changed(kind, implied) // resources are announced with it
		default:
			e.changed(kind, announced)
		}
		found = true
	}
	return found
}

// missed reports that notifications about lists may have been lost.
func (e listeners) missed() {
	for _, kind := range gateway.Kinds() {
		e.changed(kind, suspected)
	}
}

// missedTopic reports that notifications about a topic may have been lost.
func (e listeners) missedTopic(of topic) {
	if !of.isTask {
		e.updated(of.name)
	}
}

// listSignal is a reason to read a list again. A greater one replaces a smaller
// one.
type listSignal uint8

const (
	noSignal listSignal = iota
	// implied is for a list whose change is announced by another list's event.
	implied
	suspected
	announced
)

// listGroup is a group of lists that are read one after the other. A list that
// hangs does not delay other groups.
type listGroup struct {
	kinds []gateway.Kind
	// there receives when a signal was added.
	there   chan struct{}
	mu      sync.Mutex
	signals [gateway.KindCount]listSignal
	// listed is closed when each list of the group was read once.
	listed chan struct{}
}

// listGroups are the groups of a connection, tools first.
type listGroups []*listGroup

func newListGroups() listGroups {
	var groups listGroups
	for _, kinds := range [][]gateway.Kind{
		{gateway.KindTool},
		{gateway.KindPrompt},
		{gateway.KindTemplate, gateway.KindResource}, // the change of resources announces templates too
	} {
		groups = append(groups, &listGroup{kinds: kinds, there: make(chan struct{}, 1), listed: make(chan struct{})})
	}
	return groups
}

// add records a signal.
func (g listGroups) add(kind gateway.Kind, how listSignal) {
	for _, group := range g {
		if slices.Contains(group.kinds, kind) {
			group.add(kind, how)
		}
	}
}

// suspect records that each list may have changed.
func (g listGroups) suspect() {
	for _, kind := range gateway.Kinds() {
		g.add(kind, suspected)
	}
}

func (g *listGroup) add(kind gateway.Kind, how listSignal) {
	g.mu.Lock()
	g.signals[kind] = max(g.signals[kind], how)
	g.mu.Unlock()
	select {
	case g.there <- struct{}{}:
	default:
	}
}

func (g *listGroup) take() [gateway.KindCount]listSignal {
	g.mu.Lock()
	defer g.mu.Unlock()
	signals := g.signals
	g.signals = [gateway.KindCount]listSignal{}
	return signals
}

const (
	// relistEvery and relistBurst limit how often a list is read that changes all
	// the time. Changes in between are read together, and the last change is
	// never missed.
	relistEvery = time.Second
	relistBurst = 5
	// otherListsTimeout is how long a start waits for the lists other than tools.
	// Later they are added when they arrive.
	otherListsTimeout = 3 * time.Second
)

// refreshLoop reads the lists of a group whenever they may have changed, until
// ctx ends.
func (s *Server) refreshLoop(ctx context.Context, c conn, g *listGroup) {
	limit := rate.NewLimiter(rate.Every(relistEvery), relistBurst)
	unread := slices.Clone(g.kinds) // those that were not read yet
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.there:
		}
		if limit.Wait(ctx) != nil {
			return
		}
		signals := g.take()
		for _, kind := range g.kinds {
			if signals[kind] != noSignal {
				s.refreshLater(ctx, c, kind, signals[kind])
			}
		}
		if len(unread) == 0 {
			continue
		}
		unread = slices.DeleteFunc(unread, func(kind gateway.Kind) bool { return signals[kind] != noSignal })
		if len(unread) == 0 {
			close(g.listed)
		}
	}
}

// awaitLists waits until each list of a new connection was read once, at most
// otherListsTimeout.
func awaitLists(ctx context.Context, c conn, groups listGroups) {
	patience := time.NewTimer(otherListsTimeout)
	defer patience.Stop()
	for _, g := range groups {
		select {
		case <-g.listed:
		case <-patience.C:
			return
		case <-c.lost():
			return
		case <-ctx.Done():
			return
		}
	}
}

// recheckEvery is how often the lists of a modern server are read that does not
// announce all changes. Legacy lists without announcements do not change.
const recheckEvery = 5 * time.Minute

func (s *Server) recheck(p protocol) *time.Ticker {
	t := time.NewTicker(recheckEvery)
	if p.era != gateway.EraModern || p.announcesAll() {
		t.Stop()
	}
	return t
}

// refreshLater reads a list of a connection in use.
func (s *Server) refreshLater(ctx context.Context, c conn, kind gateway.Kind, how listSignal) {
	again, cancel := context.WithTimeoutCause(ctx, s.set.StartupTimeout,
		gateway.Errorf(gateway.CodeTimeout, "it did not answer within %s", s.set.StartupTimeout))
	defer cancel()
	if err := s.refresh(again, c, kind, how); err != nil && ctx.Err() == nil {
		s.log.Warn("a list could not be read", "kind", kind.String(), "error", err)
	}
}

// listState is the state of a list of the current connection.
type listState struct {
	// asked is when the list was requested; zero when it was answered.
	asked time.Time
	// problem is why the last answer could not be used.
	problem gateway.Text
}

// ListProblem says why a list of a server is missing or old.
type ListProblem struct {
	Kind    gateway.Kind
	Problem gateway.Text
}

// slowList is how long a list may take before Status shows it.
const slowList = otherListsTimeout

// listProblems returns the list problems of a ready server. Called with mu held.
func (s *Server) listProblems(now time.Time) (problems []ListProblem) {
	for _, kind := range gateway.Kinds() {
		state := &s.listStates[kind]
		switch ago := now.Sub(state.asked); {
		case state.problem.Format != "":
			problems = append(problems, ListProblem{kind, state.problem})
		case !state.asked.IsZero() && ago >= slowList:
			problems = append(problems, ListProblem{kind, gateway.Textf("it was asked for %s ago and has not come yet", ago.Round(time.Second))})
		}
	}
	return problems
}

// noteList changes the state of a list.
func (s *Server) noteList(kind gateway.Kind, change func(*listState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.listStates[kind])
}

// refresh reads a list. It saves and publishes the list if it changed or if the
// server announced a change.
func (s *Server) refresh(ctx context.Context, c conn, kind gateway.Kind, how listSignal) (err error) {
	s.noteList(kind, func(l *listState) { l.asked = time.Now() })
	defer s.noteList(kind, func(l *listState) {
		*l = listState{}
		switch {
		case err != nil && ctx.Err() != nil:
			l.problem = problem(context.Cause(ctx))
		case err != nil:
			l.problem = problem(err)
		}
	})
	answer, err := c.list(ctx, kind)
	if err != nil {
		return err
	}
	raw := answer.raw
	p := c.protocol()
	list, err := s.parse(raw, kind, p.era)
	if err != nil {
		return err
	}
	s.mu.Lock()
	fresh := SavedList{
		Fingerprint: s.set.Fingerprint, Era: p.era, Version: p.version, About: p.about,
		Tools: s.known.Tools, Prompts: s.known.Prompts, Resources: s.known.Resources, Templates: s.known.Templates,
		// A legacy server does not say whether it speaks the modern era, too.
		BothEras: p.both || p.era == gateway.EraLegacy && s.known.BothEras,
		Habits:   s.known.Habits, Changes: s.known.Changes, Gone: s.known.Gone, SavedAt: time.Now(),
	}
	sameList := bytes.Equal(raw, *s.known.list(kind)) || len(*s.known.list(kind)) == 0 && string(raw) == "[]"
	*fresh.list(kind) = raw
	same := sameList && sameServer(&fresh, &s.known)
	if !sameList && kind == gateway.KindTool {
		s.noteChanges(&fresh, list)
	}
	if !same {
		s.known = fresh
		s.arrange()
	}
	s.mu.Unlock()
	s.lists[kind].Store(&list)
	s.fresh[kind].Store(answer.fresh)
	if !same {
		s.save(ctx)
	}
	if how == announced || !same && how != implied {
		s.deps.Publish(gateway.Event{Source: s.set.Name, Kind: kind, Announced: how == announced})
	}
	return nil
}

func sameServer(a, b *SavedList) bool {
	return a.Fingerprint == b.Fingerprint && a.Era == b.Era && a.Version == b.Version && a.BothEras == b.BothEras &&
		bytes.Equal(a.About.Capabilities, b.About.Capabilities) && bytes.Equal(a.About.Info, b.About.Info) &&
		a.About.Instructions == b.About.Instructions
}

// save writes known to the store for the next start.
func (s *Server) save(ctx context.Context) {
	s.saving.Lock() // an older state must not be written over a newer one
	defer s.saving.Unlock()
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	if err := s.deps.Lists.SaveList(ctx, s.set.Name, known); err != nil {
		s.log.Warn("what is known of the server could not be kept for the next start", "error", err)
	}
}

// asked learns from a request of the server. A server that asks during calls must
// not be shared meanwhile, and one that asks for roots needs a connection for
// each folder.
func (s *Server) asked(method string) {
	s.mu.Lock()
	habits := s.known.Habits
	if method == "roots/list" {
		s.known.Habits.Roots = true
	} else if capabilityOf(method) != "" {
		s.known.Habits.Asks = true
	}
	learnt := habits != s.known.Habits && s.known.Fingerprint != ""
	s.arrange()
	s.mu.Unlock()
	if learnt {
		go s.save(context.Background())
		if s.deps.Rearranged != nil {
			s.deps.Rearranged()
		}
	}
}

// renewed sends log level and subscriptions again to a server that forgot its
// session.
func (s *Server) renewed(ctx context.Context) {
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	if c != nil {
		s.sentLevel.Lock()
		s.sentLevel.conn = nil
		s.sentLevel.Unlock()
		s.setUp(ctx, c)
	}
}

// setUp sends log level and subscriptions to a new connection.
func (s *Server) setUp(ctx context.Context, c conn) {
	s.syncLogLevel(ctx, c)
	s.watched.renew(ctx, c, s.log)
}
