package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// How long browsers stay signed in, and how many there may be.
const (
	// SessionLife is when a session ends, however much it is used, and sessionIdle
	// when one that is not used ends.
	SessionLife = 30 * 24 * time.Hour
	sessionIdle = 7 * 24 * time.Hour
	// noteSessionEvery is how often the use of a session is written down.
	noteSessionEvery = 10 * time.Minute
	// maxSessions is the number of sessions that are kept for each token. A further one
	// ends the one of the same token that has not been used for longest.
	maxSessions = 20
	// maxKnown is the number of sessions that are kept in memory.
	maxKnown = 1000
	// CodeLife is how long a code can be used. It may stand in a terminal, in a
	// chat or on a clipboard for longer than that, so it does not live until it is
	// used.
	CodeLife = 10 * time.Minute
	// maxCodes is how many codes can be used at a time. A further one ends the oldest.
	maxCodes = 16
)

// Session is what is kept of a browser that has signed in.
type Session struct {
	// Hash is the SHA-256 of the secret in the browser's cookie, and Token that of
	// the token whose rights the session has. A session ends with its token.
	Hash, Token [sha256.Size]byte
	// CreatedAt and UsedAt are in UTC, in microseconds. UsedAt is about.
	CreatedAt, UsedAt time.Time
}

// ended reports whether a session is too old, or was not used for too long.
func (s *Session) ended(now time.Time) bool {
	return now.Sub(s.CreatedAt) >= SessionLife || now.Sub(s.UsedAt) >= sessionIdle
}

// SessionStore keeps sessions, so that a restart signs nobody out.
type SessionStore interface {
	// Session returns the session with a hash. It fails with gateway.CodeNotFound when
	// there is none.
	Session(ctx context.Context, hash [sha256.Size]byte) (Session, error)
	// AllSessions returns all sessions, the one that was used last first.
	AllSessions(ctx context.Context) ([]Session, error)
	// AddSession adds a session, and removes those that the limits do not keep.
	AddSession(ctx context.Context, session Session, limits SessionLimits) error
	// NoteSession writes down when a session was used.
	NoteSession(ctx context.Context, hash [sha256.Size]byte, at time.Time) error
	// EndSession removes a session; none is fine.
	EndSession(ctx context.Context, hash [sha256.Size]byte) error
}

// SessionLimits say which sessions are kept: those that were created and used after a
// time, and of the token of the added session the Most that were used last.
type SessionLimits struct {
	CreatedAfter, UsedAfter time.Time
	Most                    int
}

// Sessions are the sessions of browsers. A browser signs in with a token, or with a
// code that was given to an administrator and works once. It is safe for concurrent
// use.
type Sessions struct {
	// Count counts a sign-in with a token against the rate limit of its client. It
	// returns an error if the limit is reached. Administrators are not counted, because
	// a script with their token must not lock them out. Set it before the first
	// sign-in; may be nil.
	Count func(who gateway.Identity) error

	tokens *Tokens
	store  SessionStore
	clock  func() time.Time

	mu    sync.Mutex
	codes []code // the oldest first
	// known are sessions that were read from the store lately.
	known map[[sha256.Size]byte]knownSession
}

// code is what is kept of a code.
type code struct {
	hash  [sha256.Size]byte
	until time.Time
}

// knownSession is a session and when it was read.
type knownSession struct {
	Session
	readAt time.Time
}

// NewSessions returns the sessions in store, which have the rights of tokens.
func NewSessions(tokens *Tokens, store SessionStore, clock func() time.Time) *Sessions {
	return &Sessions{tokens: tokens, store: store, clock: clock, known: map[[sha256.Size]byte]knownSession{}}
}

// NewCode makes a code with which one browser can sign in as administrator. It works
// until the time that NewCode returns.
func (s *Sessions) NewCode() (gateway.Secret, time.Time) {
	text, until := rand.Text(), s.clock().Add(CodeLife) // 130 bits
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes = append(s.codes, code{sha256.Sum256([]byte(text)), until})
	if len(s.codes) > maxCodes {
		s.codes = slices.Delete(s.codes, 0, 1)
	}
	return gateway.Secret(text), until
}

// CodesUntil returns until when one of the codes that were not used works.
func (s *Sessions) CodesUntil() (last time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.codes {
		if c.until.After(last) {
			last = c.until
		}
	}
	return last
}

// Redeem signs a browser in as administrator and returns the secret for its cookie.
func (s *Sessions) Redeem(ctx context.Context, text string) (gateway.Identity, gateway.Secret, error) {
	used, ok := s.useCode(sha256.Sum256([]byte(text)))
	if !ok {
		return gateway.Identity{}, "", gateway.Errorf(gateway.CodeUnauthenticated,
			"this link does not work: it was used already, is older than %d minutes, or is not complete; `genkan ui` makes a new one", int(CodeLife.Minutes()))
	}
	id, secret, err := s.begin(ctx, s.tokens.admin)
	if err != nil {
		// Nobody has signed in, so the person may try again.
		s.mu.Lock()
		s.codes = append([]code{used}, s.codes...)
		s.mu.Unlock()
	}
	return id, secret, err
}

// useCode takes a code away and reports whether it was good.
func (s *Sessions) useCode(hash [sha256.Size]byte) (code, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.codes, func(c code) bool { return c.hash == hash })
	if i < 0 {
		return code{}, false
	}
	used := s.codes[i]
	s.codes = slices.Delete(s.codes, i, i+1)
	return used, s.clock().Before(used.until)
}

// SignIn signs a browser in with a token and returns the secret for its cookie. The
// errors are those of Tokens.Verify and of Count.
func (s *Sessions) SignIn(ctx context.Context, token string) (gateway.Identity, gateway.Secret, error) {
	id, err := s.tokens.Verify(ctx, token)
	if err == nil && !id.Admin && s.Count != nil {
		err = s.Count(id)
	}
	if err != nil {
		return gateway.Identity{}, "", err
	}
	return s.begin(ctx, sha256.Sum256([]byte(token)))
}

// begin adds a session with the rights of a token.
func (s *Sessions) begin(ctx context.Context, token [sha256.Size]byte) (gateway.Identity, gateway.Secret, error) {
	id, err := s.tokens.identify(ctx, token)
	if err != nil {
		return gateway.Identity{}, "", err
	}
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	secret := base64.RawURLEncoding.EncodeToString(b[:])
	now := s.clock().UTC().Truncate(time.Microsecond)
	session := Session{Hash: sha256.Sum256([]byte(secret)), Token: token, CreatedAt: now, UsedAt: now}
	limits := SessionLimits{CreatedAfter: now.Add(-SessionLife), UsedAfter: now.Add(-sessionIdle), Most: maxSessions}
	if err := s.store.AddSession(ctx, session, limits); err != nil {
		return gateway.Identity{}, "", err
	}
	s.keep(session, now) // its first request is no search for an unknown session
	return id, gateway.Secret(secret), nil
}

// Verify tells who has signed in with the browser whose cookie has a secret. The
// errors are those of Tokens.Verify.
func (s *Sessions) Verify(ctx context.Context, secret string) (gateway.Identity, error) {
	hash := sha256.Sum256([]byte(secret))
	session, err := s.find(ctx, hash)
	if err != nil {
		return gateway.Identity{}, err
	}
	now := s.clock()
	if session.ended(now) {
		return gateway.Identity{}, s.lost(ctx, hash)
	}
	id, err := s.tokens.identify(ctx, session.Token)
	if err != nil && gateway.AsError(err).Code == gateway.CodeUnauthenticated {
		return gateway.Identity{}, s.lost(ctx, hash)
	}
	if err == nil && now.Sub(session.UsedAt) >= noteSessionEvery {
		s.note(ctx, session, now)
	}
	id.Page = err == nil
	return id, err
}

// find returns a session that was read at most staleAfter ago. It looks for unknown
// sessions only a few times per second, as Tokens does for unknown tokens.
func (s *Sessions) find(ctx context.Context, hash [sha256.Size]byte) (Session, error) {
	now := s.clock()
	s.mu.Lock()
	known, ok := s.known[hash]
	s.mu.Unlock()
	if ok && now.Sub(known.readAt) < staleAfter {
		return known.Session, nil
	}
	if !ok && !s.tokens.mayLookUp() {
		return Session{}, sessionEnded()
	}
	session, err := s.store.Session(ctx, hash)
	switch {
	case err == nil:
		s.keep(session, now)
		return session, nil
	case gateway.AsError(err).Code == gateway.CodeNotFound:
		s.forget(hash)
		return Session{}, sessionEnded()
	default:
		return Session{}, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err, RetryAfter: time.Second,
			Message: "who has signed in cannot be checked, because the database does not answer; try again in a moment, and see genkan's log if it lasts",
		}
	}
}

// keep remembers a session that was read.
func (s *Sessions) keep(session Session, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[session.Hash] = knownSession{session, now}
}

func (s *Sessions) forget(hash [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, hash)
}

// note writes down that a session is used. A failure costs nothing but an earlier end.
func (s *Sessions) note(ctx context.Context, session Session, now time.Time) {
	session.UsedAt = now.UTC().Truncate(time.Microsecond)
	s.keep(session, now)
	_ = s.store.NoteSession(ctx, session.Hash, session.UsedAt)
}

// lost removes a session that has ended, and returns what to tell its browser.
func (s *Sessions) lost(ctx context.Context, hash [sha256.Size]byte) error {
	s.forget(hash)
	_ = s.store.EndSession(ctx, hash) // it counts no longer; the next sign-in removes it
	return sessionEnded()
}

// End signs out the browser whose cookie has a secret.
func (s *Sessions) End(ctx context.Context, secret string) error {
	hash := sha256.Sum256([]byte(secret))
	s.forget(hash)
	return s.store.EndSession(ctx, hash)
}

// SignedIn is a browser that has signed in.
type SignedIn struct {
	// ID names the session. It tells nothing about the secret or its hash.
	ID string
	// Client is whose rights the session has.
	Client string
	// CreatedAt, UsedAt and EndsAt are when the browser signed in, when it was last used,
	// about, and when the session ends unless it is used.
	CreatedAt, UsedAt, EndsAt time.Time
	// Current is set for the session that the list was asked with.
	Current bool
}

// List returns the browsers that have signed in, the one that was used last first. secret
// is that of the session that asks; empty if none does.
func (s *Sessions) List(ctx context.Context, secret string) ([]SignedIn, error) {
	all, err := s.store.AllSessions(ctx)
	if err != nil {
		return nil, err
	}
	now, current := s.clock(), sha256.Sum256([]byte(secret))
	list := []SignedIn{}
	for _, one := range all {
		id, err := s.tokens.identify(ctx, one.Token)
		if one.ended(now) || err != nil && gateway.AsError(err).Code == gateway.CodeUnauthenticated {
			continue
		}
		if err != nil {
			return nil, err
		}
		ends := one.CreatedAt.Add(SessionLife)
		if idle := one.UsedAt.Add(sessionIdle); idle.Before(ends) {
			ends = idle
		}
		list = append(list, SignedIn{
			ID: one.publicID(), Client: id.ClientID, CreatedAt: one.CreatedAt, UsedAt: one.UsedAt, EndsAt: ends, Current: one.Hash == current,
		})
	}
	return list, nil
}

// publicID returns the name of the session. The hash must stay here: whoever has it could
// look for the secret.
func (s *Session) publicID() string {
	sum := sha256.Sum256(append([]byte("genkan session\x00"), s.Hash[:]...))
	return hex.EncodeToString(sum[:8])
}

// EndID ends the session with an ID. It fails with gateway.CodeNotFound if there is none.
func (s *Sessions) EndID(ctx context.Context, id string) error {
	n, err := s.endThose(ctx, func(one *Session) bool { return one.publicID() == id })
	if err == nil && n == 0 {
		err = gateway.Errorf(gateway.CodeNotFound, "there is no session %q; it may have ended by itself", gateway.Short(id))
	}
	return err
}

// EndOthers ends all sessions but the one with a secret, and returns how many it ended.
func (s *Sessions) EndOthers(ctx context.Context, secret string) (int, error) {
	current := sha256.Sum256([]byte(secret))
	return s.endThose(ctx, func(one *Session) bool { return one.Hash != current })
}

func (s *Sessions) endThose(ctx context.Context, which func(*Session) bool) (ended int, err error) {
	all, err := s.store.AllSessions(ctx)
	for i := range all {
		if err == nil && which(&all[i]) {
			s.forget(all[i].Hash)
			err = s.store.EndSession(ctx, all[i].Hash)
			ended++
		}
	}
	return ended, err
}

func sessionEnded() error {
	return gateway.Errorf(gateway.CodeUnauthenticated,
		"this browser is not signed in any more; `genkan ui` makes a link that signs it in")
}
