//go:build unix && !linux

package script

import (
	"os"
	"os/exec"
)

// parentSeesMemory: a worker watches its memory itself, which is too late for one
// large allocation.
const parentSeesMemory = false

func executable() (string, error) { return os.Executable() }

type memoryGauge struct{}

func (*memoryGauge) open(int)         {}
func (*memoryGauge) close()           {}
func (*memoryGauge) read() (int, int) { return 0, 0 }

func limitMapped(int) {}

func confine() { confineUnix() }

func setAttributes(cmd *exec.Cmd) { setGroup(cmd) }
