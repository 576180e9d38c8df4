package app

import (
	"context"

	"genkan/internal/gateway"
	"genkan/internal/views"
	"genkan/internal/workflow"
)

// resolve looks the call's tool up in the caller's view.
func (h *house) resolve(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if err := h.find(call); err != nil {
			return nil, err
		}
		if call.ReadOnly && !call.Tool.ReadOnly {
			return nil, gateway.Errorf(gateway.CodeDenied, "%s may change something now, so it is not called here; look at it again", call.Name)
		}
		return next.Handle(ctx, call)
	})
}

// meant resolves the name of a call that the rate limit has refused, for its record: limit is
// before resolve.
func (h *house) meant(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		result, err := next.Handle(ctx, call)
		if e := gateway.AsError(err); e != nil && e.Code == gateway.CodeLimited && call.Tool == nil && e.Meant == nil {
			asked := &gateway.Call{Method: call.Method, Kind: call.Kind, Name: call.Name, Params: call.Params, Caller: call.Caller, Parent: call.Parent}
			if h.find(asked) == nil {
				e.Meant = asked.Tool
			}
		}
		return result, err
	})
}

// find sets the call's tool. Whichever way the call came, its caller reaches only what
// its lists have.
func (h *house) find(call *gateway.Call) error {
	keepToLists(call)
	c, ok := h.Catalog(call.View)
	if !ok {
		return views.Missing(call.View)
	}
	if call.Kind == gateway.KindTask {
		call.Tool = h.tasks.Resolve(call, func(name string) gateway.Source {
			if client := call.View.Audience; client != "" && !h.mayUse(client, name) {
				return nil
			}
			return h.source(name)
		})
	}
	if call.Tool != nil {
		return nil
	}
	err := c.Resolve(call)
	// Any URI may be of a resource, so only names prove that something exists.
	byName := call.Kind == gateway.KindTool || call.Kind == gateway.KindPrompt
	if e := gateway.AsError(err); err != nil && byName && call.Tool == nil && call.View.Audience != "" {
		all, ok := h.Catalog(call.View.Shared())
		e.Hidden = ok && all.Find(call.Kind, call.Name) != nil
	}
	return err
}

// keepToLists makes the caller the audience of the call's view. A workflow that is making
// a list calls tools of the view that all clients see: the one of its client is not
// there yet.
func keepToLists(call *gateway.Call) {
	call.View.Audience = call.Audience()
	for by := call.Parent; by != nil; by = by.Parent {
		if by.Method == workflow.ToolsList {
			call.View.Audience = ""
		}
	}
}

// Subscribe subscribes to changes of a resource or task at its owner.
func (h *house) Subscribe(ctx context.Context, call *gateway.Call, told func(what string)) (func(), error) {
	h.settle(ctx)
	if err := h.find(call); err != nil {
		return nil, err
	}
	if call.Kind == gateway.KindTask {
		translate, tell := h.tasks.States(call), told
		told = func(state string) { tell(translate(state)) }
	}
	return gateway.Subscribe(ctx, call, told)
}

// Check checks the arguments of a call as the corridor does, without a call. It returns
// the result of a built-in tool that refuses them, or an error; neither if they fit.
func (h *house) Check(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	h.settle(ctx)
	if err := h.find(call); err != nil {
		return nil, err
	}
	if err := h.validator.Validate(ctx, call); err != nil {
		return nil, err
	}
	return gateway.Check(ctx, call)
}

// ClientNotified forwards a client's notification to all sources. Each source decides whether
// the notification is for it.
func (h *house) ClientNotified(session *gateway.Session, method string, params []byte) {
	for l := range gateway.Listeners(h.sources()) {
		l.ClientNotified(session, method, params)
	}
}

// Forget releases what the sources keep for a session that has ended.
func (h *house) Forget(session string) {
	for l := range gateway.Listeners(h.sources()) {
		l.Forget(session)
	}
}

// SetLogLevel sets the most verbose log level that a client asks for.
func (h *house) SetLogLevel(level string) {
	for l := range gateway.Listeners(h.sources()) {
		l.SetLogLevel(context.Background(), level)
	}
}

// Say translates a text into the house's language.
func (h *house) Say(t gateway.Text) string { return language(h.config).Text(t) }
