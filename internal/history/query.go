package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Query selects calls. Zero values select all.
type Query struct {
	// Caller selects the calls of one caller. It is set for callers that see their own
	// only.
	Caller string
	// Client is the name of a caller, with or without "local:", or of the program that
	// it used, with or without its version, in any case. Tool is the name that clients
	// know a tool by, with its server's prefix or without it.
	Client, Server, Tool string
	// Parent is the ID of the call that made the calls. Stats and Series ignore it.
	Parent string
	// Outcome is one of the outcomes, or "error" for all that failed.
	Outcome string
	// Not leaves out calls that have one of its values.
	Not Excluded
	// Slower selects calls that took at least so long.
	Slower time.Duration
	// Since and Until bound when a call ended.
	Since, Until time.Time
	// Text selects calls with bodies or an error that contain it, in any case and width.
	Text string
	// Told returns the error of a call as its reader sees it, which Text is looked for in, too;
	// nil if that is as it is kept.
	Told func(e *Entry) string
	// After is the Next of the page before.
	After string
	Limit int
}

// Excluded are values that calls must not have. They are matched as those of a Query.
type Excluded struct{ Clients, Servers, Tools, Outcomes []string }

// OutcomeError is the outcome of a query for all calls that failed.
const OutcomeError = "error"

// failed reports whether a call with this outcome failed. A call that its caller canceled
// has neither succeeded nor failed.
func failed(outcome string) bool { return outcome != outcomeOK && outcome != outcomeCanceled }

// ParseTime reads a time of RFC 3339, or the age of one, such as 90s, 10m, 1h30m, 7d
// or 2w.
func ParseTime(text string, now time.Time) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseUint(number, 10, 12)
			return now.Add(-time.Duration(n) * length), err == nil
		}
	}
	age, err := time.ParseDuration(text)
	return now.Add(-age), err == nil && age >= 0
}

// Page is a page of calls, the newest first.
type Page struct {
	Calls []Entry
	// Next leads to the next page; empty if there is none.
	Next string
	// Partial is set if the search for a text, or for the calls of a parent, ran out of
	// time: Next goes on with it, and SearchedUntil is how far it came.
	Partial       bool
	SearchedUntil time.Time

	sealed []*sealed // the bodies of Calls
}

// MaxLimit is the largest page.
const MaxLimit = 1000

// textTime is how long a page may be searched for what the index does not have.
const textTime = 2 * time.Second

// MatchesTool reports whether people may mean a tool of a server by a name. Clients of one
// server know its tools without its prefix.
func MatchesTool(server, exposed, name string) bool {
	return matchesExposed(exposed, name) || server+prefixEnd+exposed == name
}

func matchesExposed(exposed, name string) bool {
	return exposed == name || strings.HasSuffix(exposed, prefixEnd+name)
}

// prefixEnd is between the name of a server and that of its tool.
const prefixEnd = "__"

// ownTool is a tool of a server by its name without the prefix, in the terms of an index.
type ownTool struct{ server, tool uint16 }

// owns returns the tools that names with a prefix mean, as clients of one server call them.
func (x *index) owns(names ...string) (list []ownTool) {
	for _, name := range names {
		if server, tool, prefixed := strings.Cut(name, prefixEnd); prefixed {
			of, known := x.id(server)
			if id, called := x.id(tool); known && called {
				list = append(list, ownTool{of, id})
			}
		}
	}
	return list
}

// MatchesClient reports whether people may mean a caller or a program by a name.
func MatchesClient(known, name string) bool {
	local, _ := gateway.LocalName(known)
	program := known
	if at := strings.LastIndexByte(known, ' '); at > 0 {
		program = known[:at]
	}
	return strings.EqualFold(known, name) || strings.EqualFold(local, name) || strings.EqualFold(program, name)
}

// filter is a query in the terms of one index.
type filter struct {
	fields [3]struct {
		at   int
		want uint16
		on   bool
	}
	byTool   bool
	tools    []uint16
	own      []ownTool
	notOwn   []ownTool
	byClient bool
	clients  []uint16
	not      []exclusion
	took     uint32
	from, to int64 // milliseconds
}

// exclusion leaves out the rows that have one of the texts in a field.
type exclusion struct {
	at  int
	ids []uint16
}

// exclusionsFor returns what is left out of an index.
func (e *Excluded) exclusionsFor(x *index) (list []exclusion) {
	exact := func(known, name string) bool { return known == name }
	outcome := func(known, name string) bool {
		return known == name || name == OutcomeError && failed(known)
	}
	for _, one := range [...]struct {
		at      int
		names   []string
		matches func(known, name string) bool
	}{
		{rowCaller, e.Clients, MatchesClient},
		{rowClient, e.Clients, MatchesClient},
		{rowServer, e.Servers, exact},
		{rowTool, e.Tools, matchesExposed},
		{rowOutcome, e.Outcomes, outcome},
	} {
		if len(one.names) == 0 {
			continue
		}
		ids := x.idsOf(func(known string) bool {
			return slices.ContainsFunc(one.names, func(name string) bool { return one.matches(known, name) })
		})
		if ids != nil {
			list = append(list, exclusion{one.at, ids})
		}
	}
	return list
}

// filterFor returns the filter of a query for an index. It reports false if no row
// can pass.
func (q *Query) filterFor(x *index) (f filter, possible bool) {
	f.from, f.to = 0, 1<<62
	n := 0
	for _, want := range [...]struct {
		at   int
		text string
	}{{rowCaller, q.Caller}, {rowServer, q.Server}, {rowOutcome, q.Outcome}} {
		if want.text == "" || want.at == rowOutcome && want.text == OutcomeError {
			continue
		}
		id, ok := x.id(want.text)
		if !ok {
			return f, false
		}
		f.fields[n].at, f.fields[n].want, f.fields[n].on = want.at, id, true
		n++
	}
	if q.Tool != "" {
		f.byTool = true
		f.tools, f.own = x.idsOf(func(name string) bool { return matchesExposed(name, q.Tool) }), x.owns(q.Tool)
		if f.tools == nil && f.own == nil {
			return f, false
		}
	}
	if q.Client != "" {
		f.byClient = true
		if f.clients = x.idsOf(func(name string) bool { return MatchesClient(name, q.Client) }); f.clients == nil {
			return f, false
		}
	}
	f.not, f.notOwn = q.Not.exclusionsFor(x), x.owns(q.Not.Tools...)
	if q.Outcome == OutcomeError {
		if ids := x.idsOf(func(outcome string) bool { return !failed(outcome) }); ids != nil {
			f.not = append(f.not, exclusion{rowOutcome, ids})
		}
	}
	if !q.Since.IsZero() {
		f.from = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		f.to = q.Until.UnixMilli()
	}
	f.took = uint32(min(q.Slower/tookUnit, 1<<32-1))
	return f, f.from <= x.last && f.to >= x.first
}

// among reports whether a row is a call of one of the tools.
func among(list []ownTool, r row) bool {
	return slices.Contains(list, ownTool{r.text(rowServer), r.text(rowTool)})
}

func (f *filter) passes(x *index, r row) bool {
	for i := range f.fields {
		if !f.fields[i].on {
			break
		}
		if r.text(f.fields[i].at) != f.fields[i].want {
			return false
		}
	}
	if f.byClient && !slices.Contains(f.clients, r.text(rowCaller)) && !slices.Contains(f.clients, r.text(rowClient)) {
		return false
	}
	if f.byTool && !slices.Contains(f.tools, r.text(rowTool)) && !among(f.own, r) {
		return false
	}
	if f.notOwn != nil && among(f.notOwn, r) {
		return false
	}
	for _, not := range f.not {
		if slices.Contains(not.ids, r.text(not.at)) {
			return false
		}
	}
	if r.number(rowTook) < f.took {
		return false
	}
	ended := x.first + int64(r.number(rowEnded))
	return ended >= f.from && ended <= f.to
}

// place is the place of a call in the order of pages.
type place struct {
	ended   int64
	segment string
	row     int
}

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.ended, b.ended), cmp.Compare(a.segment, b.segment), cmp.Compare(a.row, b.row))
}

func (a place) String() string {
	return fmt.Sprintf("%d~%s~%d", a.ended, strings.TrimSuffix(a.segment, segmentSuffix), a.row)
}

func parsePlace(text string) (p place, ok bool) {
	parts := strings.Split(text, "~")
	if len(parts) != 3 { //nolint:mnd // as String writes it
		return p, false
	}
	var err, err2 error
	p.ended, err = strconv.ParseInt(parts[0], 10, 64)
	p.row, err2 = strconv.Atoi(parts[2])
	p.segment = parts[1] + segmentSuffix
	_, _, named := parseSegmentName(p.segment)
	return p, err == nil && err2 == nil && named
}

// walk visits the calls that pass, the newest first, until visit returns false.
func (r *Reader) walk(ctx context.Context, q *Query, after place, visit func(*part, int, place) bool) error {
	parts, err := r.parts()
	if err != nil {
		return err
	}
	type iterator struct {
		*part
		filter filter
		next   int // the row that is next, among those that pass
		place  place
	}
	advance := func(it *iterator) bool {
		for it.next--; it.next >= 0; it.next-- {
			if !it.filter.passes(it.index, it.index.row(it.next)) {
				continue
			}
			it.place = place{it.index.ended(it.next), it.name, it.next}
			if after == (place{}) || it.place.compare(after) < 0 {
				return true
			}
		}
		return false
	}
	var open []*iterator
	for {
		var best *iterator
		for _, it := range open {
			if best == nil || it.place.compare(best.place) > 0 {
				best = it
			}
		}
		// Parts that may have a newer call are opened first.
		if len(parts) > 0 && (best == nil || parts[0].last >= best.place.ended) {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := parts[0]
			parts = parts[1:]
			if err := r.load(p); errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			} else if err != nil {
				return unreadable(r.dir, err)
			}
			it := &iterator{part: p, next: p.index.len()}
			var possible bool
			if it.filter, possible = q.filterFor(p.index); possible && advance(it) {
				open = append(open, it)
			}
			continue
		}
		if best == nil || !visit(best.part, best.next, best.place) {
			return nil
		}
		if !advance(best) {
			open = slices.DeleteFunc(open, func(it *iterator) bool { return it == best })
		}
	}
}

// List returns a page of calls. shown returns a body as the reader may see it, for
// searching for a text.
func (r *Reader) List(ctx context.Context, q Query, shown func([]byte) []byte) (Page, error) {
	page := Page{Calls: []Entry{}}
	var after place
	if q.After != "" {
		var ok bool
		if after, ok = parsePlace(q.After); !ok {
			return page, gateway.Errorf(gateway.CodeInvalid, "after must be the next of an earlier page")
		}
	}
	limit := min(cmp.Or(q.Limit, 50), MaxLimit)
	needle := newNeedle(q.Text)
	deadline := time.Now().Add(textTime)
	var last place
	err := r.walk(ctx, &q, after, func(p *part, i int, at place) bool {
		if len(page.Calls) == limit {
			page.Next = last.String()
			return false
		}
		if (needle != nil || q.Parent != "") && last != (place{}) && time.Now().After(deadline) {
			page.Next, page.Partial, page.SearchedUntil = last.String(), true, time.UnixMilli(last.ended)
			return false
		}
		last = at
		e, b, err := r.entry(p, i)
		if err != nil {
			return true // removed or damaged
		}
		if q.Parent != "" && e.Parent != q.Parent {
			return true
		}
		body := &sealed{p.name, int64(p.index.row(i).number(rowOffset)), b}
		if needle != nil && !needle.in([]byte(e.Error)) && !q.toldHas(&e, needle) && !r.bodiesHave(ctx, &e, body, needle, shown) {
			return true
		}
		page.Calls, page.sealed = append(page.Calls, e), append(page.sealed, body)
		return true
	})
	return page, err
}

func (q *Query) toldHas(e *Entry, n *needle) bool {
	return q.Told != nil && e.Error != "" && n.in([]byte(q.Told(e)))
}

// bodiesHave reports whether a text is in the bodies of a call as the reader may see
// them. They are searched as they are first, because most of them do not have it.
func (r *Reader) bodiesHave(ctx context.Context, e *Entry, s *sealed, n *needle, shown func([]byte) []byte) bool {
	if !e.Has(HasBodies) {
		return false
	}
	b, err := r.open(ctx, s)
	if err != nil {
		return false
	}
	for _, body := range [...][]byte{b.Request, b.Response} {
		if n.in(body) && n.in(shown(body)) {
			return true
		}
	}
	return false
}
