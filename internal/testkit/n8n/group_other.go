//go:build !unix

package n8n

import (
	"os"
	"os/exec"
)

// inGroup does nothing where there are no process groups.
func inGroup(*exec.Cmd) {}

// endGroup ends a process.
func endGroup(p *os.Process, _ bool) { _ = p.Kill() }
