package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

// How the copy of the tokens in memory follows the store.
const (
	// staleAfter is the promise: a revocation, also by another process, is
	// effective after this time. Nobody is let in on an older copy while the
	// store answers.
	staleAfter = time.Second
	// checkEvery is when the store is asked again, in the background. It is
	// less than staleAfter, so that under steady traffic no request waits.
	checkEvery = 800 * time.Millisecond
	// checkTimeout is how long the store may take to answer.
	checkTimeout = 2 * time.Second
	// grace is how long known tokens go on working while the store fails.
	// After that no token is recognised any more.
	grace = 30 * time.Second
	// unknownPerSecond is how many times per second an unknown token makes the
	// process look into the store: a token that was added a moment ago works at
	// once, and a flood of bad ones does not reach the database.
	unknownPerSecond = 10
)

// Tokens recognises tokens. It is safe for concurrent use.
//
// Verify runs on every request, so it reads an immutable copy of the tokens
// and takes no lock. The copy is renewed by at most one check at a time, and a
// check reads the tokens only when the store's change sequence moved.
type Tokens struct {
	store Store
	clock func() time.Time
	// Changed is told of tokens that were added or revoked here. It is set before the
	// first use; nil for nobody.
	Changed func(operation, name string)
	// Revoked is told of tokens that were revoked, also by another process, once they are
	// refused. It is set before the first use; nil for nobody.
	Revoked func(name string)

	admin    [sha256.Size]byte
	hasAdmin bool

	table   atomic.Pointer[table]
	running atomic.Pointer[check] // nil when none

	// used wakes whoever writes down that tokens were used.
	used chan struct{}

	mu      sync.Mutex // guards what follows
	window  time.Time  // start of the second that lookups counts
	lookups int
	// locals are the clients of this machine that said who they are.
	locals map[string]*use
}

// table is one state of the copy in memory. It is immutable; a check
// replaces it.
type table struct {
	identities map[[sha256.Size]byte]known // nil before the first load
	uses       map[string]*use             // by the tokens' names
	sequence   int64
	// attempted is when the last good check began, or the last bad one ended.
	attempted time.Time
	// failingSince is when the first bad check since the last good one began.
	failingSince time.Time
	err          error
}

// known is a token that is good.
type known struct {
	gateway.Identity
	use *use
}

// check is one look into the store, which any number of requests may wait for.
type check struct{ done chan struct{} }

// NewTokens recognises the tokens in store and, unless it is empty,
// the admin token of the data directory. The store is first asked when
// somebody calls.
func NewTokens(store Store, admin gateway.Secret, clock func() time.Time) *Tokens {
	k := &Tokens{store: store, clock: clock, used: make(chan struct{}, 1), locals: map[string]*use{}}
	if admin != "" {
		k.admin, k.hasAdmin = sha256.Sum256([]byte(admin.Reveal())), true
	}
	k.table.Store(&table{})
	return k
}

// Verify tells who presents the token. The error is CodeUnauthenticated when
// nobody is known by it, and CodeUnavailable when the store has not answered
// for so long that nobody can tell.
func (k *Tokens) Verify(ctx context.Context, presented string) (gateway.Identity, error) {
	if presented == "" {
		return gateway.Identity{}, gateway.Errorf(gateway.CodeUnauthenticated,
			"a token is needed: send it as \"Authorization: Bearer <token>\"; `genkan tokens add NAME` makes one")
	}
	if len(presented) > maxAdminToken {
		return gateway.Identity{}, unknownToken()
	}
	var text [maxAdminToken]byte // on the stack, where a conversion would allocate
	digest := sha256.Sum256(text[:copy(text[:], presented)])
	if !k.isAdmin(digest) && !looksIssued(presented) {
		return gateway.Identity{}, unknownToken()
	}
	return k.identify(ctx, digest)
}

// isAdmin reports whether a token with this hash is the admin token.
//
// Every comparison is between hashes. How far two hashes agree says nothing about
// the secrets, so the map lookups leak nothing of use; the one fixed target, the
// admin token, is compared in constant time anyway.
func (k *Tokens) isAdmin(digest [sha256.Size]byte) bool {
	return k.hasAdmin && subtle.ConstantTimeCompare(digest[:], k.admin[:]) == 1
}

// identify tells whose token has this hash. The errors are those of Verify.
func (k *Tokens) identify(ctx context.Context, digest [sha256.Size]byte) (gateway.Identity, error) {
	if k.isAdmin(digest) {
		// The admin token is not in the store, and works while the store is
		// down: somebody has to repair it.
		return gateway.Identity{ClientID: AdminClient, Admin: true}, nil
	}
	t, now, err := k.current(ctx)
	if err != nil {
		return gateway.Identity{}, err
	}
	if who, ok := t.identities[digest]; ok {
		k.touch(who.use, now)
		return who.Identity, nil
	}
	return k.verifyUnknown(ctx, digest)
}

// Add makes a token and keeps it. The secret is shown to nobody ever again.
func (k *Tokens) Add(ctx context.Context, name string, admin bool) (Token, gateway.Secret, error) {
	token, secret, err := NewToken(name, admin, k.clock())
	if err != nil {
		return Token{}, "", err
	}
	if err := k.store.AddToken(ctx, token); err != nil {
		return Token{}, "", err
	}
	k.tellChanged("tokens add", name)
	// Its first use would find it anyway; this only saves that request the
	// wait, so a failure here is nobody's concern.
	_ = k.checkAnew(ctx)
	return token, secret, nil
}

func (k *Tokens) tellChanged(operation, name string) {
	if k.Changed != nil {
		k.Changed(operation, name)
	}
}

// List lists the tokens by name.
func (k *Tokens) List(ctx context.Context) ([]Token, error) { return k.store.Tokens(ctx) }

// Check returns an error if a client whose request was let in would not be let in any more,
// with the rights that it had.
func (k *Tokens) Check(ctx context.Context, who gateway.Identity) error {
	if gateway.IsLocalClient(who.ClientID) || who.ClientID == AdminClient {
		return nil
	}
	t, _, err := k.current(ctx)
	if err != nil {
		return err
	}
	for _, one := range t.identities {
		if one.ClientID == who.ClientID && (one.Admin || !who.Admin) {
			return nil
		}
	}
	return gateway.Errorf(gateway.CodeUnauthenticated, "the token %q was revoked", who.ClientID)
}

// NameSince returns since when a client has its name, which is when its token was made.
// It is zero for local clients, which have no token.
func (k *Tokens) NameSince(ctx context.Context, who gateway.Identity) (time.Time, error) {
	if who.IsLocal() {
		return time.Time{}, nil
	}
	tokens, err := k.List(ctx)
	for _, t := range tokens {
		if t.Name == who.ClientID {
			return t.CreatedAt, err
		}
	}
	return k.clock(), err // it was revoked a moment ago
}

// Revoke takes a token back. When it returns nil, this process refuses the
// token; others do within a second.
func (k *Tokens) Revoke(ctx context.Context, name string) error {
	if name == AdminClient {
		return gateway.Errorf(gateway.CodeInvalid,
			"the admin token is a file in the data directory: remove the file and restart genkan to get a new one")
	}
	if err := k.store.RevokeToken(ctx, name); err != nil {
		return err
	}
	err := k.checkAnew(ctx)
	k.tellChanged("tokens revoke", name)
	if err == nil {
		err = k.table.Load().err
	}
	if err != nil {
		return &gateway.Error{
			Code: gateway.AsError(err).Code,
			Message: "the token is revoked, but the running genkan could not confirm it yet; " +
				"it stops working there within 30 seconds",
			Err: err,
		}
	}
	return nil
}

// current returns a table to decide by, waiting for the store only when the
// one at hand is too old to be trusted, and the time it is.
func (k *Tokens) current(ctx context.Context) (*table, time.Time, error) {
	now, t := k.clock(), k.table.Load()
	age := now.Sub(t.attempted)
	switch {
	case age < checkEvery:
	case t.usable(now) && (age < staleAfter || t.err != nil):
		// While the store fails, waiting for it again and again would make
		// every request slow; the grace covers them.
		k.start()
	default:
		if err := k.start().wait(ctx); err != nil {
			return nil, now, err
		}
		now, t = k.clock(), k.table.Load()
	}
	if !t.usable(now) {
		return nil, now, t.unavailable()
	}
	return t, now, nil
}

// verifyUnknown looks for a token that the copy does not have.
func (k *Tokens) verifyUnknown(ctx context.Context, digest [sha256.Size]byte) (gateway.Identity, error) {
	if k.mayLookUp() {
		if err := k.checkAnew(ctx); err != nil {
			return gateway.Identity{}, err
		}
	}
	t := k.table.Load()
	if who, ok := t.identities[digest]; ok {
		k.touch(who.use, k.clock())
		return who.Identity, nil
	}
	if t.err != nil {
		// It may be a new token. "Unknown" would make a client throw it away.
		return gateway.Identity{}, t.unavailable()
	}
	return gateway.Identity{}, unknownToken()
}

// mayLookUp spends one of this second's lookups.
func (k *Tokens) mayLookUp() bool {
	now := k.clock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.window) >= time.Second {
		k.window, k.lookups = now, 0
	}
	k.lookups++
	return k.lookups <= unknownPerSecond
}

// start begins a check unless one is running, and returns the running one.
func (k *Tokens) start() *check {
	for {
		if c := k.running.Load(); c != nil {
			return c
		}
		c := &check{done: make(chan struct{})}
		if k.running.CompareAndSwap(nil, c) {
			go k.run(c)
			return c
		}
	}
}

// checkAnew waits for a check that began after the call: one that was running
// already may have read the store before the change that matters.
func (k *Tokens) checkAnew(ctx context.Context) error {
	if c := k.running.Load(); c != nil {
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
	return k.start().wait(ctx)
}

func (c *check) wait(ctx context.Context) error {
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return gateway.AsError(ctx.Err())
	}
}

// run does one check. It belongs to no request, since many may wait for it.
func (k *Tokens) run(c *check) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	old, started := k.table.Load(), k.clock()
	read := make(chan *table, 1)
	go func() { read <- k.read(ctx, old, started) }()
	select {
	case t := <-read:
		k.table.Store(t)
		k.tellRevoked(old, t)
		k.running.Store(nil)
		close(c.done)
	case <-ctx.Done():
		k.table.Store(old.failed(ctx.Err(), started, k.clock()))
		close(c.done)
		// A store that hangs in the kernel does not hear the timeout. It keeps
		// this one goroutine; further checks end at once until it returns.
		<-read
		k.running.Store(nil)
	}
}

func (k *Tokens) tellRevoked(old, now *table) {
	if k.Revoked == nil {
		return
	}
	for name := range old.uses {
		if now.uses[name] == nil {
			k.Revoked(name)
		}
	}
}

// Watch notices tokens that another process revokes while nobody calls. It returns when
// ctx ends.
func (k *Tokens) Watch(ctx context.Context) {
	ticks := time.NewTicker(staleAfter)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			_, _, _ = k.current(ctx) // its error is told to those who call
		case <-ctx.Done():
			return
		}
	}
}

// read asks the store what there is to know after old.
func (k *Tokens) read(ctx context.Context, old *table, started time.Time) *table {
	// The sequence comes first: a change between the two questions is then
	// seen by the next check instead of never.
	sequence, err := k.store.ChangeSequence(ctx)
	if err != nil {
		return old.failed(err, started, k.clock())
	}
	if old.identities != nil && sequence == old.sequence {
		return &table{identities: old.identities, uses: old.uses, sequence: sequence, attempted: started}
	}
	tokens, err := k.store.Tokens(ctx)
	if err != nil {
		return old.failed(err, started, k.clock())
	}
	identities := make(map[[sha256.Size]byte]known, len(tokens))
	uses := make(map[string]*use, len(tokens))
	for _, token := range tokens {
		use := old.identities[token.Hash].use
		if use == nil {
			use = newUse()
		}
		identities[token.Hash] = known{gateway.Identity{ClientID: token.Name, Admin: token.Admin}, use}
		uses[token.Name] = use
	}
	return &table{identities: identities, uses: uses, sequence: sequence, attempted: started}
}

// usable reports whether somebody may be let in by this table, as far as the
// store's health is concerned.
func (t *table) usable(now time.Time) bool {
	return t.identities != nil && (t.err == nil || now.Sub(t.failingSince) <= grace)
}

// failed is the table after a check that failed: the same tokens, under
// reserve.
func (t *table) failed(err error, started, ended time.Time) *table {
	next := *t
	next.attempted, next.err = ended, err
	if t.err == nil {
		next.failingSince = started
	}
	return &next
}

func (t *table) unavailable() error {
	return &gateway.Error{
		Code:       gateway.CodeUnavailable,
		Message:    "tokens cannot be checked, because the database does not answer; try again in a moment, and see genkan's log if it lasts",
		Err:        t.err,
		RetryAfter: time.Second,
	}
}

func unknownToken() error {
	return gateway.Errorf(gateway.CodeUnauthenticated,
		"the token is not known here, or was revoked: check it for missing characters, or make a new one with `genkan tokens add NAME`")
}
