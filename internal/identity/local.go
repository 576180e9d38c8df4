package identity

import (
	"context"
	"maps"
	"time"

	"genkan/internal/gateway"
)

// LocalUse is when a client on this machine, which has no token, was last seen.
type LocalUse struct {
	// Name is what `genkan stdio` was told that it is called.
	Name string
	At   time.Time
	// Client is the program, by its own word.
	Client string
}

// CheckLocalName says what is wrong with the name of a local client. The rule is
// that of tokens: a client is called the same, however it comes.
func CheckLocalName(name string) error {
	switch {
	case name == LocalClient || name == AdminClient:
		return gateway.Errorf(gateway.CodeInvalid, "the client name %q is reserved: choose another", name)
	case !validName(name):
		return gateway.Errorf(gateway.CodeInvalid, "%q cannot be the name of a client: %s", gateway.Short(name), gateway.HowAbout(wrongInName(name), suggested(name)))
	}
	return nil
}

// Local begins to follow a client on this machine, and returns what is to be
// called whenever it says something. Who gave no name is not followed.
func (k *Tokens) Local(name string) (seen func()) {
	if name == "" {
		return func() {}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	u := k.locals[name]
	if u == nil {
		u = newUse()
		k.locals[name] = u
	}
	return func() { k.touch(u, k.clock()) }
}

// useOf is what is known about the use of whatever somebody came by; nil if
// that is not followed.
func (k *Tokens) useOf(id gateway.Identity) *use {
	name, isLocal := gateway.LocalName(id.ClientID)
	if !isLocal {
		return k.table.Load().uses[id.ClientID]
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.locals[name]
}

// noteLocals writes down when local clients were seen.
func (k *Tokens) noteLocals(ctx context.Context, since time.Duration) error {
	k.mu.Lock()
	locals := maps.Clone(k.locals)
	k.mu.Unlock()
	now := k.clock().UnixMicro()
	var uses []LocalUse
	var told []*use
	for name, u := range locals {
		if at, ok := u.untold(now, since); ok {
			told = append(told, u)
			uses = append(uses, LocalUse{Name: name, At: at, Client: u.by.Load().name})
		}
	}
	if len(uses) == 0 {
		return nil
	}
	if err := k.store.NoteLocalUses(ctx, uses); err != nil {
		return err
	}
	for i, u := range told {
		u.noted.Store(uses[i].At.UnixMicro())
	}
	return nil
}
