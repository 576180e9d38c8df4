package history

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Stat is what the calls of a tool, a server or all add up to.
type Stat struct {
	Server, Tool        string
	Calls, Errors       int
	P50, P95            time.Duration
	TokensIn, TokensOut int64
	// TokensSaved is what agents were spared by outlines of large answers, less what
	// they read of them afterwards.
	TokensSaved int64
}

// Stats returns the sums of the calls that a query selects, over all, and for each
// tool, the one with the most calls first. Calls of unknown tools are one sum, without
// a name. Calls of a tool by its own name and by its name with the server's before it
// are one sum, under its own. Text, After and Limit have no effect.
func (r *Reader) Stats(ctx context.Context, q Query) (total Stat, tools []Stat, err error) {
	parts, err := r.parts()
	if err != nil {
		return total, nil, err
	}
	type key struct{ server, tool string }
	type sum struct {
		Stat
		took []uint32
	}
	sums := map[key]*sum{}
	var all []uint32
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return total, nil, err
		}
		if err := r.load(p); errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		} else if err != nil {
			return total, nil, unreadable(r.dir, err)
		}
		x := p.index
		f, possible := q.filterFor(x)
		if !possible {
			continue
		}
		type ids struct{ server, tool uint16 }
		local := map[ids]*sum{}
		for i := range x.len() {
			w := x.row(i)
			if !f.passes(x, w) {
				continue
			}
			id := ids{w.text(rowServer), w.text(rowTool)}
			s := local[id]
			if s == nil {
				k := key{x.texts[id.server], x.texts[id.tool]}
				if k.server == "" {
					k.tool = "" // callers make up such names
				}
				if s = sums[k]; s == nil {
					s = &sum{Stat: Stat{Server: k.server, Tool: k.tool}}
					sums[k] = s
				}
				local[id] = s
			}
			s.Calls++
			if failed(x.texts[w.text(rowOutcome)]) {
				s.Errors++
			}
			s.TokensIn += int64(w.number(rowTokensIn))
			s.TokensOut += int64(w.number(rowTokensOut))
			s.TokensSaved += w.saved()
			s.took = append(s.took, w.number(rowTook))
		}
	}
	// A client of one server calls a tool by its own name, others with the server's before it.
	for k, s := range sums {
		own, prefixed := strings.CutPrefix(k.tool, k.server+"__")
		into := sums[key{k.server, own}]
		if !prefixed || into == nil {
			continue
		}
		into.Calls += s.Calls
		into.Errors += s.Errors
		into.TokensIn += s.TokensIn
		into.TokensOut += s.TokensOut
		into.TokensSaved += s.TokensSaved
		into.took = append(into.took, s.took...)
		delete(sums, k)
	}
	for _, s := range sums {
		slices.Sort(s.took)
		s.P50, s.P95 = quantile(s.took, 50), quantile(s.took, 95) //nolint:mnd // percent
		total.Calls += s.Calls
		total.Errors += s.Errors
		total.TokensIn += s.TokensIn
		total.TokensOut += s.TokensOut
		total.TokensSaved += s.TokensSaved
		all = append(all, s.took...)
		tools = append(tools, s.Stat)
	}
	slices.Sort(all)
	total.P50, total.P95 = quantile(all, 50), quantile(all, 95) //nolint:mnd // percent
	slices.SortFunc(tools, func(a, b Stat) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	return total, tools, nil
}

// quantile returns the smallest duration that so many percent do not exceed.
func quantile(sorted []uint32, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return time.Duration(sorted[(len(sorted)*percent+99)/100-1]) * tookUnit
}
