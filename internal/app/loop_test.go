//go:build linux

package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// A genkan that stands among its own servers would start itself, which would
// start itself, and so on. Only processes can show that it does not.
func testGenkanAmongItsOwnServers(t *testing.T, genkan string) {
	for name, test := range map[string]func(*testing.T, string){
		"itself":                 testAmongItsOwn,
		"another data directory": testAmongAnothers,
		"in turns":               testAmongItsOwnInTurns,
	} {
		t.Run(name, func(t *testing.T) { test(t, genkan) })
	}
}

// generation is a genkan as a server, whose starts are written down: the process
// that started it, and its own.
type generation struct {
	conf
	starts string
}

func newGeneration(t *testing.T, genkan, dataDir string, args ...string) generation {
	t.Helper()
	starts := filepath.Join(t.TempDir(), "starts")
	// If it grows after all, it does not take the machine with it.
	line := fmt.Sprintf("echo $PPID $$ >> '%s'; [ $(wc -l < '%s') -lt 30 ] || exit 1; exec '%s' stdio --data '%s' %s",
		starts, starts, genkan, dataDir, strings.Join(args, " "))
	return generation{conf{"command": "/bin/sh", "args": []string{"-c", line}}, starts}
}

// parents are the processes that have started it, once each.
func (g generation) parents(t *testing.T) map[int]bool {
	t.Helper()
	found := map[int]bool{}
	for _, line := range testkit.Lines(t, g.starts) {
		var parent, own int
		if _, err := fmt.Sscan(line, &parent, &own); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		found[parent] = true
	}
	return found
}

// It is refused, whether it would join or serve by itself: only the first one
// ever starts it, and the other servers are served.
func testAmongItsOwn(t *testing.T, genkan string) {
	for _, first := range [][]string{nil, {"--standalone"}} {
		for _, again := range [][]string{nil, {"--standalone"}} {
			w := openWorkshop(t, genkan, conf{})
			self := newGeneration(t, genkan, w.dir, again...)
			w.write("genkan.yaml", servers(conf{"self": self.conf, "f": child(t)}))
			e := w.open(first...)
			if got, err := e.call("f__echo", `{"text":"x"}`); err != nil || got != "x" {
				t.Errorf("%v, then %v: another server answers %q, %v", first, again, got, err)
			}
			testkit.Eventually(t, func() bool { return len(testkit.Lines(t, self.starts)) >= 3 }, "it was tried several times")
			top := e.cmd.Process.Pid
			if first == nil {
				top = w.owner()
			}
			if got := self.parents(t); len(got) != 1 || !got[top] {
				t.Errorf("%v, then %v: it was started by %v, and the first is %d", first, again, got, top)
			}
			e.close()
		}
	}
}

// One with another data directory is a server like others.
func testAmongAnothers(t *testing.T, genkan string) {
	other := openWorkshop(t, genkan, servers(conf{"f": child(t)}))
	for _, args := range [][]string{nil, {"--standalone"}} {
		w := openWorkshop(t, genkan, servers(conf{"other": newGeneration(t, genkan, other.dir, args...).conf}))
		e := w.open("--standalone")
		if got, err := e.call("other__f__echo", `{"text":"x"}`); err != nil || got != "x" {
			t.Errorf("%v: a server of the other answers %q, %v", args, got, err)
		}
		e.close()
	}
}

// Two that stand among each other's servers end with the second one: the first
// is not started again.
func testAmongItsOwnInTurns(t *testing.T, genkan string) {
	one, two := openWorkshop(t, genkan, conf{}), openWorkshop(t, genkan, conf{})
	first := newGeneration(t, genkan, one.dir, "--standalone")
	second := newGeneration(t, genkan, two.dir, "--standalone")
	one.write("genkan.yaml", servers(conf{"two": second.conf}))
	two.write("genkan.yaml", servers(conf{"one": first.conf, "f": child(t)}))
	e := one.open("--standalone")
	if got, err := e.call("two__f__echo", `{"text":"x"}`); err != nil || got != "x" {
		t.Errorf("a server of the second answers %q, %v", got, err)
	}
	testkit.Eventually(t, func() bool { return len(testkit.Lines(t, first.starts)) >= 3 }, "the first was tried several times")
	if got := second.parents(t); len(got) != 1 || !got[e.cmd.Process.Pid] {
		t.Errorf("the second was started by %v, and the first is %d", got, e.cmd.Process.Pid)
	}
	if got := first.parents(t); len(got) != 1 {
		t.Errorf("the first was started by %v", got)
	}
	e.close()
}
