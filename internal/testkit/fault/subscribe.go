package fault

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// listener is told when a list has changed ("tools", "prompts", "resources"),
// or a resource that it watches.
type listener interface {
	changed(kind string)
	updated(uri string)
}

// subscription is one subscriptions/listen, and what it wants to hear about.
type subscription struct {
	id    json.RawMessage
	out   outlet
	kinds map[string]bool
	uris  []string
	tasks []string
	// acknowledging keeps changes back until the acknowledgement is out.
	acknowledging sync.Mutex
}

func (u *subscription) tag() map[string]any { return map[string]any{metaSubscription: u.id} }

func (u *subscription) changed(kind string) {
	if u.kinds[kind] {
		u.tell("notifications/"+kind+"/list_changed", map[string]any{"_meta": u.tag()})
	}
}

func (u *subscription) updated(uri string) {
	if slices.Contains(u.uris, uri) {
		u.tell("notifications/resources/updated", map[string]any{"uri": uri, "_meta": u.tag()})
	}
}

func (u *subscription) tell(method string, params any) {
	u.acknowledging.Lock()
	defer u.acknowledging.Unlock()
	_ = send(u.out, aside, notification(method, params))
}

func (s *server) subscribe(ctx context.Context, req *request) {
	var params struct {
		Notifications *struct {
			ToolsListChanged      bool     `json:"toolsListChanged"`
			PromptsListChanged    bool     `json:"promptsListChanged"`
			ResourcesListChanged  bool     `json:"resourcesListChanged"`
			ResourceSubscriptions []string `json:"resourceSubscriptions"`
			TaskIDs               []string `json:"taskIds"`
		} `json:"notifications"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil || params.Notifications == nil {
		req.fail(badRequest(codeInvalidParams, "subscriptions/listen needs notifications"))
		return
	}
	wishes := params.Notifications
	u := &subscription{id: req.ID, out: req.out, kinds: map[string]bool{
		"tools":     wishes.ToolsListChanged,
		"prompts":   wishes.PromptsListChanged && s.opts.everything,
		"resources": wishes.ResourcesListChanged && s.opts.everything,
	}}
	honoured := map[string]any{}
	for kind, wanted := range u.kinds {
		if wanted {
			honoured[kind+"ListChanged"] = true
		}
	}
	if s.opts.everything && len(wishes.ResourceSubscriptions) > 0 {
		u.uris = wishes.ResourceSubscriptions
		honoured["resourceSubscriptions"] = u.uris
	}
	if s.opts.tasks && len(wishes.TaskIDs) > 0 {
		if req.capabilities.Extensions[tasksExtension] == nil {
			err := badRequest(codeMissingCapability, "tasks need %s", tasksExtension)
			err.Data = map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: struct{}{}}}}
			req.fail(err)
			return
		}
		u.tasks = wishes.TaskIDs
		honoured["taskIds"] = u.tasks
	}
	ack := notification("notifications/subscriptions/acknowledged",
		map[string]any{"_meta": u.tag(), "notifications": honoured})
	// Acknowledged means that no later change is missed, yet nothing may come
	// before the acknowledgement.
	u.acknowledging.Lock()
	s.listen(u)
	defer s.unlisten(u)
	err := send(req.out, aside, ack)
	u.acknowledging.Unlock()
	if err != nil {
		return
	}
	if req.opened != nil {
		req.opened()
	}
	<-ctx.Done()
	if s.lifetime.Err() != nil {
		req.succeed(modernFields{ResultType: "complete", Meta: u.tag()})
		return
	}
	s.record.cancelled(req.ID)
}

func (s *server) listen(l listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
}

func (s *server) unlisten(l listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// tellAll tells everybody who listens.
func (s *server) tellAll(tell func(listener)) {
	s.mu.Lock()
	listeners := slices.Collect(maps.Keys(s.listeners))
	s.mu.Unlock()
	for _, l := range listeners {
		tell(l)
	}
}
