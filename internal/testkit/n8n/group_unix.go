//go:build unix

package n8n

import (
	"os"
	"os/exec"
	"syscall"
)

// inGroup lets a command begin a process group of its own.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends a process and its children: kindly, or at once.
func endGroup(p *os.Process, atOnce bool) {
	signal := syscall.SIGTERM
	if atOnce {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.Pid, signal)
}
