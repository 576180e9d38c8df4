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

// Stats are the sums of calls: over all, for each server and for each tool. The one with
// the most calls comes first. Calls of unknown tools are one sum of each, without a name.
type Stats struct {
	Total          Stat
	Servers, Tools []Stat
}

// sum is a Stat that is still added to, with the times that its percentiles are of.
type sum struct {
	Stat
	took []uint32
}

func (s *sum) merge(other *sum) {
	s.Calls += other.Calls
	s.Errors += other.Errors
	s.TokensIn += other.TokensIn
	s.TokensOut += other.TokensOut
	s.TokensSaved += other.TokensSaved
	s.took = append(s.took, other.took...)
}

// stat returns what was added, with its percentiles.
func (s *sum) stat() Stat {
	slices.Sort(s.took)
	s.P50, s.P95 = quantile(s.took, 50), quantile(s.took, 95) //nolint:mnd // percent
	return s.Stat
}

// Stats returns the sums of the calls that a query selects. Calls of a tool by its own
// name and by its name with the server's before it are one sum, under its own. Text,
// After and Limit have no effect.
func (r *Reader) Stats(ctx context.Context, q Query) (Stats, error) {
	var out Stats
	parts, err := r.parts()
	if err != nil {
		return out, err
	}
	sums := map[toolKey]*sum{}
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err := r.load(p); errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		} else if err != nil {
			return out, unreadable(r.dir, err)
		}
		x := p.index
		f, possible := q.filterFor(x)
		if !possible {
			continue
		}
		type ids struct {
			server, tool uint16
			unlisted     bool
		}
		local := map[ids]*sum{}
		for i := range x.len() {
			w := x.row(i)
			if !f.passes(x, w) {
				continue
			}
			id := ids{w.text(rowServer), w.text(rowTool), w.unlisted()}
			s := local[id]
			if s == nil {
				k := toolKey{x.texts[id.server], x.texts[id.tool]}
				if k.server == "" || id.unlisted {
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
	foldNames(sums)
	var total sum
	servers := map[string]*sum{}
	for k, s := range sums {
		of := servers[k.server]
		if of == nil {
			of = &sum{Stat: Stat{Server: k.server}}
			servers[k.server] = of
		}
		of.merge(s)
		total.merge(s)
		out.Tools = append(out.Tools, s.stat())
	}
	for _, s := range servers {
		out.Servers = append(out.Servers, s.stat())
	}
	out.Total = total.stat()
	for _, list := range [][]Stat{out.Servers, out.Tools} {
		slices.SortFunc(list, func(a, b Stat) int {
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
		})
	}
	return out, nil
}

// toolKey names a tool as it was called.
type toolKey struct{ server, tool string }

// foldNames adds the sums of a tool by its name with the server's before it to those by its own
// name, if there are both: clients of one server call it by its own.
func foldNames[S interface{ merge(other S) }](sums map[toolKey]S) {
	for k, s := range sums {
		own, prefixed := strings.CutPrefix(k.tool, k.server+"__")
		if into, both := sums[toolKey{k.server, own}]; prefixed && both {
			into.merge(s)
			delete(sums, k)
		}
	}
}

// quantile returns the smallest duration that so many percent do not exceed.
func quantile(sorted []uint32, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return time.Duration(sorted[(len(sorted)*percent+99)/100-1]) * tookUnit
}
