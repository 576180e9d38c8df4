package script

import (
	"os"
	"os/exec"
	"syscall"
)

const rootDir = ""

// parentSeesMemory: a worker watches its memory itself, which is too late for one
// large allocation.
const parentSeesMemory = false

func executable() (string, error) { return os.Executable() }

type memoryGauge struct{}

func (*memoryGauge) open(int)         {}
func (*memoryGauge) close()           {}
func (*memoryGauge) read() (int, int) { return 0, 0 }

func limitMapped(int) {}

// confine does nothing: what keeps a script from files and the network is that it is
// given no function for them.
func confine() {}

func lowerPriority(int) {} // it has it from the start

func setAttributes(cmd *exec.Cmd) {
	const belowNormalPriority, noWindow = 0x4000, 0x8000000
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | belowNormalPriority | noWindow}
}
