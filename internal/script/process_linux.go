package script

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
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
// program file, and what it has mapped to write to; 0 if that is unknown.
func (g *memoryGauge) read() (own, mapped int) {
	var buffer [128]byte
	if g.file == nil {
		return 0, 0
	}
	n, _ := g.file.ReadAt(buffer[:], 0)
	var pages [6]int
	for i, field := range bytes.Fields(buffer[:n]) {
		if i < len(pages) {
			pages[i], _ = strconv.Atoi(string(field))
		}
	}
	resident, shared, data := pages[1], pages[2], pages[5]
	return (resident - shared) * os.Getpagesize(), data * os.Getpagesize()
}

// base are the address space and the writable memory that the process had mapped when
// it had started.
var base struct{ space, data uint64 } //nolint:gochecknoglobals // written once, in a worker

// limitMapped bounds the memory that the process maps. An allocation beyond it ends the
// process at once, however large it is. The limit of address space is a loose one,
// because the runtime reserves it generously; it stops a large allocation before the
// runtime has begun it.
func limitMapped(memory int) {
	const (
		threads = 24 << 20  // stacks of a few threads, 8 MB each in binaries with cgo
		arenas  = 128 << 20 // the heap grows by 64 MB of address space
	)
	if base.data > 0 {
		limitTo(syscall.RLIMIT_DATA, base.data+uint64(memory)+threads)       //nolint:gosec // positive
		limitTo(syscall.RLIMIT_AS, base.space+uint64(memory)+threads+arenas) //nolint:gosec // positive
	}
}

func limitTo(resource int, bytes uint64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(resource, &limit) == nil {
		limit.Cur = min(bytes, limit.Max)
		_ = syscall.Setrlimit(resource, &limit)
	}
}

// confine gives up what a worker does not need.
func confine() {
	info, _ := debug.ReadBuildInfo()
	// The race detector maps memory as it likes.
	if info == nil || !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		if text, err := os.ReadFile("/proc/self/statm"); err == nil {
			if fields := bytes.Fields(text); len(fields) > 5 {
				space, _ := strconv.Atoi(string(fields[0]))
				data, _ := strconv.Atoi(string(fields[5]))
				base.space, base.data = uint64(space*os.Getpagesize()), uint64(data*os.Getpagesize()) //nolint:gosec // positive
			}
		}
	}
	closeInherited()
	restrict()
	confineUnix()
}

// closeInherited closes what genkan itself inherited and did not know of.
func closeInherited() {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		link, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		// The runtime has some for timers and for the limit of its processors.
		ours := strings.HasPrefix(link, "anon_inode:") || strings.HasPrefix(link, "/sys/fs/cgroup/")
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 && !ours {
			_ = syscall.Close(fd)
		}
	}
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
	_ = syscall.Close(int(set))
}

func setAttributes(cmd *exec.Cmd) { setGroup(cmd) }
