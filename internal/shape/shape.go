// Package shape keeps large answers out of the context of agents. An answer with more
// tokens than the budget of its caller is stored on disk, and the agent gets an outline
// of it with an id. The tool read_result reads any part of a stored result.
//
// It acts only where an agent reads the answer: on calls of MCP clients, and on others
// that ask for it with a budget of their own. An answer within the budget passes as the
// bytes that came.
package shape

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

// Budgets say how many tokens an answer may have. What the options of the call and of
// the tool say comes first.
type Budgets struct {
	// Default is for clients of which nothing else is known; 0 is 25,000, and
	// gateway.NoBudget is any number.
	Default int
	// Client returns the budget that was set for a client, by its identity; 0 for
	// none.
	Client func(clientID string) int
}

// UsualBudget is the budget of clients of which nothing is known.
const UsualBudget = 25_000

// known are clients that are known to have less room. Claude Code warns its user at
// 10,000 tokens.
var known = map[string]int{"claude-code": 10_000}

// Programs returns the budgets of programs that are known to have less room.
func Programs() map[string]int { return maps.Clone(known) }

const (
	// mostOutline is how many tokens an outline has at most, and mostParts how many parts
	// of a result it outlines.
	mostOutline, mostParts = 1500, 5
	// mostWhole is how many times the budget an answer may have that cannot be stored: a
	// larger one would use up what the agent has left.
	mostWhole = 4
)

// Shaper makes outlines of answers, and is the source of read_result.
type Shaper struct {
	spool     *Spool
	budgets   Budgets
	translate gateway.Translate
	log       *slog.Logger
	tool      gateway.Tool
	last      atomic.Pointer[lastRead]

	mu sync.RWMutex
	// names are the names in the clientInfo of modern clients.
	names map[string]string
}

// New makes a Shaper that stores results in a spool.
func New(spool *Spool, budgets Budgets, translate gateway.Translate, log *slog.Logger) *Shaper {
	budgets.Default = cmp.Or(budgets.Default, UsualBudget)
	return &Shaper{
		spool: spool, budgets: budgets, translate: translate, log: log,
		tool: define(translate), names: map[string]string{},
	}
}

// Middleware replaces answers that are over the budget by outlines.
func (s *Shaper) Middleware(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		result, err := next.Handle(ctx, call)
		if err != nil || len(result.Raw) <= gateway.LeastBudget || !s.acts(call, result) {
			return result, err
		}
		budget := s.budget(call)
		if budget < 0 || tokens.Fit(result.Raw, budget) {
			return result, nil
		}
		return s.shape(ctx, call, result, budget), nil
	})
}

// acts reports whether an agent reads the answer of a call.
func (s *Shaper) acts(call *gateway.Call, result *gateway.Result) bool {
	if call.Method != "tools/call" || call.Tool == nil || !result.Type.Final() {
		return false
	}
	// The call that a forwarder makes has been here, and read_result keeps within the
	// budget.
	if gateway.IsForwarder(call.Tool.Source) || call.Tool.Source == gateway.Source(s) {
		return false
	}
	if call.Parent != nil && !call.Included {
		return false
	}
	switch call.Via {
	case "http", "sse", "stdio":
		return true
	}
	return call.Options.Budget > 0
}

// budget returns how many tokens the answer of a call may have; negative for any
// number.
func (s *Shaper) budget(call *gateway.Call) int {
	budget := call.Options.Budget
	if budget == 0 && call.Tool != nil {
		budget = call.Tool.Options.Budget
	}
	if budget == 0 && s.budgets.Client != nil {
		budget = s.budgets.Client(call.Identity.ClientID)
	}
	if budget == 0 {
		budget = s.budgets.Default
		if own := known[s.program(call)]; own > 0 && budget > 0 {
			budget = min(budget, own)
		}
	}
	if budget > 0 {
		budget = max(budget, gateway.LeastBudget)
	}
	return budget
}

// maxNames bounds the names that are remembered.
const maxNames = 256

// program returns the name that a client gives itself, without its version.
func (s *Shaper) program(call *gateway.Call) string {
	if call.Session != nil && call.Session.Client != "" {
		name, _, _ := strings.Cut(call.Session.Client, " ")
		return name
	}
	for call.Parent != nil {
		call = call.Parent
	}
	info := call.Params.Get(call.Params.ClientInfo)
	if len(info) == 0 {
		return ""
	}
	s.mu.RLock()
	name, found := s.names[string(info)]
	s.mu.RUnlock()
	if found {
		return name
	}
	name = jsonrpc.LookupText(info, "name")
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.names) >= maxNames {
		clear(s.names)
	}
	s.names[string(info)] = name
	return name
}

// maxResultSizeChars is the largest value that a tool can give for its own answers.
const maxResultSizeChars = 500_000

// sizeOfTool returns how many characters a tool says that its answers may have; 0 if
// it does not say.
func sizeOfTool(tool *gateway.Tool) int {
	meta := jsonrpc.Lookup(tool.Definition, "_meta")
	if meta == nil || meta[0] != '{' {
		return 0
	}
	n, err := strconv.Atoi(string(jsonrpc.Lookup(meta, "anthropic/maxResultSizeChars")))
	if err != nil {
		return 0
	}
	return min(n, maxResultSizeChars)
}

// shape returns the outline of a result that may be over the budget, or the result.
func (s *Shaper) shape(ctx context.Context, call *gateway.Call, result *gateway.Result, budget int) *gateway.Result {
	whole := func(err error) *gateway.Result {
		s.log.LogAttrs(ctx, slog.LevelWarn, "a large result could not be stored and was sent whole",
			slog.String("tool", call.Tool.Exposed), slog.Int("bytes", len(result.Raw)), slog.Any("error", err))
		return result
	}
	// Texts are decoded.
	giveBack, err := call.Borrow(len(result.Raw))
	if err != nil {
		return whole(err)
	}
	defer giveBack()
	c := split(result.Raw)
	all := c.tokens()
	if all <= budget {
		return result
	}
	if allowed := sizeOfTool(call.Tool); allowed > 0 && c.chars() <= allowed {
		return result
	}
	id, err := s.spool.Put(call.Identity.ClientID, result.Raw)
	if err != nil {
		if all <= mostWhole*budget {
			return whole(err)
		}
		s.log.LogAttrs(ctx, slog.LevelWarn, "a large result could not be stored and was cut",
			slog.String("tool", call.Tool.Exposed), slog.Int("bytes", len(result.Raw)), slog.Any("error", err))
	}
	// An MCP client refuses structured content that does not fit the schema, unless it is
	// an error. The tools that call others have no schema.
	failed := result.IsError || call.Parent == nil && call.Era != gateway.EraNone && jsonrpc.Lookup(call.Tool.Definition, "outputSchema") != nil
	o := outliner{labels: labels{s.translate}, id: id, budget: budget, all: all, failed: failed && !result.IsError}
	raw := append([]byte(`{"content":[`), o.outline(&c)...)
	raw = append(raw, ']')
	if failed {
		raw = append(raw, `,"isError":true`...)
	}
	for _, key := range []string{"_meta", "resultType"} {
		if value := jsonrpc.Lookup(result.Raw, key); value != nil {
			raw = append(append(raw, `,"`+key+`":`...), value...)
		}
	}
	raw = append(raw, '}')
	call.Saved = max(0, all-o.sent)
	s.spool.saved.Add(int64(call.Saved))
	// IsError is about the call, which may have succeeded although the bytes say no.
	return &gateway.Result{Raw: raw, Type: result.Type, IsError: result.IsError, HasMeta: result.HasMeta, Notice: result.Notice}
}

// outliner makes the content of an outline.
type outliner struct {
	labels
	id          string // empty if the result could not be stored
	budget, all int
	failed      bool // the call succeeded, but the answer is an error
	sent        int  // tokens of the content
}

// outline returns the items of the content: the outline, and the items that are kept.
func (o *outliner) outline(c *content) []byte {
	room := min(mostOutline, max(o.budget/10, 250))
	var text strings.Builder
	head := gateway.Textf("This answer has about %d tokens, and %d fit here. It is stored whole with the id %s; this is its outline.", o.all, o.budget, o.id)
	switch {
	case o.id == "":
		head = gateway.Textf("The call was carried out. Its answer has about %d tokens, and %d fit here; it could not be stored, so this is all that is left of it. Do not repeat a call that changes something. Ask for less, and tell the user that Genkan cannot write into its data directory.", o.all, o.budget)
	case o.failed:
		head = gateway.Textf("The call succeeded: this is no failure. Its answer has about %d tokens, and %d fit here, so it is stored whole with the id %s; this is its outline.", o.all, o.budget, o.id)
	}
	text.WriteString(head.In(o.translate))
	kept, outlined := o.choose(c, o.budget-room-overhead)
	var next *request
	for i, p := range outlined {
		if i == mostParts {
			if next == nil {
				next = o.others(outlined[i:])
			}
			text.WriteString("\n\n" + gateway.Textf("More parts are stored: %d. Read them with part: \"raw\", pointer: \"/content\".", len(outlined)-i).In(o.translate))
			break
		}
		share := room / min(len(outlined), mostParts)
		outline, call := o.part(p, share)
		if c.main() != p {
			call.part = p.name
		}
		text.WriteString("\n\n")
		if len(outlined) > 1 {
			text.WriteString(gateway.Textf("Part %s:", p.name).In(o.translate) + "\n")
		}
		text.WriteString(outline)
		if next == nil && !(p.isText && fits(p.text, share)) {
			next = &call
		}
	}
	if next == nil {
		next = &request{id: o.id, part: partRaw}
	}
	search := request{id: o.id, part: next.part, grep: "…"}
	if len(outlined) > 1 {
		search.part = partRaw
	}
	if o.id != "" {
		text.WriteString("\n\n_guidance: " + gateway.Textf("Next: %s. Find text: %s", next.String(), search.String()).In(o.translate))
	}
	o.sent = tokens.Count([]byte(text.String()))
	raw := appendText(nil, text.String())
	for _, p := range kept {
		raw = append(append(raw, ','), p.raw...)
		o.sent += p.tokens
	}
	return raw
}

// others returns the call that reads the first of some items.
func (o *outliner) others(items []*part) *request {
	all := 1
	for _, p := range items {
		all += p.tokens
	}
	first, _ := strconv.Atoi(items[0].name)
	return &request{id: o.id, part: partRaw, pointer: "/content", offset: first, limit: max(1, pageTokens*len(items)/all)}
}

// choose returns the items that are kept and the parts that are outlined. The kept
// items have at most a number of tokens.
func (o *outliner) choose(c *content, room int) (kept, outlined []*part) {
	structured := c.structured
	if c.wraps {
		structured = nil
	}
	if structured != nil {
		outlined = append(outlined, structured)
	}
	size := func(p *part) int {
		if p.kind == "image" || p.kind == "audio" {
			return p.tokens
		}
		return max(p.tokens, tokens.Count(p.raw))
	}
	total := 0
	for i := range c.items {
		total += size(&c.items[i])
	}
	// The largest are outlined until the others fit.
	for i := range c.items {
		p := &c.items[i]
		switch {
		case structured != nil && p.isText && p.tokens > room/20 && isCopy(p, structured):
			total -= size(p) // it is outlined already
		case size(p) > room/2 && total > room, size(p) > room:
			total -= size(p)
			outlined = append(outlined, p)
		case p.isText && total > room && size(p) > room/20:
			total -= size(p)
			outlined = append(outlined, p)
		default:
			kept = append(kept, p)
		}
	}
	// Many small items are kept from the first on.
	for i, p := range kept {
		if room -= size(p); room < 0 {
			return kept[:i], append(outlined, kept[i:]...)
		}
	}
	return kept, outlined
}

// isCopy reports whether a text is the structured content again, as servers send it for
// older clients.
func isCopy(p, structured *part) bool {
	text := bytes.TrimSpace(p.text)
	return len(text) > 0 && text[0] == '{' && len(text) > len(structured.text)/3
}

// part returns the outline of a part, and the call that reads on. A text that fits is
// its own outline.
func (o *outliner) part(p *part, room int) (string, request) {
	next := request{id: o.id}
	if !p.isText && p.kind != partStructured {
		outline, _ := o.outlineJSON(p.raw, "", room)
		next.pointer = dataOf(p)
		return outline, next
	}
	if p.isText && fits(p.text, room) {
		return string(p.text), next
	}
	if value, ok := p.json(); ok {
		outline, target := o.outlineJSON(value, "", room)
		next.pointer = target.pointer
		next.limit = pageOf(target.value)
		return outline, next
	}
	outline, end, unit := o.outlineText(p.text, room)
	next.offset = end
	if unit == unitLines {
		next.limit = max(10, pageTokens*lineCount(p.text)/max(p.tokens, 1))
	} else {
		next.unit = unit
		next.limit = max(1000, pageTokens*len(p.text)/max(p.tokens, 1))
	}
	return outline, next
}

// dataOf returns the pointer of the data in an item that is no text.
func dataOf(p *part) string {
	switch p.kind {
	case "image", "audio":
		return "/data"
	case "resource":
		return "/resource/blob"
	}
	return ""
}

// pageTokens is about how many tokens the call reads that an outline proposes.
const pageTokens = 2000

// pageOf returns how many items of an array or members of an object make a page; 0 for
// another value.
func pageOf(value []byte) int {
	n := 0
	switch value[0] {
	case '[':
		n = itemCount(value)
	case '{':
		n = memberCount(value)
	default:
		return 0
	}
	return max(1, pageTokens*n/max(tokens.Estimate(value), 1))
}
