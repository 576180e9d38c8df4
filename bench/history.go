package main

import "fmt"

// histories are the settings of record that are compared, the floor first.
var histories = []struct {
	name   string
	record any
	goal   float64 // against the first
}{
	{"no history", "off", 0},
	{"facts of calls", map[string]string{"bodies": "off"}, 1.03},
	// The limit is low, so that most of the time the history is full, as after some days
	// of use.
	{"facts and bodies", map[string]any{"bodies": "all", "megabytes": 64}, 1.1},
}

// withHistory is the most that genkan may cost with a history, against the reverse
// proxy.
const withHistory = 1.1

// measureHistory compares calls without a call history, with the facts of calls, and
// with their bodies.
func measureHistory(l *lab, r *report) error {
	s, err := l.setUp("history", nil)
	if err != nil {
		return err
	}
	defer s.stop()
	keeping := make([]*process, len(histories))
	for i, kept := range histories {
		h, err := l.furnish(fmt.Sprintf("history-%d", i), len(eras), s.servers)
		if err != nil {
			return err
		}
		if err := h.set("record", kept.record); err != nil {
			return err
		}
		if keeping[i], err = l.serve(h, fmt.Sprintf("history-%d", i)); err != nil {
			return err
		}
		defer keeping[i].stop()
		if err := h.wait(l.ctx, keeping[i]); err != nil {
			return err
		}
	}
	const era, tool = "legacy", "legacy__echo"
	part := fmt.Sprintf("call history, %s to %s, %d callers", era, era, few)
	for _, size := range []int{256, 16 << 10} {
		calls := l.scale.small
		if size > 1<<10 {
			calls = l.scale.large
		}
		subjects := []subject{s.call("reverse proxy", s.reverse[era], era, tool, size)}
		for i, kept := range histories {
			subjects = append(subjects, s.call(kept.name, keeping[i], era, tool, size))
		}
		got, err := l.interleave(fmt.Sprintf("call history, %d bytes", size), few, calls, subjects...)
		if err != nil {
			return err
		}
		metric := "CPU per call, " + sizeName(size)
		for i, kept := range histories {
			one := got[i+1]
			if i > 0 {
				r.add(row{
					Part: part, Subject: kept.name, Metric: metric, Value: one.cpu(), Unit: "µs",
					FloorName: histories[0].name, Floor: got[1].cpu(), Ratio: one.against(got[1]), Goal: kept.goal,
				})
			}
			r.add(row{
				Part: part, Subject: kept.name, Metric: metric, Value: one.cpu(), Unit: "µs",
				FloorName: "reverse proxy", Floor: got[0].cpu(), Ratio: one.against(got[0]), Goal: withHistory,
			})
		}
	}
	return nil
}
