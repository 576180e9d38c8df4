package history

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"genkan/internal/gateway"
)

// Series is how calls went over time: equal steps, the oldest first, also those
// without a call.
type Series struct {
	// From is the beginning of the first step. It is a multiple of Step, so that steps
	// stay where they are while time goes on.
	From time.Time
	Step time.Duration
	// Total is the course of all calls, and Groups that of those servers or tools that
	// have the most, the one with the most calls first.
	Total  []Stat
	Groups []Group
}

// Group is the course of one server or tool.
type Group struct {
	Server, Tool string
	Calls        int
	Steps        []Stat
}

// Spacing says how a series is divided.
type Spacing struct {
	// Step is the length of a step. If it is zero, the shortest usual one is taken that
	// makes no more than Steps of them. Those are two at least, because midnight may be
	// between them.
	Step  time.Duration
	Steps int
	// By divides the calls into groups. At most Groups of them are returned.
	By     GroupBy
	Groups int
}

// GroupBy is what the groups of a series are.
type GroupBy int

// The groups of a series.
const (
	Ungrouped GroupBy = iota
	ByServer
	ByTool
)

// MaxSteps is how many steps a series may have.
const MaxSteps = 1000

const day = 24 * time.Hour

// usualSteps are the lengths of steps that people read easily. A longer one is a number
// of days.
var usualSteps = [...]time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day,
}

// steps returns how many steps there are between two times, both included.
func steps(from, to time.Time, step time.Duration) int {
	return int(to.UnixMilli()/step.Milliseconds() - from.UnixMilli()/step.Milliseconds() + 1)
}

// stepFor returns the length of the steps between two times.
func (s *Spacing) stepFor(from, to time.Time) (time.Duration, error) {
	if s.Step == 0 {
		for _, step := range usualSteps {
			if steps(from, to, step) <= s.Steps {
				return step, nil
			}
		}
		step := day
		for steps(from, to, step) > max(s.Steps, 2) {
			step += day
		}
		return step, nil
	}
	if n := steps(from, to, s.Step); n > MaxSteps {
		least := int(to.Sub(from)/time.Second)/(MaxSteps-1) + 1
		return 0, gateway.Errorf(gateway.CodeInvalid, "step is too short: %d seconds would make %d steps of that time, and %d is the most; take at least %d seconds, or a later since",
			int(s.Step/time.Second), n, MaxSteps, least)
	}
	return s.Step, nil
}

// Series returns how the calls that a query selects went over time, from Since, or the
// first of them, until Until, or now. Text, After and Limit have no effect.
func (r *Reader) Series(ctx context.Context, q Query, spacing Spacing) (Series, error) {
	var out Series
	if q.Until.IsZero() {
		q.Until = time.Now()
	}
	type selected struct {
		*index
		filter filter
	}
	var parts []selected
	found, err := r.parts()
	if err != nil {
		return out, err
	}
	from := q.Since
	for _, p := range found {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if !q.Since.IsZero() && p.last < q.Since.UnixMilli() {
			continue
		}
		if err := r.load(p); errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		} else if err != nil {
			return out, unreadable(r.dir, err)
		}
		f, possible := q.filterFor(p.index)
		if !possible {
			continue
		}
		parts = append(parts, selected{p.index, f})
		if !q.Since.IsZero() {
			continue
		}
		for i := range p.index.len() {
			if f.passes(p.index, p.index.row(i)) {
				if first := time.UnixMilli(p.index.ended(i)); from.IsZero() || first.Before(from) {
					from = first
				}
				break
			}
		}
	}
	if from.IsZero() || from.After(q.Until) {
		from = q.Until // there is no call
	}
	if out.Step, err = spacing.stepFor(from, q.Until); err != nil {
		return out, err
	}
	step := out.Step.Milliseconds()
	begin := from.UnixMilli() / step * step
	out.From = time.UnixMilli(begin)

	n := steps(from, q.Until, out.Step)
	total := newSums(n)
	groups := map[toolKey]*sums{}
	for _, p := range parts {
		type ids struct {
			server, tool uint16
			unlisted     bool
		}
		local := map[ids]*sums{}
		for i := range p.len() {
			w := p.row(i)
			if !p.filter.passes(p.index, w) {
				continue
			}
			at := int((p.ended(i) - begin) / step)
			bad := failed(p.texts[w.text(rowOutcome)])
			total.add(at, w, bad)
			if spacing.By == Ungrouped {
				continue
			}
			id := ids{server: w.text(rowServer)}
			if spacing.By == ByTool {
				id.tool, id.unlisted = w.text(rowTool), w.unlisted()
			}
			s := local[id]
			if s == nil {
				k := toolKey{server: p.texts[id.server]}
				if spacing.By == ByTool && k.server != "" && !id.unlisted { // callers make up names of tools
					k.tool = p.texts[id.tool]
				}
				if s = groups[k]; s == nil {
					s = newSums(n)
					groups[k] = s
				}
				local[id] = s
			}
			s.add(at, w, bad)
		}
	}
	out.Total = total.steps()
	foldNames(groups)
	for k, s := range groups {
		out.Groups = append(out.Groups, Group{Server: k.server, Tool: k.tool, Calls: s.calls})
	}
	slices.SortFunc(out.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	out.Groups = out.Groups[:min(len(out.Groups), spacing.Groups)]
	for i := range out.Groups {
		g := &out.Groups[i]
		g.Steps = groups[toolKey{g.Server, g.Tool}].steps()
	}
	return out, nil
}

// sums are the sums of the steps of a series. A step that has no call takes no memory
// but its Stat.
type sums struct {
	calls int
	stats []Stat
	took  [][]uint32
}

func newSums(n int) *sums { return &sums{stats: make([]Stat, n), took: make([][]uint32, n)} }

func (s *sums) add(at int, w row, failed bool) {
	s.calls++
	stat := &s.stats[at]
	stat.Calls++
	if failed {
		stat.Errors++
	}
	stat.TokensIn += int64(w.number(rowTokensIn))
	stat.TokensOut += int64(w.number(rowTokensOut))
	stat.TokensSaved += w.saved()
	s.took[at] = append(s.took[at], w.number(rowTook))
}

func (s *sums) merge(other *sums) { //nolint:unused // foldNames calls it
	s.calls += other.calls
	for i := range s.stats {
		into, more := &s.stats[i], &other.stats[i]
		into.Calls += more.Calls
		into.Errors += more.Errors
		into.TokensIn += more.TokensIn
		into.TokensOut += more.TokensOut
		into.TokensSaved += more.TokensSaved
		s.took[i] = append(s.took[i], other.took[i]...)
	}
}

// steps returns the sums with their quantiles.
func (s *sums) steps() []Stat {
	for i, took := range s.took {
		slices.Sort(took)
		s.stats[i].P50, s.stats[i].P95 = quantile(took, 50), quantile(took, 95) //nolint:mnd // percent
	}
	return s.stats
}
