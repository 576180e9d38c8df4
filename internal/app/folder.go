package app

import (
	"os"
	"path/filepath"

	"genkan/internal/gateway"
	"genkan/internal/workspace"
)

// folder decides whether servers may work for a caller in a folder that it names,
// by the configuration in force.
func (p *Process) folder(who gateway.Identity, named string) (string, gateway.Text) {
	home, _ := os.UserHomeDir() // without one, there is nothing below it
	rules := workspace.Rules{Private: []string{p.opt.DataDir}, ConfigFile: p.ConfigFile(), Home: home}
	for _, allowed := range p.Config().Folders {
		if below, ok := cutHome(allowed); ok {
			if home == "" {
				continue
			}
			allowed = filepath.Join(home, below)
		}
		rules.Allowed = append(rules.Allowed, allowed)
	}
	return rules.Check(who, named)
}

// cutHome cuts the ~ off a path that begins in the home directory.
func cutHome(path string) (string, bool) {
	if path == "~" || len(path) > 1 && path[0] == '~' && os.IsPathSeparator(path[1]) {
		return path[1:], true
	}
	return path, false
}
