package script

import (
	"bufio"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// command is the argument that makes this binary a worker.
const command = "hook-worker"

const (
	// maxCalls is how deep calls of a script nest.
	maxCalls = 500
	// maxStack is what the engine's own recursion may take. Beyond it the process ends.
	maxStack = 16 << 20
	// maxPrograms is how many programs a worker keeps.
	maxPrograms = 64
	// maxAsks is how many requests of a script its host serves at once. Others wait.
	maxAsks = 32

	tick = 10 * time.Millisecond
	// grace is how long after its time a worker may need to say so.
	grace = 100 * time.Millisecond

	statusTimeout = 3
	statusMemory  = 4
)

// Main makes this process a worker if it was started as one, and does not return then.
// It is called first in main and in TestMain.
func Main() {
	if len(os.Args) == 2 && os.Args[1] == command {
		os.Exit(work(os.Stdin, os.Stdout))
	}
}

// workerState is what a worker keeps between its jobs.
type workerState struct {
	in       *bufio.Reader
	out      *bufio.Writer
	programs map[string]*goja.Program
	globals  map[string]*goja.Program
	describe *goja.Program
	spare    *environment // for the next job
	memory   int          // that is set
	clock    clock
}

func newWorkerState(in io.Reader, out io.Writer) *workerState {
	s := &workerState{
		in: bufio.NewReaderSize(in, 64<<10), out: bufio.NewWriterSize(out, 64<<10),
		programs: map[string]*goja.Program{},
		globals:  compileGlobals(),
		describe: goja.MustCompile("genkan", describe, true),
	}
	s.clock.parent = os.Getppid()
	s.clock.timer = time.AfterFunc(time.Hour, s.clock.tick)
	s.clock.timer.Stop()
	return s
}

func work(in, out *os.File) int {
	debug.SetMaxStack(maxStack)
	debug.SetTraceback("none")
	debug.SetGCPercent(200) // less often than is usual; the limit of memory holds
	runtime.GOMAXPROCS(1)
	_, _ = time.Now().Zone() // reads the time zone's file

	s := newWorkerState(in, out) // its timer also makes what the runtime needs for timers
	confine()
	s.limitMemory(DefaultMemory)
	if writeFrame(s.out, frameHello, []byte(protocol)) != nil || s.out.Flush() != nil {
		return 1
	}
	for {
		f, err := readFrame(s.in, 1<<30)
		if err != nil {
			return 0 // genkan ended
		}
		switch f.kind {
		case frameCompile:
			err = s.compile(&f)
		case frameJob:
			err = s.run(&f)
		case frameAnswer: // to a request that the last job did not wait for
		default:
			return 1
		}
		if err != nil || s.out.Flush() != nil {
			return 1
		}
		if s.spare == nil {
			s.spare = s.newEnvironment() // while nobody waits
		}
	}
}

// limitMemory sets the limits of memory. Genkan does not reuse a worker that had more
// than the usual and has used it: what it holds may be more than the usual allows.
func (s *workerState) limitMemory(bytes int) {
	if s.memory != bytes {
		s.memory = bytes
		debug.SetMemoryLimit(int64(bytes) / 8 * 7)
		limitMapped(bytes)
	}
}

func (s *workerState) compile(f *frame) error {
	limits := decodeLimits(f.fields[1])
	s.limitMemory(limits.Memory)
	s.clock.start(nil, limits)
	defer s.clock.stop()
	var code []byte
	var err error
	if source := string(f.fields[0]); string(f.fields[2]) == onlyCheck {
		err = check(source)
	} else {
		code, err = transform(source)
	}
	if err != nil {
		var syntax *SyntaxError
		errors.As(err, &syntax)
		return s.failed(&Error{Kind: Threw, Message: syntax.Message, Line: syntax.Line, Column: syntax.Column}, nil)
	}
	return writeFrame(s.out, frameCompiled, code)
}

func (s *workerState) failed(e *Error, console []byte) error {
	const most = 8 << 10
	return writeFrame(s.out, frameFailed, []byte(e.Kind), []byte(cut(e.Message, most)), number(e.Line), number(e.Column), console)
}

// program returns the program of a job, whose code genkan sends when it has not yet
// sent it to this worker.
func (s *workerState) program(f *frame) (*goja.Program, error) {
	id, code := string(f.fields[0]), f.fields[1]
	if len(code) == 0 {
		if p := s.programs[id]; p != nil {
			return p, nil
		}
		return nil, errors.New("the worker does not know the program")
	}
	if len(s.programs) >= maxPrograms {
		clear(s.programs)
	}
	tree, err := goja.Parse(scriptFile, string(code), parser.WithSourceMapLoader(func(string) ([]byte, error) {
		return nil, os.ErrPermission // the map is in the code
	}))
	if err != nil {
		return nil, err
	}
	p, err := goja.CompileAST(tree, false)
	if err == nil {
		s.programs[id] = p
	}
	return p, err
}

// clock ends what takes too long, what outlives genkan or, where genkan cannot see it,
// what takes too much memory. It stands while a script waits for its host.
type clock struct {
	timer  *time.Timer
	parent int
	vm     atomic.Pointer[goja.Runtime]
	end    atomic.Int64 // when the time is over
	left   time.Duration
	memory int
	on     atomic.Bool
}

func (c *clock) start(vm *goja.Runtime, limits Limits) {
	c.vm.Store(vm)
	c.left, c.memory = limits.Time, limits.Memory
	c.resume()
}

func (c *clock) resume() {
	c.end.Store(int64(monotonic() + c.left))
	c.on.Store(true)
	c.timer.Reset(min(tick, c.left))
}

func (c *clock) pause() {
	c.stop()
	c.left = time.Duration(c.end.Load()) - monotonic()
}

func (c *clock) stop() {
	c.on.Store(false)
	c.timer.Stop()
}

func (c *clock) tick() {
	if !c.on.Load() {
		return
	}
	if !parentSeesMemory && heap() > c.memory {
		os.Exit(statusMemory)
	}
	vm := c.vm.Load() // before the end, which may be that of the next job by now
	left := time.Duration(c.end.Load()) - monotonic()
	if left <= 0 && vm != nil {
		vm.Interrupt(errTime)
	}
	if left < -10*grace || os.Getppid() != c.parent {
		os.Exit(statusTimeout)
	}
	c.timer.Reset(tick)
}

var errTime = errors.New("time is over")

// heap returns what the runtime has of the system's memory.
func heap() int {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int(samples[0].Value.Uint64() - samples[1].Value.Uint64()) //nolint:gosec // bytes
}

var started = time.Now() //nolint:gochecknoglobals // where the clock begins

// monotonic returns the time since this process started.
func monotonic() time.Duration { return time.Since(started) }
