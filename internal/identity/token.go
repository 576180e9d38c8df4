// Package identity knows who is calling. It makes tokens, stores what is needed to
// recognise them, and turns the token of a request into the gateway.Identity of its
// calls. Package lock asks it about each HTTP request; the command line and the
// REST API manage tokens through it. A store implements Store.
package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Token is what is kept of a token: enough to recognise it, not enough to use
// it.
type Token struct {
	// Name says whose token it is, and is the ClientID of its calls.
	Name string
	// Hash is the SHA-256 of the secret.
	//
	// A plain hash is right here, and bcrypt or a salt would not be: the secret
	// is 256 random bits that nobody chose, so there is no dictionary to try
	// and no two tokens are alike, while a slow hash on every request would
	// hand anybody a way to keep the gateway busy.
	Hash [sha256.Size]byte
	// Admin may change the house.
	Admin bool
	// CreatedAt is in UTC, with the precision of the stores: microseconds.
	CreatedAt time.Time
	// LastUsed is when somebody last came with it, about; zero for never.
	// LastClient is the program that came, by its own word.
	LastUsed   time.Time
	LastClient string
}

// TokenUse is what is noted about the use of a token.
type TokenUse struct {
	Name string
	// Hash tells the token from a later one of the same name.
	Hash   [sha256.Size]byte
	At     time.Time
	Client string
}

// Store keeps tokens.
type Store interface {
	// Tokens lists all tokens, ordered by name.
	Tokens(ctx context.Context) ([]Token, error)
	// AddToken fails with gateway.CodeConflict when the name is taken.
	AddToken(ctx context.Context, token Token) error
	// RevokeToken fails with gateway.CodeNotFound when there is no such token.
	RevokeToken(ctx context.Context, name string) error
	// LocalUses lists when local clients were last seen, ordered by name.
	LocalUses(ctx context.Context) ([]LocalUse, error)
	// NoteLocalUses writes that down, as NoteUses does for tokens.
	NoteLocalUses(ctx context.Context, uses []LocalUse) error
	// NoteUses writes down when tokens were used. What is older than what is
	// there is left out, and so is a token that is gone. The change sequence
	// stays: nobody decides anything by a use.
	NoteUses(ctx context.Context, uses []TokenUse) error
	// ChangeSequence grows with every committed change to the store, also when
	// another process made it. Equal numbers mean that nothing changed.
	ChangeSequence(ctx context.Context) (int64, error)
}

const (
	// prefix makes a leaked token easy to find for secret scanners, and easy
	// to recognise for people.
	prefix = "gk_"
	// secretBytes is the entropy of a token.
	secretBytes = 32
	// secretLength is the length of the whole token as text.
	secretLength = len(prefix) + (secretBytes*8+5)/6
)

// Names that no token may have, because identities that come without a stored
// token carry them.
const (
	// LocalClient is who calls over stdio or the local socket, without a name.
	LocalClient = gateway.LocalClient
	// AdminClient is who calls with the admin token of the data directory.
	AdminClient = gateway.AdminClient
)

// NewToken makes a token. The secret is returned once and kept nowhere.
func NewToken(name string, admin bool, now time.Time) (Token, gateway.Secret, error) {
	if err := checkName(name); err != nil {
		return Token{}, "", err
	}
	secret := newSecret()
	return Token{
		Name:      name,
		Hash:      sha256.Sum256([]byte(secret)),
		Admin:     admin,
		CreatedAt: now.UTC().Truncate(time.Microsecond),
	}, gateway.Secret(secret), nil
}

func newSecret() string {
	var b [secretBytes]byte
	// crypto/rand.Read never fails since Go 1.24: it ends the process rather
	// than return anything predictable.
	_, _ = rand.Read(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// looksIssued reports whether text has the form of a token that NewToken made.
// What has not cannot be in a store, so nobody needs to look there for it.
func looksIssued(text string) bool {
	return len(text) == secretLength && strings.HasPrefix(text, prefix)
}

const maxName = 64

func checkName(name string) error {
	if name == LocalClient || name == AdminClient {
		return gateway.Errorf(gateway.CodeInvalid, "the token name %q is reserved: choose another", name)
	}
	return CheckTokenName(name)
}

// CheckTokenName says what is wrong with a name that no token can have. It does not
// refuse reserved names.
func CheckTokenName(name string) error {
	if validName(name) {
		return nil
	}
	return gateway.Errorf(gateway.CodeInvalid, "%q cannot be the name of a token: %s", gateway.Short(name), gateway.HowAbout(wrongInName(name), suggested(name)))
}

// signs are what a name may have beside small letters and digits.
const signs = "._-"

func wrongInName(name string) gateway.Text { return gateway.WrongInName(name, signs, true, maxName) }

// suggested makes a name that a token or a client can have of another text; empty if
// nothing of it can be in one.
func suggested(name string) string {
	words := strings.FieldsFunc(strings.ToLower(gateway.NarrowLetters(name)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(signs, r)
	})
	better := strings.TrimLeft(strings.Join(words, "-"), signs)
	better = strings.TrimRight(better[:min(len(better), maxName)], signs)
	if better == LocalClient || better == AdminClient { // reserved
		return better + "-client"
	}
	return better
}

// validName is ^[a-z0-9][a-z0-9._-]{0,63}$. Names appear in logs, URLs and
// file names, so they are kept to what is harmless in all of these.
func validName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}
