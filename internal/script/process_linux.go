package script

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// parentSeesMemory: genkan watches the memory of its workers.
const parentSeesMemory = true

// executable returns the file of this program, also if it was replaced since.
func executable() (string, error) { return "/proc/self/exe", nil }

// memoryGauge tells how much memory a process has.
type memoryGauge struct{ file *os.File }

func (g *memoryGauge) open(pid int) { g.file, _ = os.Open(fmt.Sprintf("/proc/%d/statm", pid)) }

func (g *memoryGauge) close() {
	if g.file != nil {
		_ = g.file.Close()
	}
}

// read returns the memory that the process has for itself, without the pages of its
// program file; 0 if that is unknown.
func (g *memoryGauge) read() int {
	var buffer [128]byte
	if g.file == nil {
		return 0
	}
	n, _ := g.file.ReadAt(buffer[:], 0)
	fields := bytes.Fields(buffer[:n])
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.Atoi(string(fields[1]))
	shared, _ := strconv.Atoi(string(fields[2]))
	return (resident - shared) * os.Getpagesize()
}

// arena is the size in which the runtime reserves address space for its heap. One is
// reserved when the process starts.
const arena = 64 << 20

// addressSpace is what the process needed when it had started.
var addressSpace uint64 //nolint:gochecknoglobals // written once, in a worker

// limitAddressSpace bounds the heap to a multiple of arenas: an allocation beyond it
// ends the process at once, however large it is.
func limitAddressSpace(memory int) {
	if addressSpace == 0 {
		return
	}
	arenas := max(1, (memory+arena-1)/arena)
	most := addressSpace + uint64(arenas-1)*arena + 24<<20 //nolint:gosec // positive
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) == nil {
		limit.Cur = min(most, limit.Max)
		_ = syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
	}
}

// confine gives up what a worker does not need.
func confine() {
	info, _ := debug.ReadBuildInfo()
	// The race detector maps memory as it likes.
	if info == nil || !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		if text, err := os.ReadFile("/proc/self/statm"); err == nil {
			pages, _, _ := bytes.Cut(text, []byte(" "))
			n, _ := strconv.ParseUint(string(pages), 10, 64)
			addressSpace = n * uint64(os.Getpagesize()) //nolint:gosec // positive
		}
	}
	restrict()
	confineUnix()
}

// restrict denies all files and, where the kernel can, TCP and the sockets and
// processes outside, with Landlock.
func restrict() {
	const (
		createRuleset, restrictSelf = 444, 446
		setNoNewPrivileges          = 38
	)
	version, _, failure := syscall.Syscall(createRuleset, 0, 0, 1)
	if failure != 0 {
		return
	}
	rules := struct{ files, network, scopes uint64 }{files: 1<<13 - 1}
	size := uintptr(8)
	if version >= 2 {
		rules.files |= 1 << 13 // moving between directories
	}
	if version >= 3 {
		rules.files |= 1 << 14 // truncating
	}
	if version >= 4 {
		rules.network, size = 3, 16
	}
	if version >= 5 {
		rules.files |= 1 << 15 // controlling devices
	}
	if version >= 6 {
		rules.scopes, size = 3, 24
	}
	set, _, failure := syscall.Syscall(createRuleset, uintptr(unsafe.Pointer(&rules)), size, 0)
	if failure != 0 {
		return
	}
	// In binaries with cgo, such as those with the race detector, both fail, and only
	// the limit of descriptors is left.
	_, _, _ = syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, setNoNewPrivileges, 1, 0, 0, 0, 0)
	_, _, _ = syscall.AllThreadsSyscall(restrictSelf, set, 0, 0)
	_ = syscall.Close(int(set)) //nolint:gosec // a descriptor
}

func setAttributes(cmd *exec.Cmd) { setGroup(cmd) }
