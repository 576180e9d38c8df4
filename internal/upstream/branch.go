package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

const (
	// mostBranches is how many connections a server may have beside the first.
	mostBranches = 32
	// branchIdle is how long one is kept that nobody uses.
	branchIdle = 30 * time.Minute
)

// branches are connections for some callers only: of one session, of one
// folder, or of one call at a time; they grow from the trunk, the connection
// that everybody shares. They are opened by the call that needs
// them and closed when nobody has for long. The lists come from the first
// connection, which everybody shares.
type branches struct {
	mu     sync.Mutex
	byKey  map[branchKey]*branch
	closed bool
	// stated are the roots that clients have stated, by session.
	stated map[string]statedRoots
	open   sync.WaitGroup
}

type branch struct {
	key branchKey
	// owner is the ClientID of the caller that opened it, whose share it counts
	// against, also where others of the same folder use it.
	owner string
	// watched are the resources that its callers want to hear of.
	watched watches
	// orphan: the session that it was for is over.
	orphan bool
	// home is where its client works, as its server knows it.
	home home
	// tidy removes what was made for its server; nil for nothing.
	tidy func()
	// there is closed when conn or err is set.
	there chan struct{}
	conn  conn
	err   error

	// unwanted is closed when it is to end.
	unwanted chan struct{}

	// users are calls; watchers keep it open, but leave it to one call.
	users, watchers int
	lastUsed        time.Time
	idle            *time.Timer
}

// grow opens a connection for a branch.
func (s *Server) grow(ctx context.Context, call *gateway.Call, mode string, where home, one *branch) (conn, error) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	us := self{version: s.deps.Version, capabilities: capabilitiesFor(call, mode, one.key)}
	e := ears{
		changed: func(gateway.Kind, hearing) {}, // lists are the first connection's
		updated: one.watched.updated, progressed: one.watched.progressed, asked: s.asked, renewed: func() {},
	}
	set := s.set
	if where.dir != "" {
		// Callers with a token may be able to write in their folder, and a program
		// such as npx runs what it finds where it is started. So the process starts
		// elsewhere, unless the configuration says cwd.
		if !call.Identity.IsLocal() && set.Command != "" && set.Dir == "" {
			dir, remove, err := s.deps.Launcher.EmptyDir(set.Name)
			if err != nil {
				return nil, err
			}
			set.Dir, one.tidy = dir, remove
		}
		set = set.in(where.dir)
	}
	one.home = where
	if err := s.stillAllowed(call, where); err != nil {
		return nil, err
	}
	c, err := s.dial(ctx, set, us, known.Era, e, where.roots)
	if err != nil {
		return nil, err
	}
	// Somebody may have put a link in the folder's place while the server started.
	if err := s.stillAllowed(call, where); err != nil {
		c.close()
		return nil, err
	}
	if level, _ := call.LogLevel(); level != "" {
		s.sendLevel(ctx, c, level)
	}
	return c, nil
}

// stillAllowed checks once more that a server may work in its client's folder,
// and that the path still leads there.
func (s *Server) stillAllowed(call *gateway.Call, where home) error {
	if where.dir == "" {
		return nil
	}
	path, why := s.folder(call.Identity, where.dir)
	if path == where.dir {
		return nil
	}
	if path != "" {
		why = gateway.Textf("it was replaced by a link just now")
	}
	return &gateway.Error{
		Code: gateway.CodeInvalid, Unsent: true,
		Message: "server %s works in the client's folder, and the folder %q was not used: %s",
		Values:  []any{s.set.Name, where.dir, why},
	}
}

// branchKey says whose a branch is.
type branchKey struct {
	// root and session are empty where they make no difference.
	root, session string
	// guest: its callers have a token, so that its process was not started in their
	// folder. It makes no difference where there is a session.
	guest bool
	// alone: one call at a time; number tells such branches apart.
	alone  bool
	number int
}

// errNoBranch: no more connections may be opened for the caller.
var errNoBranch = errors.New("too many connections for some callers only")

// mostAlone is how many connections a caller may have for calls that stand
// alone: nobody may take all.
const mostAlone = mostBranches / 4

// branch finds or opens the connection under a key, for a client. Of those for one call at a
// time the first that is free is taken, so that one call after the other finds
// the same.
func (s *Server) branch(ctx context.Context, client string, want branchKey, why purpose, grow func(context.Context, *branch) (conn, error)) (seat, error) {
	b := &s.branches
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return seat{}, s.removed()
	}
	found := b.find(&want, why)
	if found == nil {
		if want.number >= mostAlone || !b.makeRoom(client) {
			held, all := b.held()[client], len(b.byKey)
			b.mu.Unlock()
			return seat{}, &gateway.Error{
				Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second, Err: errNoBranch,
				Message: "server %s has no connection left for this client now: %d of %d are this client's, and all are in use. End some of the client's calls, or try again later",
				Values:  []any{s.set.Name, held, all},
			}
		}
		found = b.add(want, client)
		b.open.Go(func() { s.tend(found, grow) })
	}
	seats := &found.users
	if why == toWatch {
		seats = &found.watchers
	}
	*seats++
	if found.idle != nil {
		found.idle.Stop()
	}
	b.mu.Unlock()
	release := sync.OnceFunc(func() { b.release(found, seats) })
	select {
	case <-found.there:
	case <-ctx.Done():
		release()
		return seat{}, s.notStarted(ctx)
	}
	if found.err != nil {
		release()
		return seat{}, unsent(found.err)
	}
	return seat{conn: found.conn, watched: &found.watched, branch: found, release: release}, nil
}

// find returns the branch under a key that a call may use, or nil and the key
// of the one to open. Called with mu held.
func (b *branches) find(want *branchKey, why purpose) *branch {
	for ; want.number < mostAlone; want.number++ {
		one := b.byKey[*want]
		if one == nil || !want.alone || one.users == 0 || why == toWatch {
			return one
		}
	}
	return nil
}

// makeRoom makes sure that a client may open one more. Clients share the
// branches as in gateway.Shares. A client that has used up its share gets its new
// branch in place of its own longest-idle one. Only a client without any branch
// takes that of another: the longest-idle one of the client that has the most.
// Otherwise many clients with one idle branch each would lock out the next.
// Called with mu held.
func (b *branches) makeRoom(client string) bool {
	held := b.held()
	if gateway.WithinShare(int64(held[client]), 1, int64(mostBranches-len(b.byKey))) {
		return true
	}
	var victim *branch
	for _, one := range b.byKey {
		switch {
		case !one.isIdle() || held[client] > 0 && one.owner != client:
		case victim == nil || held[one.owner] > held[victim.owner],
			held[one.owner] == held[victim.owner] && one.lastUsed.Before(victim.lastUsed):
			victim = one
		}
	}
	if victim == nil {
		return false
	}
	b.end(victim)
	return true
}

// held counts the branches of each client. Called with mu held.
func (b *branches) held() map[string]int {
	held := map[string]int{}
	for _, one := range b.byKey {
		held[one.owner]++
	}
	return held
}

// add makes an entry for a branch that is being opened. Called with mu held.
func (b *branches) add(key branchKey, owner string) *branch {
	if b.byKey == nil {
		b.byKey = map[branchKey]*branch{}
	}
	one := &branch{key: key, owner: owner, there: make(chan struct{}), unwanted: make(chan struct{}), lastUsed: time.Now()}
	b.byKey[key] = one
	return one
}

// end takes a branch out of the list and has it closed. Called with mu held.
func (b *branches) end(one *branch) {
	if b.drop(one) {
		close(one.unwanted)
	}
}

// endAll has all branches closed; the next calls open others.
func (b *branches) endAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.byKey {
		b.end(one)
	}
}

// Forget ends what was only there for a session that is over.
func (s *Server) Forget(session string) {
	b := &s.branches
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.stated, session)
	for key, one := range b.byKey {
		if key.session == session {
			if one.orphan = true; one.isIdle() {
				b.end(one)
			}
		}
	}
}

func (b *branch) isIdle() bool { return b.users+b.watchers == 0 }

// release gives up a call's seat, or a watcher's.
func (b *branches) release(one *branch, seats *int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*seats--
	one.lastUsed = time.Now()
	switch {
	case !one.isIdle() || b.closed:
	case one.orphan:
		b.end(one)
	default:
		one.idle = time.AfterFunc(branchIdle, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			if one.isIdle() {
				b.end(one)
			}
		})
	}
}

// drop takes a branch out of the list. Called with mu held.
func (b *branches) drop(one *branch) bool {
	if b.byKey[one.key] != one {
		return false
	}
	delete(b.byKey, one.key)
	return true
}

// tend opens a branch and waits until its connection is lost.
func (s *Server) tend(one *branch, grow func(context.Context, *branch) (conn, error)) {
	b := &s.branches
	ctx, cancel := context.WithTimeoutCause(s.life, s.set.StartupTimeout, s.tooSlow())
	c, err := grow(ctx, one)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel()
	one.conn, one.err = c, err
	close(one.there)
	if err == nil {
		select {
		case <-c.lost():
		case <-one.unwanted:
		case <-s.life.Done():
		}
	}
	b.mu.Lock()
	b.drop(one)
	if one.idle != nil {
		one.idle.Stop()
	}
	b.mu.Unlock()
	if err == nil {
		c.close()
	}
	if one.tidy != nil {
		one.tidy()
	}
}

// close ends all branches and waits for them. The server's life has ended.
func (b *branches) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.open.Wait()
}

// count is how many there are.
func (b *branches) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byKey)
}
