package fault

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The modes, each of which breaks one thing.
const (
	modeHang         = "hang"          // tools/call is never answered
	modeHangList     = "hang-list"     // tools/list is never answered
	modeHangInit     = "hang-init"     // initialize and server/discover are never answered
	modeStall        = "stall"         // after a tools/call with "stall" in it nothing is answered, pings neither
	modeSlow         = "slow"          // tools/call is answered after -delay
	modeDrip         = "drip"          // answers to tools/call come byte by byte, -delay between
	modeMalformed    = "malformed"     // tools/call is answered with broken JSON
	modeNotUTF8      = "not-utf8"      // tools/call is answered in Shift_JIS
	modeHuge         = "huge"          // tools/call is answered with a result of -size bytes
	modeEndlessSSE   = "endless-sse"   // HTTP: events without end, and no answer among them
	modeEndlessEvent = "endless-event" // HTTP: one event without end
	modeGzipBomb     = "gzip-bomb"     // HTTP: -size bytes that travel as a thousandth of that
	modeReset        = "reset"         // HTTP: the connection breaks in the middle of the answer
	modeCrashLoop    = "crash-loop"    // exits with code 3 at once
	modeNoise        = "noise"         // stdio: lines on stdout that are not messages
	modeStderrFlood  = "stderr-flood"  // 1 MiB on stderr at the start and before each call
	modeDeaf         = "deaf"          // reads nothing: neither stdin nor connections
	modeIgnoreTerm   = "ignore-term"   // outlives SIGTERM and the end of stdin
	modeChangeTools  = "change-tools"  // every tools/call changes the list and says so
	modeElicit       = "elicit"        // every tools/call asks the client first
	modeSlowStart    = "slow-start"    // serves after -delay
	modeDupKeys      = "dup-keys"      // answers carry "result" twice
	modeDeep         = "deep"          // results are nested 100,000 deep
	modeWrongID      = "wrong-id"      // answers carry an id that nobody asked with
	modeDoubleAnswer = "double-answer" // every tools/call is answered twice
	modeTree         = "tree"          // the server is the child of a shell, as under npx
	modeDaemonChild  = "daemon-child"  // a grandchild outlives the server
)

// Modes lists every mode that -mode knows.
func Modes() []string {
	return []string{
		modeHang, modeHangList, modeHangInit, modeStall, modeSlow, modeDrip,
		modeMalformed, modeNotUTF8, modeHuge, modeEndlessSSE, modeEndlessEvent, modeGzipBomb, modeReset,
		modeCrashLoop, modeNoise, modeStderrFlood, modeDeaf, modeIgnoreTerm,
		modeChangeTools, modeElicit, modeSlowStart, modeDupKeys, modeDeep,
		modeWrongID, modeDoubleAnswer, modeTree, modeDaemonChild,
	}
}

const (
	transportStdio = "stdio"
	transportHTTP  = "http"

	eraLegacy = "legacy"
	eraModern = "modern"
	eraBoth   = "both"
)

type options struct {
	era           string
	transport     string
	listen        string
	modes         map[string]bool
	delay         time.Duration
	size          int64
	tools         int
	page          int
	ttlMs         int
	sse           bool
	paramTool     bool
	everything    bool
	tasks         bool
	entries       int
	scheme        string
	crashAfter    int64
	record        string
	recordHeaders bool
	pidfile       string
	counter       string
	lifetime      time.Duration
	exitOnEOF     bool
	child         string
	grown         bool
}

func (o *options) on(mode string) bool { return o.modes[mode] }

func (o *options) speaksLegacy() bool { return o.era != eraModern }
func (o *options) speaksModern() bool { return o.era != eraLegacy }

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	var o options
	var modes string
	flags := flag.NewFlagSet("faultserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.era, "era", eraBoth, "protocol `era` to speak: legacy, modern or both")
	flags.StringVar(&o.transport, "transport", transportStdio, "stdio or http")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to serve HTTP on")
	flags.StringVar(&modes, "mode", "", "comma separated `modes`: "+strings.Join(Modes(), ", "))
	flags.DurationVar(&o.delay, "delay", 10*time.Millisecond, "pause of the modes drip, slow and slow-start")
	flags.Int64Var(&o.size, "size", 300_000_000, "`bytes` of the modes huge and gzip-bomb")
	flags.IntVar(&o.tools, "tools", 0, "`number` of generated tools beside the base tools")
	flags.IntVar(&o.page, "page", 0, "entries per page of a list; 0 is all")
	flags.IntVar(&o.ttlMs, "ttl", 0, "ttlMs of modern lists, in `milliseconds`")
	flags.BoolVar(&o.sse, "sse", false, "HTTP: answer with an event stream where JSON would do")
	flags.BoolVar(&o.paramTool, "param-tool", false, "add the tools lookup and ask_about, which have an argument that travels as a header too")
	flags.BoolVar(&o.everything, "everything", false, "offer all that MCP has beside tools: prompts, resources, completion, logging, questions to the client")
	flags.BoolVar(&o.tasks, "tasks", false, "make tasks of calls, and have clients make some of questions")
	flags.IntVar(&o.entries, "entries", 0, "with -everything: `number` of generated prompts, resources and templates, each")
	flags.StringVar(&o.scheme, "scheme", "fault", "with -everything: `scheme` of the resources' URIs")
	flags.Int64Var(&o.crashAfter, "crash-after", 0, "exit with code 3 after this `number` of answered tools/call")
	flags.StringVar(&o.record, "record", "", "`file` to append every message to, as it came, one per line")
	flags.BoolVar(&o.recordHeaders, "record-headers", false, "HTTP: also record each request's method and headers, as a JSON line before its body")
	flags.StringVar(&o.pidfile, "pidfile", "", "`file` to append the process id to")
	flags.StringVar(&o.counter, "counter", "", "`file` that holds the counter of the tool count")
	flags.DurationVar(&o.lifetime, "lifetime", 10*time.Minute, "exit with code 4 after this time, whatever happens")
	flags.BoolVar(&o.exitOnEOF, "exit-on-eof", false, "HTTP: end when stdin ends, so as not to outlive a killed parent")
	flags.StringVar(&o.child, "child", "", "be a helper process instead: sleep")
	flags.BoolVar(&o.grown, "grown", false, "internal: this process is already inside the tree")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if !slices.Contains([]string{eraLegacy, eraModern, eraBoth}, o.era) {
		return nil, fmt.Errorf("unknown era %q", o.era)
	}
	if o.transport != transportStdio && o.transport != transportHTTP {
		return nil, fmt.Errorf("unknown transport %q", o.transport)
	}
	if o.child != "" && o.child != "sleep" {
		return nil, fmt.Errorf("unknown helper %q", o.child)
	}
	o.modes = make(map[string]bool)
	for mode := range strings.SplitSeq(modes, ",") {
		if mode == "" {
			continue
		}
		// A misspelt mode would make its test pass for the wrong reason.
		if !slices.Contains(Modes(), mode) {
			return nil, fmt.Errorf("unknown mode %q", mode)
		}
		o.modes[mode] = true
	}
	return &o, nil
}
