package vault

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"

	"genkan/internal/gateway"
)

// Keyring is the password store of the machine's user.
type Keyring interface {
	Get(ctx context.Context, account string) (gateway.Secret, error)
	Set(ctx context.Context, account string, value gateway.Secret) error
}

var errNoKeyring = errors.New("this machine has no keyring")

// keyringService is the name under which people see genkan's entries.
const keyringService = "genkan"

// keyringPatience is the time for a person to unlock the keyring. A keyring without a
// screen for its prompt would wait for ever.
const keyringPatience = time.Minute

// SystemKeyring returns the keyring of the operating system, or nil where there
// certainly is none.
func SystemKeyring() Keyring {
	if runtime.GOOS == "linux" && !hasSessionBus() {
		return nil
	}
	return systemKeyring{}
}

// hasSessionBus checks before the library does, because the library would start its own
// bus if there is none.
func hasSessionBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil
}

type systemKeyring struct{}

func (systemKeyring) Get(ctx context.Context, account string) (gateway.Secret, error) {
	return withPatience(ctx, func() (gateway.Secret, error) {
		value, err := keyring.Get(keyringService, account)
		return gateway.Secret(value), err
	})
}

func (systemKeyring) Set(ctx context.Context, account string, value gateway.Secret) error {
	_, err := withPatience(ctx, func() (gateway.Secret, error) {
		return "", keyring.Set(keyringService, account, value.Reveal())
	})
	return err
}

// withPatience runs a library call that takes no context. When the context ends, the call
// continues in the background, because nothing can stop it.
func withPatience(ctx context.Context, call func() (gateway.Secret, error)) (gateway.Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, keyringPatience)
	defer cancel()
	type answer struct {
		value gateway.Secret
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := call()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
