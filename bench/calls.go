package main

import (
	"fmt"
	"maps"
)

// callers of most measurements, and of those that want a crowd.
const (
	few  = 16
	many = 64
)

// eras of client and upstream.
var eras = []string{"legacy", "modern"}

// stage is what calls are measured on: an upstream of one era, the floor
// before it, and genkan, which has the upstreams of both.
type stage struct {
	// by era
	upstream, reverse, lean map[string]*process
	genkan                  *process
	house                   *house
	servers                 map[string]server
	// rival is another build of genkan, nil for none, in a house like ours.
	rival *process
}

// setUp starts upstreams, floors and genkan. Servers are added to those of the
// two upstreams.
func (l *lab) setUp(name string, servers map[string]server) (*stage, error) {
	s := &stage{upstream: map[string]*process{}, reverse: map[string]*process{}, lean: map[string]*process{}}
	all := maps.Clone(servers)
	if all == nil {
		all = map[string]server{}
	}
	for _, era := range eras {
		up, err := l.role("upstream", era, "0")
		if err != nil {
			return nil, err
		}
		if s.reverse[era], err = l.role("reverse", "plain", "http://"+up.address); err != nil {
			return nil, err
		}
		if s.lean[era], err = l.role("reverse", "lean", "http://"+up.address); err != nil {
			return nil, err
		}
		s.upstream[era] = up
		all[era] = server{URL: "http://" + up.address + "/mcp"}
	}
	s.servers = all
	var err error
	if s.house, err = l.furnish(name, len(all), all); err != nil {
		return nil, err
	}
	if s.genkan, err = l.serve(s.house, name); err != nil {
		return nil, err
	}
	if err := s.house.wait(l.ctx, s.genkan); err != nil || l.rival == "" {
		return s, err
	}
	theirs, err := l.furnish(name+"-rival", len(all), all)
	if err != nil {
		return nil, err
	}
	if s.rival, err = l.serveWith([]string{l.rival}, theirs, name+"-rival"); err != nil {
		return nil, err
	}
	return s, theirs.wait(l.ctx, s.rival)
}

func (s *stage) stop() {
	for _, era := range eras {
		s.reverse[era].stop()
		s.lean[era].stop()
		s.upstream[era].stop()
	}
	s.genkan.stop()
	if s.rival != nil {
		s.rival.stop()
	}
}

// call is a call to one of the stage's processes. Everybody gets the same
// bytes: the floor passes genkan's name of the tool on, and the upstream does
// not mind.
func (s *stage) call(name string, p *process, era, tool string, size int) subject {
	return subject{name: name, process: p, target: s.house.target(p, era, "tools/call", tool, size)}
}

// withRival adds the rival to the subjects, if there is one.
func (s *stage) withRival(subjects []subject, era, tool string, size int) []subject {
	if s.rival == nil {
		return subjects
	}
	return append(subjects, s.call("rival", s.rival, era, tool, size))
}

// rivalRow compares the rival, measured last, with genkan.
func (s *stage) rivalRow(part, metric string, genkan series, all []series) []row {
	if s.rival == nil {
		return nil
	}
	rival := all[len(all)-1]
	return []row{{
		Part: part, Subject: "rival", Metric: metric, Value: rival.cpu(), Unit: "µs",
		FloorName: "genkan", Floor: genkan.cpu(), Ratio: rival.against(genkan),
	}}
}

// measureCalls compares calls over HTTP, small and large, and those that
// somebody looks into.
func measureCalls(l *lab, r *report) error {
	s, err := l.setUp("calls", nil)
	if err != nil {
		return err
	}
	defer s.stop()
	// A data directory has one genkan that serves it, so each has its own.
	looking := map[string]*process{}
	for _, kind := range []string{"none", "miss", "match"} {
		h, err := l.furnish("gateway-"+kind, len(eras), s.servers)
		if err != nil {
			return err
		}
		p, err := l.gateway(h, kind)
		if err != nil {
			return err
		}
		defer p.stop()
		looking[kind] = p
	}
	for _, era := range eras {
		if err := s.measureSize(l, r, era, 256, l.scale.small, 1.2); err != nil {
			return err
		}
		if err := s.measureSize(l, r, era, 16<<10, l.scale.large, 1.5); err != nil {
			return err
		}
		if err := s.measureLooking(l, r, era, looking); err != nil {
			return err
		}
	}
	return nil
}

// measureLooking compares a genkan that nobody looks into with those where
// somebody does.
func (s *stage) measureLooking(l *lab, r *report, era string, looking map[string]*process) error {
	tool := era + "__echo"
	got, err := l.interleave("looking into calls, "+era, few, l.scale.small,
		s.call("reverse proxy", s.reverse[era], era, tool, 256),
		s.call("none", looking["none"], era, tool, 256),
		s.call("miss", looking["miss"], era, tool, 256),
		s.call("match", looking["match"], era, tool, 256))
	if err != nil {
		return err
	}
	part, metric := "looking into calls, "+era+" to "+era, "CPU per call, 256 B"
	r.add(
		row{
			Part: part, Subject: "genkan, nobody looks", Metric: metric, Value: got[1].cpu(), Unit: "µs",
			FloorName: "reverse proxy", Floor: got[0].cpu(), Ratio: got[1].against(got[0]),
		},
		row{
			Part: part, Subject: "genkan, somebody looks at other tools", Metric: metric, Value: got[2].cpu(), Unit: "µs",
			FloorName: "nobody looks", Floor: got[1].cpu(), Ratio: got[2].against(got[1]), Goal: unchanged,
		},
		row{
			Part: part, Subject: "genkan, arguments and result rewritten", Metric: metric, Value: got[3].cpu(), Unit: "µs",
			FloorName: "reverse proxy", Floor: got[0].cpu(), Ratio: got[3].against(got[0]), Goal: 2,
		},
	)
	return nil
}

// unchanged is the ratio that is still noise: two identical processes differ
// by as much on a busy machine.
const unchanged = 1.1

// measureSize compares calls of one size.
func (s *stage) measureSize(l *lab, r *report, era string, size, calls int, goal float64) error {
	tool := era + "__echo"
	direct := s.call("direct", s.upstream[era], era, tool, size)
	direct.process = nil
	got, err := l.interleave(fmt.Sprintf("calls of %d bytes, %s", size, era), few, calls, s.withRival([]subject{
		direct,
		s.call("reverse proxy", s.reverse[era], era, tool, size),
		s.call("genkan", s.genkan, era, tool, size),
		s.call("lean reverse proxy", s.lean[era], era, tool, size),
	}, era, tool, size)...)
	if err != nil {
		return err
	}
	label := sizeName(size)
	part := fmt.Sprintf("calls over HTTP, %s to %s, %d callers", era, era, few)
	r.add(row{
		Part: part, Subject: "genkan", Metric: "CPU per call, " + label, Value: got[2].cpu(), Unit: "µs",
		FloorName: "reverse proxy", Floor: got[1].cpu(), Ratio: got[2].against(got[1]), Goal: goal,
	})
	r.add(row{
		Part: part, Subject: "genkan", Metric: "CPU per call, " + label, Value: got[2].cpu(), Unit: "µs",
		FloorName: "lean proxy", Floor: got[3].cpu(), Ratio: got[2].against(got[3]),
	})
	r.add(s.rivalRow(part, "CPU per call, "+label, got[2], got)...)
	for i, name := range []string{"direct", "reverse proxy", "genkan"} {
		r.add(
			row{Part: part, Subject: name, Metric: "calls per second, " + label, Value: got[i].perSecond(calls), Unit: "/s"},
			row{Part: part, Subject: name, Metric: "latency p50, " + label, Value: got[i].p50(), Unit: "µs"},
			row{Part: part, Subject: name, Metric: "latency p99, " + label, Value: got[i].p99(), Unit: "µs"},
		)
	}
	return nil
}

func sizeName(size int) string {
	if size >= 1<<10 {
		return fmt.Sprintf("%d KB", size>>10)
	}
	return fmt.Sprintf("%d B", size)
}

// measureStdio compares one child that everybody shares with the floor, which
// has a connection for each caller.
func measureStdio(l *lab, r *report) error {
	s, err := l.setUp("stdio", map[string]server{
		"child-legacy": l.child("legacy", "0"),
		"child-modern": l.child("modern", "0"),
	})
	if err != nil {
		return err
	}
	defer s.stop()
	for _, era := range eras {
		tool := "child-" + era + "__echo"
		got, err := l.interleave("calls to a child, "+era, many, l.scale.small, s.withRival([]subject{
			s.call("reverse proxy", s.reverse[era], era, tool, 256),
			s.call("genkan", s.genkan, era, tool, 256),
		}, era, tool, 256)...)
		if err != nil {
			return err
		}
		part := fmt.Sprintf("one stdio child, %d callers", many)
		r.add(s.rivalRow(part, "CPU per call, 256 B, "+era, got[1], got)...)
		r.add(
			row{
				Part: part, Subject: "genkan, " + era, Metric: "CPU per call, 256 B", Value: got[1].cpu(), Unit: "µs",
				FloorName: "reverse proxy", Floor: got[0].cpu(), Ratio: got[1].against(got[0]), Goal: 1,
			},
			row{Part: part, Subject: "genkan, " + era, Metric: "calls per second", Value: got[1].perSecond(l.scale.small), Unit: "/s"},
			row{Part: part, Subject: "genkan, " + era, Metric: "latency p99", Value: got[1].p99(), Unit: "µs"},
		)
	}
	return nil
}
