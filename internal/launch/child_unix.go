//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"
)

// needsGuard: nothing but a process that outlives us ends what we leave.
const needsGuard = true

// tree is a process and everything that it starts, in a group of its own.
type tree struct{ group int }

func newTree(p *os.Process) (*tree, error) { return &tree{p.Pid}, nil }

func (t *tree) terminate() { terminateGroup(t.group) }
func (t *tree) kill()      { killGroup(t.group) }
func (t *tree) close()     {}

// setCommandLine is for systems where a program gets one line.
func setCommandLine(*exec.Cmd, string) {}

func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// leaveTerminal makes a process the first of a session without a terminal, and
// of a group of its own.
func leaveTerminal(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func terminateGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }
func killGroup(pid int)      { _ = syscall.Kill(-pid, syscall.SIGKILL) }
