//go:build !unix && !windows

package launch

import (
	"os"
	"os/exec"
)

const needsGuard = true

// tree is a process: without process groups only the child itself is ended.
type tree struct{ pid int }

func newTree(p *os.Process) (*tree, error) { return &tree{p.Pid}, nil }

func (t *tree) terminate() { terminateGroup(t.pid) }
func (t *tree) kill()      { killGroup(t.pid) }
func (t *tree) close()     {}

func setCommandLine(*exec.Cmd, string) {}

func setProcessGroup(*exec.Cmd) {}

func leaveTerminal(*exec.Cmd) {}

func terminateGroup(pid int) { killGroup(pid) }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
