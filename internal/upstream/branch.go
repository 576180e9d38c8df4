package upstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// The ways to share a server.
const (
	// IsolationAuto is IsolationRoot for servers that work in their client's
	// folder, IsolationSession for those known to keep state, and otherwise
	// IsolationShared.
	IsolationAuto = "auto"
	// IsolationShared is one connection for everybody, whatever it asks.
	IsolationShared = "shared"
	// IsolationSession is one for each client's session, and for each caller
	// whose requests stand alone.
	IsolationSession = "session"
	// IsolationRoot is one for each folder that clients work in.
	IsolationRoot = "root"
)

// WorkspaceFolder stands in a server's command, arguments, environment and
// directory for the folder that the client works in.
const WorkspaceFolder = "${workspaceFolder}"

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
	// roots are where clients work, as they said themselves.
	roots map[string]knownRoots
	open  sync.WaitGroup
}

type branch struct {
	key branchKey
	// watched are the resources that its callers want to hear of.
	watched watches
	// orphan: the session that it was for is over.
	orphan bool
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

// seat is where a call sits: a connection, and what is watched on it.
type seat struct {
	conn
	watched *watches
	// release is called when the call is done.
	release func()
}

// trunk is the seat on the connection that everybody shares.
func (s *Server) trunk(ctx context.Context) (seat, error) {
	c, err := s.ready(ctx)
	return seat{c, &s.watched, func() {}}, err
}

// purpose is what a seat is for.
type purpose bool

const (
	toCall purpose = false
	// toWatch leaves the connection to the calls, and keeps it open.
	toWatch purpose = true
)

// place finds the connection for a call, or for what its caller watches.
func (s *Server) place(ctx context.Context, call *gateway.Call, why purpose) (seat, error) {
	if !s.apart.Load() {
		return s.trunk(ctx)
	}
	s.mu.Lock()
	habits, era := s.known.Habits, s.known.Era
	s.mu.Unlock()
	if s.set.URL != "" && era == gateway.EraModern { // every request stands alone there anyway
		return s.trunk(ctx)
	}
	mode := s.isolation(habits)
	var where home
	if mode == IsolationRoot || mode == IsolationSession {
		where = s.homeOf(ctx, call)
	}
	if s.set.usesWorkspace() && where.dir == "" {
		return seat{}, &gateway.Error{
			Code: gateway.CodeInvalid, Unsent: true,
			Message: "server %s works in the client's folder, and this client did not say which: use a client that announces its roots, or write the folder into the configuration",
			Values:  []any{s.set.Name},
		}
	}
	// One that asks its client during calls must know whom, unless it was said
	// to be one for all. A session has one child, which remembers what it did;
	// of calls that stand alone each needs its own while it lasts.
	asks := habits.Asks && s.set.Isolation != IsolationShared && era != gateway.EraModern && s.sharesOneWire() && asksPeople(call.Capabilities())
	want := branchKey{alone: asks && call.Era == gateway.EraModern}
	if mode == IsolationRoot {
		want.root = where.key()
	}
	if mode == IsolationSession || asks {
		want.session = sessionKey(call)
	}
	if want.root == "" && want.session == "" {
		return s.trunk(ctx)
	}
	found, err := s.branch(ctx, want, why, func(ctx context.Context, one *branch) (conn, error) {
		return s.grow(ctx, call, mode, where, one)
	})
	if errors.Is(err, errNoBranch) && mode == IsolationShared {
		return s.trunk(ctx) // its questions may go unheard there, but it is served
	}
	return found, err
}

// sharesOneWire reports whether nothing tells the server's messages for one
// call from those for another.
func (s *Server) sharesOneWire() bool {
	return s.set.URL == "" || s.set.Transport == TransportSSE || s.isSSE.Load()
}

// sessionKey tells callers apart that must not share a connection.
func sessionKey(call *gateway.Call) string {
	if call.Session != nil {
		return call.Session.ID
	}
	return "of " + call.Identity.ClientID
}

// isolation is the mode that holds for the server.
func (s *Server) isolation(habits Habits) string {
	switch mode := cmp.Or(s.set.Isolation, IsolationAuto); {
	case mode != IsolationAuto:
		return mode
	case s.set.usesWorkspace() || habits.Roots && s.sharesOneWire():
		return IsolationRoot
	case s.set.keepsState():
		return IsolationSession
	default:
		return IsolationShared
	}
}

// mayBeApart reports whether a call may need a connection of its own.
func (s *Server) mayBeApart(habits Habits) bool {
	return s.set.Isolation != IsolationShared && (habits != Habits{} || s.isolation(habits) != IsolationShared)
}

// keepsState knows servers that hold one browser, say, for whoever calls.
func (s *Settings) keepsState() bool {
	line := strings.Join(append([]string{s.Command}, s.Args...), " ")
	for _, word := range []string{"playwright", "puppeteer", "chrome-devtools-mcp"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

func (s *Settings) usesWorkspace() bool {
	for _, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if strings.Contains(text, WorkspaceFolder) {
			return true
		}
	}
	for _, value := range s.Env {
		if strings.Contains(value.Reveal(), WorkspaceFolder) {
			return true
		}
	}
	return false
}

// in is the settings of a server that works in a folder.
func (s Settings) in(dir string) Settings {
	put := func(text string) string { return strings.ReplaceAll(text, WorkspaceFolder, dir) }
	if s.usesWorkspace() {
		args, env := make([]string, len(s.Args)), map[string]gateway.Secret{}
		for i, arg := range s.Args {
			args[i] = put(arg)
		}
		for name, value := range s.Env {
			env[name] = gateway.Secret(put(value.Reveal()))
		}
		s.Command, s.Dir, s.Args, s.Env = put(s.Command), put(s.Dir), args, env
	}
	if s.Dir == "" {
		s.Dir = dir
	}
	return s
}

// nowhere is the folder of the connection that is only there for the lists.
func nowhere() string {
	dir := filepath.Join(os.TempDir(), "genkan-no-workspace")
	_ = os.MkdirAll(dir, 0o700)
	return dir
}

// home is where a client works.
type home struct {
	// roots is the answer to roots/list; nil when the client did not say.
	roots []byte
	dir   string
}

// key tells places apart by their URIs: the names that clients give them differ.
func (h home) key() string {
	digest := sha256.New()
	found := false
	_ = jsonrpc.Elements(jsonrpc.Lookup(h.roots, "roots"), func(root []byte) bool {
		found = true
		digest.Write([]byte(strings.TrimSuffix(jsonrpc.LookupText(root, "uri"), "/") + "\x00"))
		return true
	})
	if !found {
		return ""
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}

type knownRoots struct {
	version int
	home    home
}

// rootsPatience is how long a client may take to say where it works. No person
// is asked for that.
const rootsPatience = 10 * time.Second

// homeOf finds out where the caller's client works: it is asked once, and again
// when it has said that this changed. A modern client could only be asked by
// answering its call with the question, so it is not.
func (s *Server) homeOf(ctx context.Context, call *gateway.Call) home {
	session := call.Session
	if session == nil {
		return home{}
	}
	if call.Era == gateway.EraModern || jsonrpc.Lookup(session.Capabilities, "roots") == nil {
		if session.Dir == "" {
			return home{}
		}
		uri := (&url.URL{Scheme: "file", Path: filepath.ToSlash(session.Dir)}).String()
		root := append(jsonrpc.AppendQuoted([]byte(`{"roots":[{"uri":`), uri), `,"name":`...)
		return home{roots: append(jsonrpc.AppendQuoted(root, filepath.Base(session.Dir)), "}]}"...), dir: session.Dir}
	}
	b := &s.branches
	b.mu.Lock()
	known, ok := b.roots[session.ID]
	b.mu.Unlock()
	if ok && known.version == session.Roots {
		return known.home
	}
	ctx, cancel := context.WithTimeout(ctx, rootsPatience)
	defer cancel()
	var where home
	roots, err := call.Ask(ctx, "roots/list", []byte("{}"))
	if err != nil {
		s.log.Warn("a client does not say where it works", "error", err)
	} else {
		where = home{roots: roots, dir: firstFolder(roots)}
	}
	const most = 1000
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.roots) >= most || b.roots == nil {
		b.roots = map[string]knownRoots{} // asked anew, which costs little
	}
	b.roots[session.ID] = knownRoots{session.Roots, where}
	return where
}

// firstFolder is the path of the first root that is a folder here.
func firstFolder(roots []byte) string {
	found := ""
	_ = jsonrpc.Elements(jsonrpc.Lookup(roots, "roots"), func(root []byte) bool {
		u, err := url.Parse(jsonrpc.LookupText(root, "uri"))
		if err == nil && u.Scheme == "file" && filepath.IsAbs(filepath.FromSlash(u.Path)) {
			found = filepath.FromSlash(u.Path)
		}
		return found == ""
	})
	return found
}

// grow opens a connection for a branch.
func (s *Server) grow(ctx context.Context, call *gateway.Call, mode string, where home, one *branch) (conn, error) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	us := self{version: s.deps.Version, capabilities: allCapabilities}
	if capabilities := call.Capabilities(); mode == IsolationSession && capabilities != nil {
		us.capabilities = string(withoutTasks(capabilities))
	}
	e := ears{
		changed: func(gateway.Kind, hearing) {}, // lists are the first connection's
		updated: one.watched.updated, asked: s.asked, renewed: func() {},
	}
	set := s.set
	if where.dir != "" {
		set = set.in(where.dir)
	}
	c, err := s.dial(ctx, set, us, known.Era, e, where.roots)
	if err != nil {
		return nil, err
	}
	if level, _ := call.LogLevel(); level != "" {
		s.sendLevel(ctx, c, level)
	}
	return c, nil
}

// branchKey says whose a branch is.
type branchKey struct {
	// root and session are empty where they make no difference.
	root, session string
	// alone: one call at a time; number tells such branches apart.
	alone  bool
	number int
}

// errNoBranch: no more connections may be opened for the caller.
var errNoBranch = errors.New("too many connections for some callers only")

// mostAlone is how many connections a caller may have for calls that stand
// alone: nobody may take all.
const mostAlone = mostBranches / 4

// branch finds or opens the connection under a key. Of those for one call at a
// time the first that is free is taken, so that one call after the other finds
// the same.
func (s *Server) branch(ctx context.Context, want branchKey, why purpose, grow func(context.Context, *branch) (conn, error)) (seat, error) {
	b := &s.branches
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return seat{}, s.removed()
	}
	found := b.find(&want, why)
	if found == nil {
		if want.number >= mostAlone || !b.makeRoom() {
			b.mu.Unlock()
			return seat{}, &gateway.Error{
				Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second, Err: errNoBranch,
				Message: "server %s has %d connections of its own for clients already, and all are in use; try again later",
				Values:  []any{s.set.Name, len(b.byKey)},
			}
		}
		found = b.add(want)
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
	return seat{found.conn, &found.watched, release}, nil
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

// makeRoom sees to it that one more may be opened. Called with mu held.
func (b *branches) makeRoom() bool {
	if len(b.byKey) < mostBranches {
		return true
	}
	var oldest *branch
	for _, one := range b.byKey {
		if one.isIdle() && (oldest == nil || one.lastUsed.Before(oldest.lastUsed)) {
			oldest = one
		}
	}
	if oldest == nil {
		return false
	}
	b.end(oldest)
	return true
}

// add makes an entry for a branch that is being opened. Called with mu held.
func (b *branches) add(key branchKey) *branch {
	if b.byKey == nil {
		b.byKey = map[branchKey]*branch{}
	}
	one := &branch{key: key, there: make(chan struct{}), unwanted: make(chan struct{}), lastUsed: time.Now()}
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
	delete(b.roots, session)
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
