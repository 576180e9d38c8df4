package app

import (
	"os"

	"genkan/internal/gateway"
	"genkan/internal/workspace"
)

// folder decides by the configuration in force whether servers may work in the
// folder that a caller names.
func (p *Process) folder(who gateway.Identity, named string) (string, gateway.Text) {
	home, _ := os.UserHomeDir() // empty if unknown
	rules := workspace.Rules{Private: []string{p.opt.DataDir}, ConfigFile: p.ConfigFile(), Home: home, Allowed: p.Config().Folders}
	return rules.Check(who, named)
}
