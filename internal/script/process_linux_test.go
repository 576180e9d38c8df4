package script

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// probe tries what a confined process cannot do.
func probe() {
	attempt := func(name string, do func() error) {
		fmt.Println(name, do() != nil)
	}
	all := func() {
		attempt("read", func() error { _, err := os.ReadFile("/proc/self/status"); return err })
		attempt("list", func() error { _, err := os.ReadDir("/"); return err })
		attempt("write", func() error { return os.WriteFile(filepath.Join(os.TempDir(), "genkan-probe"), nil, 0o600) })
		attempt("tcp", func() error {
			c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", os.Getenv("ADDRESS"))
			if err == nil {
				_ = c.Close()
			}
			return err
		})
		attempt("exec", func() error { return exec.CommandContext(context.Background(), "/proc/self/exe", "-test.list=x").Run() })
	}
	restrict()
	all()
	confineUnix()
	all()
	attempt("udp", func() error { _, err := net.ListenPacket("udp", "127.0.0.1:0"); return err })
	attempt("socket", func() error { _, err := net.Listen("unix", "@genkan-probe"); return err })
	attempt("mkdir", func() error {
		if landlocked() {
			return os.Mkdir(filepath.Join(os.TempDir(), "genkan-probe-dir"), 0o700)
		}
		return errors.New("not tried")
	})
}

// landlocked reports whether Landlock works here: the kernel has it, and the binary
// has no cgo.
func landlocked() bool {
	version, _, failure := syscall.Syscall(444, 0, 0, 1)
	if failure != 0 || version < 4 {
		return false
	}
	_, _, failure = syscall.AllThreadsSyscall(syscall.SYS_GETPGID, 0, 0, 0)
	return failure != syscall.ENOTSUP
}

// A confined process opens no file, no socket and no program, by two means: Landlock,
// and the limit of descriptors.
func TestConfinement(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := exec.Command(os.Args[0], "script-probe")
	cmd.Env = []string{"ADDRESS=" + listener.Addr().String(), "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 13 {
		t.Fatalf("%s", out)
	}
	for i, line := range lines {
		if i < 5 && !landlocked() {
			continue
		}
		if !strings.HasSuffix(line, " true") {
			t.Errorf("attempt %d succeeded: %s", i, line)
		}
	}
	t.Logf("Landlock: %v", landlocked())
}

// Workers have no environment, no descriptors but their pipes, a group of their own
// and low priority.
func TestWorkerProcess(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	if _, failure := run1(t, p, `return 1`, "", nil); failure != nil {
		t.Fatal(failure)
	}
	p.mu.Lock()
	pid := p.idle[0].cmd.Process.Pid
	p.mu.Unlock()
	dir := fmt.Sprintf("/proc/%d/", pid)
	if environment, err := os.ReadFile(dir + "environ"); err != nil || len(environment) > 0 {
		t.Errorf("%q %v", environment, err)
	}
	entries, err := os.ReadDir(dir + "fd")
	if err != nil {
		t.Fatal(err)
	}
	pipes := 0
	for _, entry := range entries {
		link, _ := os.Readlink(dir + "fd/" + entry.Name())
		switch {
		case strings.HasPrefix(link, "pipe:"):
			pipes++
		case !strings.HasPrefix(link, "anon_inode:") && !strings.HasPrefix(link, "/sys/fs/cgroup/"): // the runtime's own
			t.Errorf("descriptor %s is %s", entry.Name(), link)
		}
	}
	if pipes != 3 {
		t.Errorf("%d pipes", pipes)
	}
	fields := strings.Fields(stat(pid))
	if group, nice := fields[2], fields[16]; group != strconv.Itoa(pid) || nice != strconv.Itoa(niceness) {
		t.Errorf("group %s of %d, nice %s", group, pid, nice)
	}
	limits, _ := os.ReadFile(dir + "limits")
	for _, line := range strings.Split(string(limits), "\n") {
		if strings.HasPrefix(line, "Max open files") && !strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(line, "Max open files")), "0") {
			t.Error(line)
		}
		if strings.HasPrefix(line, "Max data size") {
			t.Log(line)
			if !testkit.RaceDetector() && strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(line, "Max data size")), "unlimited") {
				t.Error(line)
			}
		}
	}
	p.Close()
	if state := stat(pid); state != "" {
		t.Errorf("after Close there is still: %s", state)
	}
}

// stat returns what follows the name in /proc/PID/stat; nothing if there is no such
// process.
func stat(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := bytes.Cut(text, []byte(") "))
	return string(rest)
}

// parent is a genkan that is going to be killed. It prints the ids of its workers.
func parent() {
	p := NewPool(Options{Running: 3})
	for _, source := range []string{`await sleep(1e9)`, `for (;;);`, `/^(a+)+\1$/.test("a".repeat(60) + "!")`} {
		program, err := p.Compile(context.Background(), "x", source)
		if err != nil {
			panic(err)
		}
		go func() {
			_, _ = p.Run(context.Background(), Job{Program: program, Limits: patient})
		}()
	}
	for {
		p.mu.Lock()
		var pids []string
		for r := range p.active {
			if r.worker != nil {
				pids = append(pids, strconv.Itoa(r.worker.cmd.Process.Pid))
			}
		}
		p.mu.Unlock()
		if len(pids) == 3 {
			fmt.Println(strings.Join(pids, " "))
			select {}
		}
		runtime.Gosched()
	}
}

func TestWorkersDieWithTheirParent(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "script-parent")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Fields(line) {
		pid, _ := strconv.Atoi(text)
		testkit.Eventually(t, func() bool {
			state := stat(pid)
			return state == "" || strings.HasPrefix(state, "Z") // whoever adopted it may not have noticed
		}, "worker %d ends", pid)
	}
}

// BenchmarkCPU counts the processor's time of genkan and its worker, which a busy
// machine changes less than the time on the clock.
func BenchmarkCPU(b *testing.B) {
	self := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for _, bench := range benchmarks() {
		b.Run(bench.name, func(b *testing.B) {
			p := newPool(b, Options{})
			program := compile(b, p, bench.source)
			local := inProcess(b, program)
			begin, n := self(), 0
			for b.Loop() {
				local(bench.context)
				n++
			}
			inside := self() - begin
			p.mu.Lock()
			w := p.idle[0]
			p.mu.Unlock()
			begin = self()
			for range n {
				if _, err := p.Run(context.Background(), Job{Program: program, Context: bench.context, Limits: patient}); err != nil {
					b.Fatal(err)
				}
			}
			outside := self() - begin
			p.Close()
			outside += w.cmd.ProcessState.UserTime() + w.cmd.ProcessState.SystemTime()
			b.ReportMetric(float64(inside.Microseconds())/float64(n), "in-process-µs")
			b.ReportMetric(float64(outside.Microseconds())/float64(n), "worker-µs")
			b.ReportMetric(float64(outside)/float64(inside), "×in-process")
		})
	}
}

// A worker that may have more memory is used again unless it took it.
func TestWorkersWithMoreMemory(t *testing.T) {
	t.Parallel()
	if testkit.RaceDetector() {
		t.Skip("the race detector maps memory as it likes")
	}
	p := newPool(t, Options{Running: 1})
	more := Limits{Time: long, Memory: 256 << 20}
	small, large := compile(t, p, `return 1`), compile(t, p, `const a = []; for (let i = 0; i < 2e5; i++) a.push({i}); return a.length`)
	for _, step := range []struct {
		program *Program
		limits  Limits
		started int
	}{{small, more, 1}, {small, patient, 1}, {large, more, 1}, {small, patient, 2}, {small, more, 2}} {
		if _, err := p.Run(t.Context(), Job{Program: step.program, Limits: step.limits}); err != nil {
			t.Fatal(err)
		}
		if s := p.Stats(); s.Started != step.started {
			t.Errorf("%+v, want %d started", s, step.started)
		}
	}
}
