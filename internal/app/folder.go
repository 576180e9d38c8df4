package app

import (
	"os"

	"genkan/internal/gateway"
	"genkan/internal/workspace"
)

// folder decides whether servers may work for a caller in a folder that it names,
// by the configuration in force.
func (p *Process) folder(who gateway.Identity, named string) (string, gateway.Text) {
	home, _ := os.UserHomeDir() // empty if there is none
	rules := workspace.Rules{Private: []string{p.opt.DataDir}, ConfigFile: p.ConfigFile(), Home: home, Allowed: p.Config().Folders}
	return rules.Check(who, named)
}
