package upstream

import (
	"bytes"
	"context"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// ears are how a connection tells its server what it hears.
type ears struct {
	// changed: a list is another one, by the server's own word or because we
	// could not hear for a while.
	changed func(kind gateway.Kind, how hearing)
	// updated: a resource is another one.
	updated func(uri string)
	// progressed: a task of the modern era is in another state.
	progressed func(state []byte)
	// asked: the server asked something of its client.
	asked func(method string)
	// renewed: the server has forgotten us, wishes included, and was told anew.
	renewed func()
}

// heard tells of a list_changed notification. It reports false for anything
// else.
func (e ears) heard(method string) bool {
	found := false
	for _, kind := range gateway.Kinds() {
		switch {
		case kind.Changed() != method:
			continue
		case kind == gateway.KindTemplate:
			e.changed(kind, unspoken) // resources are announced with it
		default:
			e.changed(kind, announced)
		}
		found = true
	}
	return found
}

// missed is said when notifications may have been lost.
func (e ears) missed() {
	for _, kind := range gateway.Kinds() {
		e.changed(kind, suspected)
	}
}

// missedOf is said when notifications about a topic may have been lost.
func (e ears) missedOf(of topic) {
	if !of.isTask {
		e.updated(of.name)
	}
}

// hearing is what is known about a list: nothing new, or a reason to ask again.
type hearing uint8

const (
	nothing hearing = iota
	// unspoken is a list whose change is told by another one's.
	unspoken
	suspected
	announced
)

// news gathers what changed until the supervisor looks.
type news struct {
	there chan struct{}
	mu    sync.Mutex
	kinds [gateway.KindCount]hearing
}

func newNews() *news { return &news{there: make(chan struct{}, 1)} }

func (n *news) add(kind gateway.Kind, how hearing) {
	n.mu.Lock()
	n.kinds[kind] = max(n.kinds[kind], how)
	n.mu.Unlock()
	select {
	case n.there <- struct{}{}:
	default:
	}
}

func (n *news) take() [gateway.KindCount]hearing {
	n.mu.Lock()
	defer n.mu.Unlock()
	kinds := n.kinds
	n.kinds = [gateway.KindCount]hearing{}
	return kinds
}

// recheckEvery is how often a modern server that does not announce all changes
// is asked for its lists. In the legacy era such a list is for ever.
const recheckEvery = 5 * time.Minute

func (s *Server) recheck(p protocol) *time.Ticker {
	t := time.NewTicker(recheckEvery)
	if p.era != gateway.EraModern || p.announcesAll() {
		t.Stop()
	}
	return t
}

// refreshAll asks a fresh connection for everything. Only the tools must be
// there: a server that fails over its prompts still has its tools.
func (s *Server) refreshAll(ctx context.Context, c conn) error {
	if err := s.refresh(ctx, c, gateway.KindTool, suspected); err != nil {
		return err
	}
	for _, kind := range gateway.Kinds()[1:] {
		if err := s.refresh(ctx, c, kind, suspected); err != nil {
			if c.cause() != nil || ctx.Err() != nil {
				return err
			}
			s.log.Warn("a list could not be read", "kind", kind.String(), "error", err)
		}
	}
	s.settle()
	return nil
}

// refreshHeard asks for the lists that are said to be others. Templates come
// before the resources that speak for them.
func (s *Server) refreshHeard(ctx context.Context, c conn, heard [gateway.KindCount]hearing) {
	for _, kind := range []gateway.Kind{gateway.KindTool, gateway.KindPrompt, gateway.KindTemplate, gateway.KindResource} {
		if heard[kind] != nothing {
			s.refreshLater(ctx, c, kind, heard[kind])
		}
	}
}

func (s *Server) refreshLater(ctx context.Context, c conn, kind gateway.Kind, how hearing) {
	again, cancel := context.WithTimeout(ctx, s.set.StartupTimeout)
	defer cancel()
	if err := s.refresh(again, c, kind, how); err != nil && ctx.Err() == nil {
		s.log.Warn("a changed list could not be read", "kind", kind.String(), "error", err)
	}
}

// refresh asks for a list, and keeps and announces it if it is another one, or
// if the server itself announced it.
func (s *Server) refresh(ctx context.Context, c conn, kind gateway.Kind, how hearing) error {
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
		Habits: s.known.Habits, Changes: s.known.Changes, Gone: s.known.Gone, SavedAt: time.Now(),
	}
	sameList := bytes.Equal(raw, *s.known.list(kind)) || len(*s.known.list(kind)) == 0 && string(raw) == "[]"
	*fresh.list(kind) = raw
	same := sameList && sameServer(&fresh, &s.known)
	if !sameList && kind == gateway.KindTool {
		s.noteChanges(&fresh, list)
	}
	if !same {
		s.known = fresh
	}
	s.mu.Unlock()
	s.lists[kind].Store(&list)
	s.fresh[kind].Store(answer.fresh)
	if !same {
		s.keep(ctx)
	}
	if how == announced || !same && how != unspoken {
		s.deps.Publish(gateway.Event{Source: s.set.Name, Kind: kind, Announced: how == announced})
	}
	return nil
}

func sameServer(a, b *SavedList) bool {
	return a.Fingerprint == b.Fingerprint && a.Era == b.Era && a.Version == b.Version &&
		bytes.Equal(a.About.Capabilities, b.About.Capabilities) && bytes.Equal(a.About.Info, b.About.Info) &&
		a.About.Instructions == b.About.Instructions
}

// keep saves what is known for the next start.
func (s *Server) keep(ctx context.Context) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	if err := s.deps.Lists.SaveList(ctx, s.set.Name, known); err != nil {
		s.log.Warn("what is known of the server could not be kept for the next start", "error", err)
	}
}

// asked learns from a request of the server's: one that asks during calls must
// not be shared with others while it does, and one that wants to know where its
// client works is another one for each place.
func (s *Server) asked(method string) {
	s.mu.Lock()
	habits := s.known.Habits
	if method == "roots/list" {
		s.known.Habits.Roots = true
	} else if capabilityOf(method) != "" {
		s.known.Habits.Asks = true
	}
	learnt := habits != s.known.Habits && s.known.Fingerprint != ""
	s.apart.Store(s.mayBeApart(s.known.Habits))
	s.mu.Unlock()
	if learnt {
		go s.keep(context.Background())
		if s.deps.Rearranged != nil {
			s.deps.Rearranged()
		}
	}
}

// renewed tells a server that forgot its session what clients wish.
func (s *Server) renewed(ctx context.Context) {
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	if c != nil {
		s.levelTold.Lock()
		s.levelTold.conn = nil
		s.levelTold.Unlock()
		s.setUp(ctx, c)
	}
}

// setUp tells a fresh connection what clients wished of the former one.
func (s *Server) setUp(ctx context.Context, c conn) {
	s.tellLevel(ctx, c)
	s.watched.renew(ctx, c, s.log)
}
