package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const workflowTool = "modern__echo"

// tinyHook looks at one member, redactHook at every text of a result. The prose of the
// calls has a visitor in each line.
const (
	tinyHook   = `if (context.request.params.arguments.upper) return {action: "deny", reason: "no capitals"}`
	redactHook = `const secret = /\b(?:sk|ghp|xox[bp])[-_][A-Za-z0-9]{16,}\b/g, name = /\bvisitor\b/g;
		mapText(context.response, (s) => s.replace(secret, "[secret]").replace(name, "[someone]"));`
)

// flow is a workflow with one hook, before or behind the call.
type flow struct {
	id, tools, when, hook string
	behind                bool
}

func (f flow) write(folder string) error {
	type conf = map[string]any
	hook := conf{"id": "hook", "type": "hook", "data": conf{"hook": conf{"script": f.hook, "blocking": true}}}
	path := []string{"start", "hook", "call", "end"}
	if f.behind {
		path[1], path[2] = path[2], path[1]
	}
	var edges []conf
	for i := range path[1:] {
		edges = append(edges, conf{"source": path[i], "target": path[i+1]})
	}
	match := conf{"tools": []string{f.tools}}
	if f.when != "" {
		match["when"] = f.when
	}
	text, err := json.Marshal(conf{
		"id": f.id, "name": f.id, "workflowType": "tools/call", "enabled": true, "match": match, "limits": conf{"hookMs": attackTime.Milliseconds()},
		"nodes": []conf{{"id": "start", "type": "start"}, hook, {"id": "call", "type": "mcp-call"}, {"id": "end", "type": "end"}}, "edges": edges,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, f.id+".json"), text, 0o600)
}

// withFlows starts a genkan that has workflows.
func (l *lab) withFlows(s *stage, name string, flows []flow) (*process, error) {
	name = "workflows-" + name
	h, err := l.furnish(name, len(eras), s.servers)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(h.dir, "flows")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	for _, f := range flows {
		if err := f.write(folder); err != nil {
			return nil, err
		}
	}
	if err := h.set("workflows", folder); err != nil {
		return nil, err
	}
	p, err := l.serve(h, name)
	if err != nil {
		return nil, err
	}
	return p, h.wait(l.ctx, p)
}

// fifty returns fifty workflows, of which the first is the given one, or none matches.
func fifty(first ...flow) []flow {
	for i := len(first); i < 50; i++ {
		first = append(first, flow{id: fmt.Sprintf("other-%d", i), tools: fmt.Sprintf("server-%d__*", i), hook: tinyHook})
	}
	return first
}

// measureWorkflows measures whole calls with and without workflows, scripts against goja in
// process, and innocent calls beside scripts that attack.
func measureWorkflows(l *lab, r *report) error {
	if err := measureScripts(l, r); err != nil {
		return err
	}
	s, err := l.setUp("workflows", nil)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.measureFlows(l, r); err != nil {
		return err
	}
	return s.measureAttacks(l, r)
}

func (s *stage) measureFlows(l *lab, r *report) error {
	tiny := flow{id: "tiny", tools: workflowTool, hook: tinyHook}
	redact := flow{id: "redact", tools: workflowTool, hook: redactHook, behind: true}
	houses := map[string]*process{"none": s.genkan}
	for name, flows := range map[string][]flow{
		"other": fifty(), "one": {tiny}, "fifty": fifty(tiny), "redact": {redact},
	} {
		p, err := l.withFlows(s, name, flows)
		if err != nil {
			return err
		}
		defer p.stop()
		houses[name] = p
	}
	const era, callers = "modern", 1
	part := "workflows, modern to modern, one caller"
	subject := func(name string, size int) subject { return s.call(name, houses[name], era, workflowTool, size) }
	got, err := l.interleave("workflows", callers, l.scale.small, subject("none", 256), subject("other", 256), subject("one", 256), subject("fifty", 256))
	if err != nil {
		return err
	}
	none, other, one, fifty := got[0], got[1], got[2], got[3]
	latency := "latency p50, " + sizeName(256)
	r.add(
		row{Part: part, Subject: "no workflow", Metric: latency, Value: none.p50(), Unit: "µs"},
		row{
			Part: part, Subject: "50 workflows, none matches", Metric: latency, Value: other.p50(), Unit: "µs",
			FloorName: "no workflow", Floor: none.p50(), Ratio: other.slower(none), Goal: unchanged,
		},
		row{Part: part, Subject: "one, a tiny hook", Metric: latency, Value: one.p50(), Unit: "µs", FloorName: "no workflow", Floor: none.p50(), Ratio: one.slower(none)},
		row{
			Part: part, Subject: "one, a tiny hook", Metric: "added at p50, " + sizeName(256), Unit: "µs",
			Value: one.p50() - none.p50(),
		},
		row{
			Part: part, Subject: "50, of which that one matches", Metric: latency, Value: fifty.p50(), Unit: "µs",
			FloorName: "one", Floor: one.p50(), Ratio: fifty.slower(one), Goal: unchanged,
		},
	)
	for _, size := range []int{4 << 10, 100 << 10} {
		calls := max(l.scale.large*(2<<10)/size, callers) // half as many of 4 KB
		got, err := l.interleave("redaction of "+sizeName(size), callers, calls, subject("none", size), subject("redact", size))
		if err != nil {
			return err
		}
		r.add(row{
			Part: part, Subject: "one, a redaction", Metric: "latency p50, " + sizeName(size), Value: got[1].p50(), Unit: "µs",
			FloorName: "no workflow", Floor: got[0].p50(), Ratio: got[1].slower(got[0]),
		})
	}
	return nil
}

// slower compares the latency at p50 round by round.
func (s series) slower(floor series) *ratio {
	return s.compare(floor, func(x sample) float64 { return float64(x.outcome.P50) })
}

// scriptGoals are the most that a script may take, in µs or times goja in process.
var scriptGoals = []struct {
	name, subject string
	µs, times     float64
}{
	{"tiny", "tiny hook", 80, 0},
	{"4KB", "redaction of 4 KB", 0, 1.3},
	{"100KB", "redaction of 100 KB", 0, 1.2},
	{"tiny_beside_100KB", "tiny hook, a result of 100 KB", 0, 0},
}

// measureScripts runs the benchmarks of scripts without calls around them. Those that ask
// go test have no place in a run that has no time for it.
func measureScripts(l *lab, r *report) error {
	if l.scale.benchTime == "" {
		return nil
	}
	const part = "scripts, in turns with goja in process"
	found, err := l.goBench("./internal/script", "BenchmarkRun/(tiny|4KB|100KB)")
	if err != nil {
		return err
	}
	for _, goal := range scriptGoals {
		got := found["BenchmarkRun/"+goal.name]
		worker := row{Part: part, Subject: goal.subject, Metric: "p50", Value: quantile(got["worker-p50-µs"], 0.5), Unit: "µs", Goal: goal.µs}
		if goal.µs == 0 {
			times := got["×in-process"]
			worker.FloorName, worker.Floor, worker.Goal = "goja in process", quantile(got["in-process-p50-µs"], 0.5), goal.times
			worker.Ratio = &ratio{Median: quantile(times, 0.5), Low: quantile(times, 0.25), High: quantile(times, 0.75)}
		}
		r.add(worker, row{Part: part, Subject: "echo between two processes, as many bytes", Metric: "p50", Value: quantile(got["echo-p50-µs"], 0.5), Unit: "µs"})
	}
	if found, err = l.goBench("./internal/workflow", "BenchmarkNoMatch"); err != nil {
		return err
	}
	got := found["BenchmarkNoMatch"]
	r.add(
		row{Part: part, Subject: "50 workflows, none matches", Metric: "added to a call", Value: quantile(got["ns/op"], 0.5) / 1000, Unit: "µs", Goal: 2},
		row{Part: part, Subject: "50 workflows, none matches", Metric: "allocations", Value: quantile(got["allocs/op"], 0.5), Unit: ""},
	)
	return nil
}

// goBench runs benchmarks of a package, some times, and returns their metrics by name and
// unit.
func (l *lab) goBench(pkg, pattern string) (map[string]map[string][]float64, error) {
	fmt.Fprintln(l.progress, "go test -bench", pattern, pkg)
	out, err := exec.CommandContext(l.ctx, "go", "test", "-run", "^$", "-bench", pattern, "-benchmem",
		"-benchtime", l.scale.benchTime, "-count", strconv.Itoa((l.scale.rounds+1)/2), pkg).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	found := map[string]map[string][]float64{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(fields[0], "")
		if found[name] == nil {
			found[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, err
			}
			found[name][fields[i+1]] = append(found[name][fields[i+1]], value)
		}
	}
	return found, nil
}

var processors = regexp.MustCompile(`-\d+$`)

// attacks are what hooks do that would end or stop a server that ran them itself.
var attacks = []string{
	`while (true) {}`,
	`/^(?=.)(a+)+$/.test("a".repeat(40) + "!")`,
	`/^(a+)+\1$/.test("a".repeat(40) + "!")`,
	`return 'x'.repeat(1 << 30).length`,
	`Array(2e8).fill(0)`,
	`const a = []; for (let i = 0; i < 2e7; i++) a[i] = i ^ 0x55555; a.sort()`,
	`const f = () => eval("f()"); f()`,
	`const f = () => new Function("f", "return f()")(f); f()`,
	`JSON.parse("[".repeat(1e7))`,
	`const big = JSON.stringify(Array(5e4).fill("text")); for (;;) JSON.parse(big)`,
	`const f = () => 1 + f(); f()`,
	`await new Promise(() => {})`,
}

// attackTime is how long a hook may run.
const attackTime = 300 * time.Millisecond

// measureAttacks compares innocent calls with hooks of their own beside attacks in hooks
// with the same calls beside a process outside genkan that is busy for as long.
func (s *stage) measureAttacks(l *lab, r *report) error {
	attacks := attacks[:min(len(attacks), l.scale.attacks)]
	flows := []flow{{id: "innocent", tools: workflowTool, hook: `context.request.params.arguments.upper = true`}}
	for i, attack := range attacks {
		flows = append(flows, flow{id: attackName(i), tools: "legacy__echo", when: fmt.Sprintf("request.params.arguments.text == %q", attackName(i)), hook: attack})
	}
	p, err := l.withFlows(s, "attacked", flows)
	if err != nil {
		return err
	}
	defer p.stop()
	spinner, err := l.start("spin", l.self, roleCommand, "spin")
	if err != nil {
		return err
	}
	defer spinner.stop()
	innocent := s.call("innocent", p, "modern", workflowTool, 256)
	rounds := min(l.scale.rounds, 4) // a hook that is stopped five times within a minute is refused
	fmt.Fprintf(l.progress, "attacks: %d rounds of %d\n", rounds, len(attacks))
	var attacked, busy series
	for range rounds {
		var spans []time.Duration
		beside, err := l.beside(innocent, func() error {
			for i := range attacks {
				began := time.Now()
				if err := s.attack(p, i); err != nil {
					return err
				}
				spans = append(spans, time.Since(began))
			}
			return nil
		})
		if err != nil {
			return err
		}
		attacked = append(attacked, beside)
		if beside, err = l.beside(innocent, func() error {
			for _, span := range spans {
				if _, err := fmt.Fprintln(spinner.stdin, span); err != nil {
					return err
				}
				if _, err := spinner.stdout.ReadString('\n'); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		busy = append(busy, beside)
	}
	part := fmt.Sprintf("innocent calls with a hook, 2 callers, beside %d attacks in hooks", len(attacks))
	r.add(row{
		Part: part, Subject: "innocent calls", Metric: "latency p99", Value: attacked.p99(), Unit: "µs",
		FloorName: "beside a busy process", Floor: busy.p99(),
		Ratio: attacked.compare(busy, func(x sample) float64 { return float64(x.outcome.P99) }), Goal: 1.5,
	})
	r.add(row{
		Part: part, Subject: "innocent calls", Metric: "latency p50", Value: attacked.p50(), Unit: "µs",
		FloorName: "beside a busy process", Floor: busy.p50(), Ratio: attacked.slower(busy),
	})
	return nil
}

func attackName(i int) string { return fmt.Sprintf("attack-%d", i) }

// attack has one attack made, which must end as a denial.
func (s *stage) attack(p *process, i int) error {
	t := s.house.target(p, "modern", "tools/call", "legacy__echo", 0)
	t.Text = attackName(i)
	c, err := dial(t)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.exchange(c.request); err != nil {
		return err
	}
	if !strings.Contains(string(c.body), t.Text+`\" failed at its node`) {
		return fmt.Errorf("%s was answered with %.300s", t.Text, c.body)
	}
	return nil
}

// beside measures calls for as long as something else takes. None may fail.
func (l *lab) beside(s subject, work func() error) (sample, error) {
	done := make(chan error, 1)
	go func() { done <- work() }()
	var all []outcome
	for {
		// Jobs are short, so that the last one ends soon after the work.
		o, err := l.load.run(job{Target: s.target, Callers: 2, Calls: 50, Times: true})
		if err != nil {
			return sample{}, errors.Join(err, <-done)
		}
		all = append(all, o)
		select {
		case err := <-done:
			var took []float64
			for _, o := range all {
				for _, t := range o.Took {
					took = append(took, float64(t))
				}
			}
			return sample{outcome: outcome{P50: time.Duration(quantile(took, 0.5)), P99: time.Duration(quantile(took, 0.99))}}, err
		default:
		}
	}
}

// spinRole is busy for as long as each line of its input says, with the priority of a
// worker, and answers each.
func spinRole(in io.Reader, out io.Writer) error {
	const workers = 5
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, workers)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		span, err := time.ParseDuration(lines.Text())
		if err != nil {
			return err
		}
		for began := time.Now(); time.Since(began) < span; { //nolint:revive // this is what it is for
		}
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
	}
	return nil
}
