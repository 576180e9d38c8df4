package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// peersCommand is the first argument that asks for the peers.
const peersCommand = "peers"

// peersDocument keeps their result.
const peersDocument = "docs/peers.md"

// guest is a kind of peer.
type guest struct {
	name string
	eras []string
	// open makes a peer that will speak an era with a target.
	open func(l *lab, era string, to target) (peer, error)
	// cannot are the steps that the client has no means for.
	cannot []string
	// startsAnew is set when the client starts a server over stdio for every
	// question.
	startsAnew bool
}

// auto is an era that a client finds out by itself.
const auto = "auto"

func guests() []guest {
	both := []string{legacy, modern}
	return []guest{
		{"Inspector CLI", []string{legacy, modern, auto}, func(l *lab, era string, to target) (peer, error) {
			return &inspectorPeer{l, l.node, era, to}, nil
		}, []string{"progress", "completion", "elicitation", "sampling"}, true},
		{"TypeScript SDK", both, func(l *lab, _ string, _ target) (peer, error) {
			script, err := l.asset("peers/typescript.mjs")
			if err != nil {
				return nil, err
			}
			return l.startLinePeer("typescript", []string{"PEER_MODULES=" + l.node.modules}, l.node.binary, script)
		}, nil, false},
		{"Python SDK", both, func(l *lab, _ string, _ target) (peer, error) {
			script, err := l.asset("peers/python.py")
			if err != nil {
				return nil, err
			}
			return l.startLinePeer("python", nil, l.python.binary("python"), "-I", script)
		}, nil, false},
		{"Go SDK", both, func(*lab, string, target) (peer, error) { return &goSDKPeer{}, nil }, nil, false},
		{"mcp-go", both, func(l *lab, _ string, _ target) (peer, error) { return l.startLinePeer("mcp-go", nil, l.mcpgo) }, nil, false},
	}
}

// Wires between a client and genkan.
const (
	overHTTP  = "HTTP"
	overStdio = "stdio"
	direct    = "none: direct"
)

// arrangement is what stands behind genkan.
type arrangement struct {
	name    string
	servers []string
	// era is the one that genkan speaks with them. It is checked.
	era  string
	open func(*lab) (map[string]server, error)
	// slow is set when starting the servers takes seconds.
	slow bool
}

func arrangements() []arrangement {
	return []arrangement{
		{"everything, filesystem, memory over stdio", []string{everything, filesystem, memory}, legacy, func(l *lab) (map[string]server, error) {
			return map[string]server{
				everything: {Command: l.node.binary, Args: []string{l.serverScript(everything), "stdio"}},
				filesystem: {Command: l.node.binary, Args: []string{l.serverScript(filesystem), l.servedFolder()}},
				memory: {
					Command: l.node.binary, Args: []string{l.serverScript(memory)},
					Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(l.dir, "memory.json")},
				},
			}, nil
		}, false},
		{"git, fetch, time over stdio", pythonServers, modern, openPythonServers, true},
		{"everything over HTTP", []string{everything}, legacy, func(l *lab) (map[string]server, error) {
			url, err := l.everythingOver("streamableHttp", "/mcp")
			return map[string]server{everything: {URL: url}}, err
		}, false},
		{"everything over SSE", []string{everything}, legacy, func(l *lab) (map[string]server, error) {
			url, err := l.everythingOver("sse", "/sse")
			return map[string]server{everything: {URL: url, Type: "sse"}}, err
		}, false},
	}
}

func (l *lab) serverScript(name string) string {
	return filepath.Join(l.node.modules, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
}

// servedFolder is what server-filesystem may read.
func (l *lab) servedFolder() string { return filepath.Join(l.dir, "served") }

func (l *lab) servedFile() string { return filepath.Join(l.servedFolder(), "note.txt") }

// everythingOver starts server-everything on a port of its own.
func (l *lab) everythingOver(transport, path string) (string, error) {
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	_, port, _ := strings.Cut(address, ":")
	p, err := l.startWith(everything+"-"+transport, []string{"PORT=" + port}, l.node.binary, l.serverScript(everything), transport)
	if err != nil {
		return "", err
	}
	return "http://" + address + path, p.untilListening(l.ctx, address)
}

// runPeers is the command. Its status is 1 when something failed through
// genkan that works without, and 2 when that could not be found out.
func runPeers(ctx context.Context, args []string, out, progress io.Writer) int {
	var opt options
	flags := flag.NewFlagSet(peersCommand, flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&opt.only, "only", "", "run only the `clients` whose names contain this")
	flags.StringVar(&opt.behind, "behind", "", "run only what has this `behind` genkan, by a part of its name")
	flags.StringVar(&opt.keep, "keep", "", "keep all logs in this `directory`")
	flags.StringVar(&opt.genkan, "genkan", "", "test this `binary` instead of building one")
	write := flags.Bool("write", false, "also keep the result in "+peersDocument)
	limit := flags.Duration("timeout", 20*time.Minute, "give up after this long")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *write && opt.only+opt.behind != "" {
		fmt.Fprintln(progress, "peers: -write keeps whole results; it does not go with -only or -behind")
		return 2
	}
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	r, costs, err := visitAll(ctx, opt, progress)
	r.print(out)
	printBills(out, costs)
	if err == nil && *write {
		err = writeInto(peersDocument, r.markdown()+billsMarkdown(costs))
	}
	if err != nil {
		fmt.Fprintln(progress, "peers:", err)
		return 2
	}
	if r.failures() > 0 {
		return 1
	}
	return 0
}

// visitAll has all clients visit all arrangements, and finds out what search mode
// saves.
func visitAll(ctx context.Context, opt options, progress io.Writer) (r peersReport, costs []bill, err error) {
	chosen := slices.DeleteFunc(guests(), func(c guest) bool {
		return !strings.Contains(strings.ToLower(c.name), strings.ToLower(opt.only))
	})
	if len(chosen) == 0 {
		return r, nil, fmt.Errorf("no client is named like %q", opt.only)
	}
	l, err := openLab(ctx, opt, progress)
	if err != nil {
		return r, costs, err
	}
	defer l.close()
	if err := l.prepareForPeers(); err != nil {
		return r, costs, err
	}
	if opt.behind == "" {
		if r, err = l.visitDirect(r, chosen); err != nil {
			return r, costs, err
		}
	}
	for _, a := range arrangements() {
		if !strings.Contains(a.name, opt.behind) {
			continue
		}
		if r, err = l.visitArrangement(r, a, chosen); err != nil {
			return r, costs, err
		}
	}
	if strings.Contains(knowledgeBase, opt.behind) {
		if r, err = l.visitKnowledge(r, chosen); err != nil {
			return r, costs, err
		}
	}
	if strings.Contains(largeAnswers, opt.behind) {
		if r, err = l.visitLarge(r, chosen); err != nil {
			return r, costs, err
		}
	}
	if opt.behind != "" {
		return r, nil, nil
	}
	r, costs, err = l.visitAsAgents(r, chosen)
	return r, costs, err
}

func (l *lab) prepareForPeers() (err error) {
	if l.node, err = l.install("peers"); err != nil {
		return err
	}
	if l.python, err = l.installPython(); err != nil {
		return err
	}
	l.say("building the mcp-go client")
	// A module of its own, so it is built where it lies.
	if l.mcpgo, err = l.buildIn("conformance/mcpgo", "mcp-go", "."); err != nil {
		return err
	}
	if err := os.MkdirAll(l.servedFolder(), 0o755); err != nil {
		return err
	}
	return os.WriteFile(l.servedFile(), []byte(fileText+"\n"), 0o600)
}

// visitDirect shows what the clients and server-everything can do without
// genkan.
func (l *lab) visitDirect(r peersReport, chosen []guest) (peersReport, error) {
	defer l.stopAll()
	url, err := l.everythingOver("streamableHttp", "/mcp")
	if err != nil {
		return r, err
	}
	for _, c := range chosen {
		r = append(r, l.visit(c, legacy, direct, "everything over HTTP", []string{everything}, target{URL: url}))
	}
	return r, nil
}

// visitArrangement opens genkan once for all clients over HTTP; over stdio
// each client starts its own.
func (l *lab) visitArrangement(r peersReport, a arrangement, chosen []guest) (peersReport, error) {
	defer l.stopAll()
	servers, err := a.open(l)
	if err != nil {
		return r, err
	}
	name := strings.ReplaceAll(strings.ReplaceAll(a.name, ",", ""), " ", "-")
	d, broken := l.openDoor(name, l.marked(servers, name))
	if broken == nil {
		broken = d.untilReady(l.ctx)
	}
	if broken == nil {
		broken = d.speaks(l.ctx, a.era)
	}
	var rows []row
	var marks []string // of the rows
	for _, c := range chosen {
		for _, era := range c.eras {
			if broken != nil {
				r = append(r, row{c.name, era, overHTTP, a.name, []outcome{{"genkan", stable(strings.ReplaceAll(broken.Error(), l.dir, ""))}}})
				continue
			}
			rows = append(rows, l.visit(c, era, overHTTP, a.name, a.servers, target{URL: d.url(), Token: d.token}))
			marks = append(marks, name)
			if len(a.servers) == 1 || a.slow && c.startsAnew {
				continue
			}
			own := fmt.Sprint(name, "-", len(rows))
			dir, err := l.furnish(own, l.marked(servers, own))
			if err != nil {
				return r, err
			}
			rows = append(rows, l.visit(c, era, overStdio, a.name, a.servers, target{Command: l.stdioCommand(dir)}))
			marks = append(marks, own)
		}
	}
	if broken == nil && findsLeftovers && hasChildren(servers) {
		d.stop()
		for i := range rows {
			rows[i].note(nothingLeft, l.leftovers(marks[i]))
		}
	}
	return append(r, rows...), l.ctx.Err()
}

// visitAsAgents has the clients use search mode, and one count tokens.
func (l *lab) visitAsAgents(r peersReport, chosen []guest) (peersReport, []bill, error) {
	defer l.stopAll()
	a := arrangements()[0]
	servers, err := a.open(l)
	if err != nil {
		return r, nil, err
	}
	d, err := l.openDoor("agents", servers)
	if err != nil {
		return r, nil, err
	}
	if err := d.untilReady(l.ctx); err != nil {
		return r, nil, err
	}
	for _, c := range chosen {
		for _, era := range c.eras {
			r = append(r, l.visitWith(c, era, inSearchMode, a.name, agentSteps, target{URL: d.url() + "?mode=search", Token: d.token}))
		}
	}
	costs, err := l.bills(target{URL: d.url(), Token: d.token})
	return r, costs, err
}

// visit has one client do all that it can.
func (l *lab) visit(c guest, era, wire, behind string, servers []string, to target) row {
	return l.visitWith(c, era, wire, behind, stepsAt(servers), to)
}

// visitWith has one client do some steps.
func (l *lab) visitWith(c guest, era, wire, behind string, steps []step, to target) row {
	r := row{client: c.name, era: era, wire: wire, behind: behind}
	l.say("%s, %s, %s: %s", c.name, era, wire, behind)
	to.Modern, to.Version = era == modern, revision(era)
	to.Content, to.Reply = map[string]any{"name": userSays}, modelSays
	p, err := c.open(l, era, to)
	if err != nil {
		r.note("start", err)
		return r
	}
	defer p.close()
	v := &visit{
		peer: p, name: fmt.Sprintf("visitor-%d", time.Now().UnixNano()), file: l.servedFile(),
		repository: l.repository(), site: l.site,
		started: time.Now().Add(patience), tools: map[string]string{},
	}
	connect := step{"connect", func(ctx context.Context, v *visit) error { return v.connect(ctx, era, to) }}
	for _, s := range slices.Concat([]step{connect}, steps) {
		// The modern era has no level to set; log messages are asked for call by call.
		if slices.Contains(c.cannot, s.name) || s.name == "logging/setLevel" && era != legacy {
			continue
		}
		ctx, cancel := context.WithTimeout(l.ctx, stepLimit)
		err := s.do(ctx, v)
		cancel()
		r.note(s.name, err)
		if s.name == "connect" && err != nil {
			break
		}
	}
	return r
}
