package main

import (
	"os"
	"path/filepath"
)

// listed is how many tools the long list has.
const listed = 500

// measureList compares tools/list with a handler that has the bytes in hand.
func measureList(l *lab, r *report) error {
	up, err := l.role("upstream", "modern", "499")
	if err != nil {
		return err
	}
	defer up.stop()
	h, err := l.furnish("list", listed, map[string]server{"many": {URL: "http://" + up.address + "/mcp"}})
	if err != nil {
		return err
	}
	p, err := l.serve(h, "list")
	if err != nil {
		return err
	}
	defer p.stop()
	if err := h.wait(l.ctx, p); err != nil {
		return err
	}
	for _, era := range eras {
		target := h.target(p, era, "tools/list", "", 0)
		c, err := dial(target)
		if err != nil {
			return err
		}
		err = c.ask()
		c.close()
		if err != nil {
			return err
		}
		// Whoever asks checks that the answer has its id, which a handler that
		// has the bytes cannot know; so it is asked under the id it answers.
		file := filepath.Join(l.dir, "list-"+era+".json")
		if err := os.WriteFile(file, c.body, 0o600); err != nil {
			return err
		}
		static, err := l.role("static", file)
		if err != nil {
			return err
		}
		floor := target
		floor.Address, floor.Fixed = static.address, true
		got, err := l.interleave("lists of 500 tools, "+era, few, l.scale.lists,
			subject{name: "static handler", process: static, target: floor},
			subject{name: "genkan", process: p, target: target})
		static.stop()
		if err != nil {
			return err
		}
		const part = "tools/list with 500 tools"
		r.add(
			row{
				Part: part, Subject: "genkan, " + era, Metric: "CPU per list", Value: got[1].cpu(), Unit: "µs",
				FloorName: "static handler", Floor: got[0].cpu(), Ratio: got[1].against(got[0]), Goal: 1.5,
			},
			row{Part: part, Subject: "genkan, " + era, Metric: "size of the answer", Value: float64(len(c.body)), Unit: "bytes"},
			row{Part: part, Subject: "genkan, " + era, Metric: "lists per second", Value: got[1].perSecond(l.scale.lists), Unit: "/s"},
		)
	}
	return nil
}
