package bridge

import (
	"os/exec"
	"syscall"
)

// detach gives the process a group and no console: a Ctrl-C or the end of the
// window is not for it.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x8
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
