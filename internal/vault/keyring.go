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

// Keyring is where the machine keeps its owner's passwords.
type Keyring interface {
	Get(ctx context.Context, account string) (gateway.Secret, error)
	Set(ctx context.Context, account string, value gateway.Secret) error
}

var errNoKeyring = errors.New("this machine has no keyring")

// keyringService is what people see our entries under.
const keyringService = "genkan"

// keyringPatience is for a person to unlock the keyring. A keyring without a
// screen to ask on would wait for ever.
const keyringPatience = time.Minute

// SystemKeyring is the keyring of the operating system, or nil where there
// certainly is none.
func SystemKeyring() Keyring {
	if runtime.GOOS == "linux" && !hasSessionBus() {
		return nil
	}
	return systemKeyring{}
}

// hasSessionBus looks before the library does, which would start a bus of its
// own where there is none.
func hasSessionBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil
}

type systemKeyring struct{}

func (systemKeyring) Get(ctx context.Context, account string) (gateway.Secret, error) {
	return patiently(ctx, func() (gateway.Secret, error) {
		value, err := keyring.Get(keyringService, account)
		return gateway.Secret(value), err
	})
}

func (systemKeyring) Set(ctx context.Context, account string, value gateway.Secret) error {
	_, err := patiently(ctx, func() (gateway.Secret, error) {
		return "", keyring.Set(keyringService, account, value.Reveal())
	})
	return err
}

// patiently gives a library call that knows no context one. It goes on behind
// our back when we stop waiting; there is nothing to stop it with.
func patiently(ctx context.Context, call func() (gateway.Secret, error)) (gateway.Secret, error) {
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
