package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// hasBrowser guesses whether a browser can be opened on this machine for the
// person. Over SSH the person is at another machine.
func hasBrowser() bool {
	switch {
	case os.Getenv("BROWSER") != "":
		return true
	case os.Getenv("SSH_CONNECTION") != "" || os.Getenv("SSH_TTY") != "":
		return false
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin" || isWSL():
		return true
	default:
		return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
	}
}

// isWSL reports whether this is Linux inside Windows. The browser to open is that
// of Windows.
func isWSL() bool { return runtime.GOOS == "linux" && os.Getenv("WSL_DISTRO_NAME") != "" }

// browsers returns the commands that open an address, the best first.
func browsers(address string) [][]string {
	var commands [][]string
	for _, said := range filepath.SplitList(os.Getenv("BROWSER")) {
		words := strings.Fields(said)
		if len(words) == 0 {
			continue
		}
		placed := false
		for i, word := range words {
			if strings.Contains(word, "%s") {
				words[i], placed = strings.ReplaceAll(word, "%s", address), true
			}
		}
		if !placed {
			words = append(words, address)
		}
		commands = append(commands, words)
	}
	switch {
	case runtime.GOOS == "darwin":
		commands = append(commands, []string{"open", address})
	case runtime.GOOS == "windows":
		commands = append(commands, []string{"rundll32", "url.dll,FileProtocolHandler", address})
	case isWSL():
		commands = append(commands, []string{"wslview", address}, []string{"rundll32.exe", "url.dll,FileProtocolHandler", address})
	default:
		commands = append(commands, []string{"xdg-open", address}, []string{"x-www-browser", address})
	}
	return commands
}

// openPatience is how long a command is watched for failure. Some commands run as
// long as the browser.
const openPatience = 2 * time.Second

// openBrowser opens an address with the first command that works. It uses no shell,
// because the address comes from a server. The address begins with http.
func openBrowser(ctx context.Context, address string) error {
	failed := errors.New("there is no command that opens a browser")
	for _, command := range browsers(address) {
		cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...) //nolint:gosec // the person names their browser
		if err := cmd.Start(); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if err == nil {
				return nil
			}
			failed = errors.Join(failed, err)
		case <-time.After(openPatience):
			return nil
		case <-ctx.Done(): // the sign-in is done
			return nil
		}
	}
	return failed
}
