package bridge

import (
	"context"
	"errors"
	"net"
	"time"
)

// joinPatience is how long another process may take to become the owner, or to give
// up the ownership.
const joinPatience = 20 * time.Second

// Joiner joins the running genkan of a data directory.
type Joiner struct {
	DataDir string
	Hello   Hello
	// Start starts a background process and returns the word that it prints.
	Start func(ctx context.Context) (string, error)
}

// Join joins the owner, or starts one. If it fails, this process has to serve by
// itself; the error says why.
func (j *Joiner) Join(ctx context.Context) (net.Conn, error) {
	deadline := time.Now().Add(joinPatience)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		conn, _, err := Dial(ctx, j.DataDir, j.Hello)
		if !errors.Is(err, ErrNobody) {
			return conn, err
		}
		if time.Now().After(deadline) {
			return nil, err
		}
		taken, err := isTaken(j.DataDir)
		if err != nil {
			return nil, err
		}
		// The holder of the lock is about to listen or about to end. A new process
		// would only find that out too.
		said := Taken
		if !taken {
			if said, err = j.Start(ctx); err != nil {
				return nil, err
			}
		}
		if said == Taken {
			if err := pause(ctx, wait); err != nil {
				return nil, err
			}
		}
	}
}

// isTaken reports whether a data directory has an owner.
func isTaken(dataDir string) (bool, error) {
	o, err := Claim(dataDir)
	if errors.Is(err, ErrTaken) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	o.Release()
	return false, nil
}
