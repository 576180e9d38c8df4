package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// python is an installation of packages of PyPI: a virtual environment for the
// Python SDK, and a cache from which uvx starts the servers.
type python struct {
	dir string
	// base is the interpreter that the environment was made with.
	base string
}

// pythonServers are started with uvx.
var pythonServers = []string{gitServer, fetchServer, timeServer}

// installPython makes sure that the packages of peers/requirements.txt are
// installed. There is one installation for each content of that file and each
// interpreter.
func (l *lab) installPython() (python, error) {
	requirements, err := assets.ReadFile("peers/requirements.txt")
	if err != nil {
		return python{}, err
	}
	base, version, err := basePython(l.ctx)
	if err != nil {
		return python{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return python{}, err
	}
	sum := sha256.Sum256(fmt.Append(requirements, base, version))
	p := python{dir: filepath.Join(cache, "genkan", fmt.Sprintf("python-%x", sum[:6])), base: base}
	if _, err := os.Stat(p.dir); !errors.Is(err, os.ErrNotExist) {
		return p, err
	}
	l.say("installing the packages of peers/requirements.txt")
	return p, p.install(l.ctx, requirements)
}

// basePython is the machine's interpreter and its version. It must be one that
// the packages run on.
func basePython(ctx context.Context) (path, version string, err error) {
	for _, name := range []string{"python3", "python"} {
		// Behind a shim or in a virtual environment, the path is that of the interpreter itself.
		out, err := exec.CommandContext(ctx, name, "-c", `import sys
if sys.version_info >= (3, 10): print(sys._base_executable, sys.version.split()[0], sep="\n")`).Output()
		if path, version, ok := strings.Cut(string(out), "\n"); err == nil && ok {
			return strings.TrimSpace(path), strings.TrimSpace(version), nil
		}
	}
	return "", "", errors.New("no Python 3.10 or newer is found (python3); the Python SDK and the servers of PyPI need it")
}

// install installs beside the place first: an installation that was cut short
// must not look like one.
func (p python) install(ctx context.Context, requirements []byte) error {
	if err := os.MkdirAll(filepath.Dir(p.dir), 0o755); err != nil {
		return err
	}
	draft := python{base: p.base}
	var err error
	if draft.dir, err = os.MkdirTemp(filepath.Dir(p.dir), "python-draft-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft.dir) }()
	if err := os.WriteFile(draft.requirements(), requirements, 0o600); err != nil {
		return err
	}
	commands := [][]string{
		{p.base, "-m", "venv", draft.dir},
		{draft.binary("python"), "-m", "pip", "install", "--quiet", "--requirement", draft.requirements()},
	}
	// The first start of a server fills the cache.
	for _, name := range pythonServers {
		commands = append(commands, []string{draft.binary("uvx"), "mcp-server-" + name, "--help"})
	}
	for _, command := range commands {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "UV_COMPILE_BYTECODE=1")
		for k, v := range draft.env() {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("Python cannot install the packages: %s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	if err := os.Rename(draft.dir, p.dir); err != nil {
		if _, there := os.Stat(p.dir); there == nil {
			return nil // somebody else was faster
		}
		return err
	}
	return nil
}

func (p python) requirements() string { return filepath.Join(p.dir, "requirements.txt") }

// binary is a program of the virtual environment.
func (p python) binary(name string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(p.dir, "Scripts", executable(name))
	}
	return filepath.Join(p.dir, "bin", name)
}

// env has uvx use this installation and nothing of the user's.
func (p python) env() map[string]string {
	return map[string]string{
		"UV_CACHE_DIR":  filepath.Join(p.dir, "uv"),
		"UV_TOOL_DIR":   filepath.Join(p.dir, "tools"),
		"UV_CONSTRAINT": p.requirements(),
		"UV_PYTHON":     p.base,
	}
}

// server is an entry that starts a server as its users do, from what is
// installed: uvx mcp-server-git.
func (p python) server(name string, args ...string) server {
	env := p.env()
	env["UV_OFFLINE"] = "1"
	return server{Command: p.binary("uvx"), Args: append([]string{"mcp-server-" + name}, args...), Env: env}
}
