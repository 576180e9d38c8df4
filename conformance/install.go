package main

import (
	"embed"
	"os"
	"path/filepath"
	"runtime"

	"genkan/internal/testkit/npm"
)

// assets are what Node and Python need of us: the pinned versions, the module
// that adds the token, and the peers in TypeScript and Python.
//
//go:embed suite peers
var assets embed.FS

// node is an installation of packages, and the Node that runs them.
type node struct{ binary, modules string }

// leastNode is the major version that the suite and the Inspector need.
const leastNode = 24

// install makes sure that the packages which a folder's package.json names are
// installed.
func (l *lab) install(folder string) (n node, err error) {
	manifest, err := assets.ReadFile(folder + "/package.json")
	if err != nil {
		return node{}, err
	}
	if n.modules, err = npm.Install(l.ctx, folder, manifest, l.say); err != nil {
		return node{}, err
	}
	n.binary, err = npm.Node(n.modules, leastNode)
	return n, err
}

// asset writes an embedded file where a program can read it.
func (l *lab) asset(name string) (string, error) {
	raw, err := assets.ReadFile(name)
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
