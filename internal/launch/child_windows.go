package launch

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// needsGuard: the system ends our jobs when we end, however that is.
const needsGuard = false

// tree is a process and everything that it starts: a job. Between the start of
// the process and its joining the job lies a moment; what it has started by
// then is not in it.
type tree struct {
	pid int

	mu  sync.Mutex
	job windows.Handle // zero when there is none, or no more
}

// newTree puts a process into a job of its own. The tree can be used, for the
// process alone, even if that fails.
func newTree(p *os.Process) (*tree, error) {
	t := &tree{pid: p.Pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return t, os.NewSyscallError("CreateJobObject", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		// Ours is the only handle: the system closes it, and ends the job, when
		// this process ends.
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return t, os.NewSyscallError("SetInformationJobObject", err)
	}
	// Our handle of the process keeps its id from being given to another.
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid)) //nolint:gosec // ids are positive
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return t, os.NewSyscallError("AssignProcessToJobObject", err)
	}
	t.job = job
	return t, nil
}

// terminate is no gentler than kill: a process without a window gets no
// signal, and was told by the end of its input.
func (t *tree) terminate() { t.kill() }

func (t *tree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
	} else {
		killGroup(t.pid)
	}
}

func (t *tree) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
		t.job = 0
	}
}

// setProcessGroup keeps our Ctrl-C from a process, and opens no window for it
// where we have none.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// setCommandLine replaces what os/exec would make of the arguments.
func setCommandLine(cmd *exec.Cmd, line string) { cmd.SysProcAttr.CmdLine = line }

func leaveTerminal(cmd *exec.Cmd) { setProcessGroup(cmd) }

func terminateGroup(pid int) { killGroup(pid) }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
