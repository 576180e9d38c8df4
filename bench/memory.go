package main

import (
	"fmt"
	"time"
)

const mebibyte = 1 << 20

// The goals for a genkan that does nothing: what is its own, and what the
// kernel counts as resident, which includes the binary itself.
const (
	goalAnon     = 20
	goalRSS      = 45
	goalSessions = 60e6 / mebibyte
)

// measureMemory looks at genkan with one child: after its start, after calls,
// and with sessions that nobody uses.
func measureMemory(l *lab, r *report) error {
	h, err := l.furnish("memory", 1, map[string]server{"child": l.child("legacy", "0")})
	if err != nil {
		return err
	}
	p, err := l.serve(h, "memory")
	if err != nil {
		return err
	}
	defer p.stop()
	if err := h.wait(l.ctx, p); err != nil {
		return err
	}
	const part = "memory, one stdio server"
	look := func(when string) (memory, error) {
		fmt.Fprintf(l.progress, "memory: %s, idle for %s\n", when, l.scale.idle)
		time.Sleep(l.scale.idle)
		m, err := p.memory()
		r.add(
			row{Part: part, Subject: "genkan, " + when, Metric: "RssAnon", Value: float64(m.anon) / mebibyte, Unit: "MiB", Goal: goalAnon},
			row{Part: part, Subject: "genkan, " + when, Metric: "VmRSS", Value: float64(m.rss) / mebibyte, Unit: "MiB", Goal: goalRSS},
		)
		return m, err
	}
	if _, err := look("started"); err != nil {
		return err
	}
	calls := job{Target: h.target(p, "legacy", "tools/call", "child__echo", 256), Callers: few, Calls: l.scale.memoryCalls}
	if _, err := l.load.run(calls); err != nil {
		return err
	}
	// A genkan that has become quiet returns memory after 10 to 20 seconds.
	busy, err := p.memory()
	if err != nil {
		return err
	}
	r.add(row{Part: part, Subject: fmt.Sprintf("genkan, at the end of %d calls", l.scale.memoryCalls), Metric: "RssAnon", Value: float64(busy.anon) / mebibyte, Unit: "MiB"})
	before, err := look(fmt.Sprintf("quiet after %d calls", l.scale.memoryCalls))
	if err != nil {
		return err
	}
	sessions := job{Target: h.target(p, "legacy", "initialize", "", 0), Callers: few, Calls: l.scale.sessions}
	if _, err := l.load.run(sessions); err != nil {
		return err
	}
	fmt.Fprintf(l.progress, "memory: %d sessions\n", l.scale.sessions)
	time.Sleep(l.scale.idle)
	after, err := p.memory()
	if err != nil {
		return err
	}
	r.add(row{
		Part: part, Subject: fmt.Sprintf("genkan, %d idle legacy sessions", l.scale.sessions),
		Metric: "growth of RssAnon", Value: float64(after.anon-before.anon) / mebibyte, Unit: "MiB", Goal: goalSessions,
	})
	return nil
}
