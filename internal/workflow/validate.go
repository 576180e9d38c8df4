package workflow

import (
	"slices"

	"genkan/internal/gateway"
)

// check reports what is wrong with the graph as a whole.
func (b *Builder) check(g *graph) {
	var start *step
	for _, id := range g.order {
		s := g.steps[id]
		b.node = b.definition.node(id)
		if s.Role == RoleStart {
			if start != nil {
				b.Problem("it is a second start; a workflow has one")
			} else {
				start = s
			}
		}
		b.degrees(g, s)
		b.leads(s)
	}
	b.node = nil
	if start == nil {
		b.Problem("the workflow has no start node")
		return
	}
	b.reach(g, start)
	if !g.loops {
		b.calls(start, false, map[visit]bool{})
	}
	b.node = nil
}

// degrees checks how many edges enter and leave a node.
func (b *Builder) degrees(g *graph, s *step) {
	in, out := len(g.entering[s.id]), len(g.leaving[s.id])
	switch {
	case s.Role == RoleStart && in > 0:
		b.Problem("an edge leads to it; nothing comes before the start")
	case s.Role == RoleEnd && in > 1:
		b.Problem("%d edges lead to it; only one may: add another end with + for each of the others", in)
	case s.Role != RoleStart && in > 1:
		b.Problem("%d edges lead to it; only one may", in)
	}
	switch {
	case s.Role == RoleEnd && out > 0:
		b.Problem("an edge leaves it; nothing comes after an end")
	case s.Role == RoleDetached && out > 0:
		b.Problem("an edge leaves it; nothing can follow a hook that nobody waits for (blocking is false)")
	}
	known := append(slices.Clone(s.ways()), append(slices.Clone(s.Optional), handleError)...)
	for _, e := range g.leaving[s.id] {
		if handle := s.way(e.handle()); s.Role != RoleEnd && s.Role != RoleDetached && !slices.Contains(known, handle) {
			b.Problem("an edge leaves it by %q, which it does not have; it has %v", gateway.Short(handle), known)
		}
	}
}

// leads checks that every way out of a node leads on.
func (b *Builder) leads(s *step) {
	for _, way := range s.ways() {
		switch {
		case s.next[way] != nil:
		case s.oneWay(way):
			b.Problem("nothing follows it; every path must reach an end: add one with +")
		default:
			b.Problem("nothing follows its exit “%s”; every path must reach an end of its own: add one with +", wayName(way))
		}
	}
	if s.OnError == onErrorBranch && s.next[handleError] == nil {
		b.Problem("nothing follows its exit “%s”, and onError is branch", wayName(handleError))
	}
}

// loops reports the nodes that come again after themselves.
func (b *Builder) loops(g *graph) (found bool) {
	const open, done = 1, 2
	state := map[string]int{}
	var walk func(id string)
	walk = func(id string) {
		state[id] = open
		for _, e := range g.leaving[id] {
			switch state[e.Target] {
			case 0:
				walk(e.Target)
			case open:
				b.node = b.definition.node(e.Target)
				b.Problem("this is a loop: the path comes back to it")
				found = true
			}
		}
		state[id] = done
	}
	for _, id := range g.order {
		if state[id] == 0 {
			walk(id)
		}
	}
	return found
}

// reach reports the nodes that no path from the start comes to.
func (b *Builder) reach(g *graph, start *step) {
	seen := map[string]bool{start.id: true}
	for queue := []string{start.id}; len(queue) > 0; queue = queue[1:] {
		for _, e := range g.leaving[queue[0]] {
			if !seen[e.Target] {
				seen[e.Target] = true
				queue = append(queue, e.Target)
			}
		}
	}
	for _, id := range g.order {
		if !seen[id] {
			b.node = b.definition.node(id)
			b.Problem("no path from the start leads to it")
		}
	}
}

// calls reports calls that come after another call on the same path, and nodes that
// stand on the wrong side of the call.
func (b *Builder) calls(s *step, called bool, seen map[visit]bool) {
	if seen[visit{s, called}] {
		return
	}
	seen[visit{s, called}] = true
	if s.Role == RoleCall && called {
		b.node = b.definition.node(s.id)
		b.Problem("it is the second “%s” on its path; a call is sent once", b.callName())
		return
	}
	b.side(s, s, called)
	called = called || s.Role == RoleCall
	for _, beside := range s.beside {
		for _, detached := range beside {
			b.side(detached, s, called)
		}
	}
	for _, next := range s.next {
		b.calls(next, called, seen)
	}
}

// side reports a node on the wrong side of the call. at is the node itself, or the one
// that it runs beside.
func (b *Builder) side(s, at *step, called bool) {
	b.node = b.definition.node(s.id)
	switch {
	case s.Side == BeforeCall && called:
		b.Problem("it refuses or changes a call, so it must stand before “%s”", b.callName())
	case s.Side == BehindCall && !called && leadsToCall(at, map[*step]bool{}):
		b.Problem("it needs the answer, so it must stand behind “%s”", b.callName())
	}
}

// leadsToCall reports whether a path from a node comes to a call.
func leadsToCall(s *step, seen map[*step]bool) bool {
	seen[s] = true
	for _, next := range s.next {
		if next.Role == RoleCall || !seen[next] && leadsToCall(next, seen) {
			return true
		}
	}
	return false
}

// wayName is what editors call a way out.
func wayName(handle string) gateway.Text {
	switch handle {
	case handleElse:
		return gateway.Textf("else")
	case handleError:
		return gateway.Textf("fails")
	case handleOut:
		return gateway.Textf("yes")
	case handleDenied:
		return gateway.Textf("no")
	default:
		return gateway.Textf("%s", gateway.Short(handle))
	}
}

// visit is a node to which a path comes, with a call before it or without.
type visit struct {
	step   *step
	called bool
}
