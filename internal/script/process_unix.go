//go:build unix

package script

import (
	"os/exec"
	"syscall"
)

// rootDir is a directory that no one wants to remove.
const rootDir = "/"

// niceness is the priority of workers: below that of genkan, and not so low that a
// busy machine starves them.
const niceness = 5

func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lowerPriority sets the priority of a process that has just started.
func lowerPriority(pid int) { _ = syscall.Setpriority(syscall.PRIO_PGRP, pid, niceness) }

// confineUnix allows no descriptor but those that are open: no file and no socket can
// be opened any more.
func confineUnix() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{})
}
