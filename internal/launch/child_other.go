//go:build !unix

package launch

import (
	"os"
	"os/exec"
)

// Without process groups only the child itself is ended.
func setProcessGroup(*exec.Cmd) {}

func leaveTerminal(*exec.Cmd) {}

func terminateGroup(pid int) { killGroup(pid) }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
