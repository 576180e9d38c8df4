package signin

import (
	"context"
	"errors"
	"time"

	"genkan/internal/gateway"
)

// backgroundPatience bounds a sign-in in the background as a whole.
const backgroundPatience = 10 * time.Minute

// Begin begins to sign in to a server and returns the address to open in a browser. It
// waits for the person in the background, and calls signedIn if the person signed in.
// Beginning again cancels the sign-in before.
func (k *SignIns) Begin(ctx context.Context, s Server, translate gateway.Translate, signedIn func()) (address string, err error) {
	life, cancel := context.WithTimeout(k.life, backgroundPatience)
	if before, ok := k.begun.Swap(s.Name, cancel); ok {
		before.(context.CancelFunc)()
	}
	addresses, ended := make(chan string, 1), make(chan error, 1)
	started := k.start(func() {
		defer cancel()
		err := k.SignIn(life, s, Login{}, Person{
			Translate: translate,
			Open:      func(_ context.Context, address string) error { addresses <- address; return nil },
		})
		ended <- err
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			k.log.Warn("nobody signed in", "server", s.Name, "error", err)
		default:
			k.log.Info("signed in", "server", s.Name)
			signedIn()
		}
	})
	if !started {
		cancel()
		return "", context.Canceled
	}
	select {
	case address := <-addresses:
		return address, nil
	case err := <-ended:
		return "", err
	case <-ctx.Done():
		cancel()
		return "", context.Cause(ctx)
	}
}
