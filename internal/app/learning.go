package app

import (
	"context"

	"genkan/internal/gateway"
	"genkan/internal/learn"
	"genkan/internal/search"
)

// Shown records which hits of a search a caller was shown.
func (h *house) Shown(who gateway.Identity, query string, hits []search.Hit) {
	if !h.config.Learn {
		return
	}
	tools := make([]learn.Tool, 0, len(hits))
	for _, hit := range hits {
		tools = append(tools, learn.Tool{Server: hit.Server, Name: hit.Document.Name})
	}
	h.learned.Searched(who.ClientID, query, tools)
}

// Learns reports whether searches learn from the calls that follow them.
func (h *house) Learns() bool { return h.config.Learn }

// learn reports successful calls to the learner. The learner decides whether a call
// followed from a search, and stores that after the answer was sent.
func (h *house) learn(next gateway.Handler) gateway.Handler {
	if !h.config.Learn {
		return next
	}
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		result, err := next.Handle(ctx, call)
		if err == nil && call.Kind == gateway.KindTool && !call.OfPage() && !result.IsError && result.Type.Final() {
			tool := learn.Tool{Server: call.Tool.Source.Name(), Name: call.Tool.Name}
			if call.Query != "" {
				h.learned.Searched(call.Identity.ClientID, call.Query, []learn.Tool{tool})
			}
			h.learned.Called(call.Identity.ClientID, tool)
		}
		return result, err
	})
}
