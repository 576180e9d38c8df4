package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// coldServers is how many servers genkan has at a cold start, each with
// coldTools tools.
const (
	coldServers = 3
	coldTools   = 20
)

// measureStart measures from the start of the process to the first answer to
// tools/list, with servers that hang, so that only what is remembered of them
// can be the answer.
func measureStart(l *lab, r *report) error {
	hang := filepath.Join(l.dir, "hang")
	servers := map[string]server{}
	for i := range coldServers {
		servers[fmt.Sprintf("child-%d", i)] = l.child("modern", strconv.Itoa(coldTools-1), hang)
	}
	h, err := l.furnish("start", coldServers*coldTools, servers)
	if err != nil {
		return err
	}
	p, err := l.serve(h, "first-start")
	if err != nil {
		return err
	}
	err = h.wait(l.ctx, p)
	p.stop()
	if err != nil {
		return err
	}
	if err := os.WriteFile(hang, nil, 0o600); err != nil {
		return err
	}
	fmt.Fprintf(l.progress, "cold start: %d starts\n", l.scale.starts)
	var ready, listens []float64
	for range l.scale.starts {
		open, first, err := l.coldStart(h)
		if err != nil {
			return err
		}
		listens = append(listens, milliseconds(open))
		ready = append(ready, milliseconds(first))
	}
	part := fmt.Sprintf("cold start, %d servers that hang, %d tools known", coldServers, h.tools)
	r.add(
		row{Part: part, Subject: "genkan", Metric: fmt.Sprintf("start to first tools/list, median of %d", len(ready)), Value: quantile(ready, 0.5), Unit: "ms", Goal: 50},
		row{Part: part, Subject: "genkan", Metric: "slowest", Value: quantile(ready, 1), Unit: "ms"},
		row{Part: part, Subject: "genkan", Metric: "start to listening", Value: quantile(listens, 0.5), Unit: "ms"},
	)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// coldStart starts genkan once.
func (l *lab) coldStart(h *house) (open, first time.Duration, err error) {
	began := time.Now()
	p, err := l.serve(h, "start")
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	for {
		conn, err := net.Dial("tcp", p.address)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Since(began) > patience {
			return 0, 0, fmt.Errorf("genkan does not listen: %s", p.lastWords())
		}
		// Often enough, without taking a processor from genkan.
		time.Sleep(200 * time.Microsecond)
	}
	open = time.Since(began)
	n, err := h.countTools(p)
	first = time.Since(began)
	if err == nil && n != h.tools {
		err = fmt.Errorf("%d tools are listed at the start, not %d", n, h.tools)
	}
	return open, first, err
}
