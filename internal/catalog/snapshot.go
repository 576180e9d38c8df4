package catalog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// Snapshot is all tools at one moment. It never changes.
type Snapshot struct {
	tools  []*gateway.Tool
	byName map[string]*gateway.Tool
	// id is a digest of the list's bytes and the size of its pages: cursors
	// name it, and it is the same on every replica with the same tools.
	id    string
	pages []Page
}

// Page is one page of the tools list, encoded.
type Page struct {
	// Legacy and Modern are the whole result object of tools/list.
	Legacy, Modern []byte
}

// listTTL is how long a modern client may keep a list without asking. Changes
// are announced, so this is for those who do not listen.
const listTTL = "60000"

// Tools lists all tools in the order of the configuration.
func (s *Snapshot) Tools() []*gateway.Tool { return s.tools }

// Tool finds a tool by the name that clients use.
func (s *Snapshot) Tool(name string) (*gateway.Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Page returns the page that a cursor names, the first one for an empty
// cursor.
func (c *Catalog) Page(cursor string) (*Page, error) {
	current := c.current.Load()
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
			if id == s.id && number < len(s.pages) {
				return &s.pages[number], nil
			}
		}
	}
	return nil, gateway.Errorf(gateway.CodeInvalid,
		"this cursor is not known, or its list is too old; ask for the list again without a cursor")
}

// build joins the mounts' tools. The first one in the configuration keeps a
// name that two claim.
func (c *Catalog) build() *Snapshot {
	s := &Snapshot{byName: map[string]*gateway.Tool{}}
	digest := sha256.New()
	digest.Write(strconv.AppendInt(nil, int64(c.pageSize), 10))
	for _, m := range c.mounts {
		for _, t := range m.tools {
			if first, taken := s.byName[t.Exposed]; taken {
				c.log.Warn("tool left out: its name is taken", "tool_name", t.Exposed,
					"server", m.Source.Name(), "taken_by", first.Source.Name())
				continue
			}
			s.byName[t.Exposed] = t
			s.tools = append(s.tools, t)
			digest.Write(t.Definition)
		}
	}
	s.id = hex.EncodeToString(digest.Sum(nil)[:8])
	size := c.pageSize
	if size <= 0 {
		size = max(len(s.tools), 1)
	}
	for from := 0; from == 0 || from < len(s.tools); from += size {
		to := min(from+size, len(s.tools))
		next := ""
		if to < len(s.tools) {
			next = makeCursor(s.id, len(s.pages)+1)
		}
		s.pages = append(s.pages, encodePage(s.tools[from:to], next))
	}
	return s
}

func encodePage(tools []*gateway.Tool, next string) Page {
	size := 128
	for _, t := range tools {
		size += len(t.Definition) + 1
	}
	b := append(make([]byte, 0, size), `{"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t.Definition...)
	}
	b = append(b, ']')
	if next != "" {
		b = append(b, `,"nextCursor":"`+next+`"`...)
	}
	// Both eras share the bytes of the tools; the modern hints come last.
	legacyEnd := len(b)
	modern := append(append([]byte(nil), b...), `,"resultType":"complete","ttlMs":`+listTTL+`,"cacheScope":"private"}`...)
	return Page{Legacy: append(b[:legacyEnd:legacyEnd], '}'), Modern: modern}
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
