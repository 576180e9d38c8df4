package workflow

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"genkan/internal/gateway"
)

// Set has the enabled workflows. It is immutable but for what it remembers about tools.
type Set struct {
	byType map[string]*matching
	ids    map[string]*Workflow
	// lists are those for tools/list.
	lists []*Workflow
	// off is set if all were turned off.
	off bool
}

// matching are the workflows of a type, from the outermost to the innermost, and those
// that match a tool and a client.
type matching struct {
	all []*Workflow

	mu    sync.RWMutex
	found map[toolAndClient][]*Workflow
}

type toolAndClient struct {
	tool   *gateway.Tool
	client string
}

// mostFound bounds the memory of tools and clients that are gone.
const mostFound = 20_000

// NewSet makes a set of workflows.
func NewSet(workflows []*Workflow) *Set {
	s := &Set{byType: map[string]*matching{}, ids: map[string]*Workflow{}}
	sorted := slices.SortedFunc(slices.Values(workflows), byOrder)
	for _, w := range sorted {
		m := s.byType[w.Type]
		if m == nil {
			m = &matching{found: map[toolAndClient][]*Workflow{}}
			s.byType[w.Type] = m
		}
		m.all = append(m.all, w)
		if w.Type == ToolsList {
			s.lists = m.all
		}
		s.ids[w.ID] = w
	}
	return s
}

// switchedOff returns the set of those that run while all are turned off. It still knows
// the others, so that their state and figures are kept.
func (s *Set) switchedOff() *Set {
	all := slices.Collect(maps.Values(s.ids))
	on := NewSet(slices.DeleteFunc(all, func(w *Workflow) bool { return !w.Always }))
	on.ids, on.off = s.ids, true
	return on
}

// Off reports whether all workflows were turned off.
func (s *Set) Off() bool { return s.off }

// Applying returns the workflows that run around calls of a tool by a client, and those
// that make its list, from the outermost to the innermost. A nil tool or an empty client
// stands for any.
func (s *Set) Applying(tool *gateway.Tool, client string) (found []*Workflow) {
	for _, m := range s.byType {
		for _, w := range m.all {
			if (client == "" || w.match.clients.match(client)) && (tool == nil || w.Matches(tool)) {
				found = append(found, w)
			}
		}
	}
	slices.SortFunc(found, byOrder)
	return found
}

// Matches reports whether a workflow is for a tool, prompt or resource, whoever calls it
// and whatever match.when says. The definition may have problems.
func (d *Definition) Matches(t *gateway.Tool) bool {
	kinds := map[string][]gateway.Kind{
		ToolsCall: {gateway.KindTool}, ToolsList: {gateway.KindTool}, PromptsGet: {gateway.KindPrompt},
		ResourcesRead: {gateway.KindResource, gateway.KindTemplate},
	}
	m := &d.Match
	match := matcher{servers: m.Servers, tools: m.Tools, annotations: m.Annotations}
	return slices.Contains(kinds[d.Type], t.Kind) && !gateway.IsForwarder(t.Source) && match.tool(t)
}

func byOrder(a, b *Workflow) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
}

// Workflow returns an enabled workflow; nil if there is none of that id.
func (s *Set) Workflow(id string) *Workflow { return s.ids[id] }

func (s *Set) has(id string) bool { return s.ids[id] != nil }

// candidates returns the workflows whose tools and clients match a call. A call that
// becomes another call matches nothing: the other one does.
func (s *Set) candidates(call *gateway.Call) []*Workflow {
	m := s.byType[call.Method]
	if m == nil || call.Tool == nil || gateway.IsForwarder(call.Tool.Source) {
		return nil
	}
	key := toolAndClient{call.Tool, call.Identity.ClientID}
	m.mu.RLock()
	found, known := m.found[key]
	m.mu.RUnlock()
	if known {
		return found
	}
	for _, w := range m.all {
		if w.match.clients.match(key.client) && w.match.tool(call.Tool) {
			found = append(found, w)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.found) >= mostFound {
		clear(m.found)
	}
	m.found[key] = found
	return found
}
