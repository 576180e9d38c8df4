package clients

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Environment determines where files are. It is a value, so that tests can ask for
// the paths of any system.
type Environment struct {
	// GOOS is linux, darwin or windows.
	GOOS string
	Home string
	// WorkDir is the project's folder; empty when there is none.
	WorkDir string
	Getenv  func(string) string
	// Glob is filepath.Glob; nil matches nothing.
	Glob func(pattern string) ([]string, error)
}

// Here returns the environment of this process.
func Here() (Environment, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Environment{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // a folder that was removed is no project
	}
	return Environment{GOOS: runtime.GOOS, Home: home, WorkDir: dir, Getenv: os.Getenv, Glob: filepath.Glob}, nil
}

func (e Environment) windows() bool { return e.GOOS == "windows" }

// join is filepath.Join for the environment's system.
func (e Environment) join(parts ...string) string {
	separator := "/"
	if e.windows() {
		separator = `\`
	}
	var all []string
	for i, p := range parts {
		if i > 0 {
			p = strings.ReplaceAll(p, "/", separator)
		}
		all = append(all, strings.TrimRight(p, `/`+separator))
	}
	return strings.Join(all, separator)
}

// from returns the folder that a variable names, or else another.
func (e Environment) from(variable, otherwise string) string {
	if e.Getenv != nil {
		if dir := e.Getenv(variable); dir != "" {
			return dir
		}
	}
	return otherwise
}

func (e Environment) home(parts ...string) string {
	return e.join(append([]string{e.Home}, parts...)...)
}

// config returns ~/.config on every system, for programs that do not follow the
// system's conventions.
func (e Environment) config() string { return e.from("XDG_CONFIG_HOME", e.home(".config")) }

// applications returns the folder of desktop programs' settings.
func (e Environment) applications() string {
	switch e.GOOS {
	case "darwin":
		return e.home("Library/Application Support")
	case "windows":
		return e.from("APPDATA", e.home("AppData/Roaming"))
	default:
		return e.config()
	}
}

// matching returns the files that match a pattern, sorted.
func (e Environment) matching(pattern string) []string {
	if e.Glob == nil {
		return nil
	}
	found, err := e.Glob(pattern)
	if err != nil {
		return nil
	}
	slices.Sort(found)
	return found
}
