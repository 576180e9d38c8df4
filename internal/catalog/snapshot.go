package catalog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// Snapshot is the state of a catalog at one moment. It is immutable.
type Snapshot struct {
	lists    [gateway.KindCount]list
	findings []Finding
	filtered map[string][]string
	// patterns are the templates that a URI can be matched with, in order; wide
	// are those that match any URI, which say nothing about whose it is.
	patterns, wide []pattern
	// overlaps are the findings about resources of several servers, computed at
	// first use.
	overlaps func() []Finding
	// entries are all tools, those that are disabled too.
	entries []Entry
	byName  map[string]int // their places
}

// Entry is a tool with its override. Disabled tools have entries, too.
type Entry struct {
	Tool     *gateway.Tool
	Override Override
	// Labels are those of the configuration or of a built-in source. Override contains them where people
	// say nothing else.
	Labels Labels
	// RegisteredAt is when this process saw it first.
	RegisteredAt time.Time
	// Replaces are the sources whose tools of this name it replaces, because the
	// configuration says so.
	Replaces []string
}

// Key identifies the tool.
func (e *Entry) Key() ToolKey { return ToolKey{e.Tool.Source.Name(), e.Tool.Name} }

// list is all of one kind.
type list struct {
	items  []*gateway.Tool
	byName map[string]*gateway.Tool
	// id is a digest of the list's bytes and the size of its pages: cursors
	// name it, and it is the same on every replica with the same tools.
	id    string
	pages []Page
}

// Page is one page of a list, encoded.
type Page struct {
	// Legacy and Modern are the whole result object of the list request.
	Legacy, Modern []byte
}

// listTTL is how long a modern client may keep a list without asking, in
// milliseconds, unless a server in it says less. Changes are announced, so this
// is for those who do not listen.
const listTTL = 60_000

// Tools lists the tools that clients see, in the order of the configuration.
func (s *Snapshot) Tools() []*gateway.Tool { return s.lists[gateway.KindTool].items }

// List lists all of a kind in the order of the configuration.
func (s *Snapshot) List(kind gateway.Kind) []*gateway.Tool { return s.lists[kind].items }

// Findings report definitions that are left out, changed or suspect.
func (s *Snapshot) Findings() []Finding {
	return append(slices.Clip(s.findings), s.overlaps()...)
}

// Filtered are the tools of a server that its filter hides, by their own names.
func (s *Snapshot) Filtered(server string) []string { return s.filtered[server] }

// Tool finds a tool by the name that clients use.
func (s *Snapshot) Tool(name string) (*gateway.Tool, bool) {
	t, ok := s.lists[gateway.KindTool].byName[name]
	return t, ok
}

// Entries are all tools, those that are disabled too, in the order of the
// configuration. Reserved tools have none: nobody looks for them or changes them.
func (s *Snapshot) Entries() []Entry { return s.entries }

// Entry finds a tool, disabled or not, by the name that clients use.
func (s *Snapshot) Entry(name string) (Entry, bool) {
	i, ok := s.byName[name]
	if !ok {
		return Entry{}, false
	}
	return s.entries[i], true
}

// Dependants returns the enabled tools that depend on another one.
func (s *Snapshot) Dependants(name string) []string {
	var found []string
	for i := range s.entries {
		if e := &s.entries[i]; !e.Override.Disabled && slices.Contains(e.Override.Dependencies, name) {
			found = append(found, e.Tool.Exposed)
		}
	}
	return found
}

// Page returns the page that a cursor names, the first one for an empty
// cursor.
func (c *Catalog) Page(kind gateway.Kind, cursor string) (*Page, error) {
	current := &c.current.Load().lists[kind]
	if cursor == "" {
		return &current.pages[0], nil
	}
	id, number, ok := parseCursor(cursor)
	if ok {
		if id == current.id && number < len(current.pages) {
			return &current.pages[number], nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.former {
			if l := &s.lists[kind]; id == l.id && number < len(l.pages) {
				return &l.pages[number], nil
			}
		}
	}
	return nil, gateway.Errorf(gateway.CodeInvalid,
		"this cursor is not known, or its list is too old; ask for the list again without a cursor")
}

// ListIDs returns what identifies the lists that clients see, by their kinds. Equal
// lists have equal ids.
func (c *Catalog) ListIDs() (ids [gateway.KindCount]string) {
	s := c.current.Load()
	for kind := range ids {
		ids[kind] = s.lists[kind].id
	}
	return ids
}

// SameList reports whether clients see the same list of a kind in both.
func (c *Catalog) SameList(other *Catalog, kind gateway.Kind) bool {
	return c.current.Load().lists[kind].id == other.current.Load().lists[kind].id
}

// build joins what the mounts have.
func (c *Catalog) build() *Snapshot {
	s := &Snapshot{filtered: map[string][]string{}, byName: map[string]int{}}
	for i := range c.mounts {
		s.filtered[c.mounts[i].Source.Name()] = c.mounts[i].filtered
	}
	for _, kind := range gateway.Kinds() {
		var taken []Finding
		s.lists[kind], taken = c.join(kind, s)
		for i := range c.mounts {
			s.findings = append(s.findings, c.mounts[i].findings[kind]...)
		}
		s.findings = append(s.findings, taken...)
	}
	for _, t := range s.lists[gateway.KindTemplate].items {
		p, ok := newPattern(t)
		switch {
		case !ok:
		case p.matchesAll():
			s.wide = append(s.wide, p)
		default:
			s.patterns = append(s.patterns, p)
		}
	}
	s.overlaps = sync.OnceValue(s.findOverlaps)
	return s
}

// join makes one list of a kind. A name that several mounts claim has one owner,
// also when that tool is disabled; the others are left out. Tools get entries in the
// snapshot.
func (c *Catalog) join(kind gateway.Kind, s *Snapshot) (l list, taken []Finding) {
	l = list{byName: map[string]*gateway.Tool{}}
	owners, placed := c.owners(kind), map[string]bool{}
	replaced := map[string][]string{}
	ttl := int64(listTTL)
	digest := sha256.New()
	digest.Write(strconv.AppendInt(nil, int64(c.pageSize), 10))
	for i := range c.mounts {
		m := &c.mounts[i]
		ttl = gateway.ListTTL(m.Source, kind, ttl)
		for _, t := range m.lists[kind] {
			if owner := owners[t.Exposed]; owner != i || placed[t.Exposed] {
				f := c.leftOut(m, &c.mounts[owner], t)
				taken = append(taken, f)
				if f.Replaced && !slices.Contains(replaced[t.Exposed], f.Server) {
					replaced[t.Exposed] = append(replaced[t.Exposed], f.Server)
				}
				continue
			}
			placed[t.Exposed] = true
			if kind == gateway.KindTool && m.Claim != ClaimReserved {
				entry := Entry{Tool: t, Override: m.overrides[t.Name], RegisteredAt: m.since[t.Name], Labels: m.labels(t)}
				s.byName[t.Exposed] = len(s.entries)
				s.entries = append(s.entries, entry)
				if entry.Override.Disabled {
					continue
				}
			}
			l.byName[t.Exposed] = t
			l.items = append(l.items, t)
			digest.Write(t.Definition)
			digest.Write(t.Legacy)
		}
	}
	for name, servers := range replaced {
		if i, ok := s.byName[name]; ok {
			s.entries[i].Replaces = servers
		}
	}
	l.id = hex.EncodeToString(digest.Sum(nil)[:8])
	size := c.pageSize
	if size <= 0 {
		size = max(len(l.items), 1)
	}
	for from := 0; from == 0 || from < len(l.items); from += size {
		to := min(from+size, len(l.items))
		next := ""
		if to < len(l.items) {
			next = makeCursor(l.id, len(l.pages)+1)
		}
		l.pages = append(l.pages, encodePage(kind, l.items[from:to], next, ttl))
	}
	return l, taken
}

func encodePage(kind gateway.Kind, tools []*gateway.Tool, next string, ttl int64) Page {
	more := ""
	if next != "" {
		more = `,"nextCursor":"` + next + `"`
	}
	hints := `,"resultType":"complete","ttlMs":` + strconv.FormatInt(ttl, 10) + `,"cacheScope":"private"`
	return Page{
		Legacy: encodeList(kind, tools, more+"}", func(t *gateway.Tool) []byte {
			if t.Legacy != nil {
				return t.Legacy
			}
			return t.Definition
		}),
		Modern: encodeList(kind, tools, more+hints+"}", func(t *gateway.Tool) []byte { return t.Definition }),
	}
}

// encodeList encodes the result of a list request; end is what comes after the
// list.
func encodeList(kind gateway.Kind, tools []*gateway.Tool, end string, definition func(*gateway.Tool) []byte) []byte {
	size := 32 + len(end)
	for _, t := range tools {
		size += len(definition(t)) + 1
	}
	b := append(make([]byte, 0, size), `{"`+kind.ListKey()+`":[`...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, definition(t)...)
	}
	return append(append(b, ']'), end...)
}

func makeCursor(id string, page int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(id + ":" + strconv.Itoa(page)))
}

func parseCursor(cursor string) (id string, page int, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", 0, false
	}
	id, number, found := strings.Cut(string(raw), ":")
	page, err = strconv.Atoi(number)
	return id, page, found && err == nil && page >= 0
}
