package app

import (
	"context"
	"slices"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/upstream"
)

// room is a source of our own among the servers. It keeps the names of its tools,
// is seen alone under its own name, and has no process to supervise.
type room struct {
	gateway.Source
	// title and description are for those who look for tools; instructions are
	// for agents.
	title, description, instructions string
}

// rooms are those that a configuration wants.
func (p *Process) rooms(cfg *config.Config) []room {
	var all []room
	if !cfg.Knowledge.Off {
		all = append(all, room{
			Source: p.knowledge.sourceFor(p, cfg.Knowledge.Semantic), title: "Knowledge base",
			description:  "Items such as notes, issues, decisions and documents, with tags, relations and full-text search.",
			instructions: kb.Instructions,
		})
	}
	return slices.DeleteFunc(all, func(r room) bool {
		if len(p.opt.Only) > 0 && !slices.Contains(p.opt.Only, r.Name()) {
			return true
		}
		// A server of that name was there first, and clients know it.
		taken := slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.Name == r.Name() && !s.Disabled })
		if taken {
			p.log.Warn("a server has the name of a room, which is not shown for that", "name", r.Name())
		}
		return taken
	})
}

// mount puts a room behind the servers. Its tools keep their names before those of
// servers, unless one of these is said to overwrite them.
func (r room) mount(overrides *catalog.Overrides) catalog.Mount {
	return catalog.Mount{Source: r.Source, Allows: func(string) bool { return true }, Claim: catalog.ClaimBuiltIn, Overrides: overrides}
}

// typed says the type of the results of our own rooms, which modern clients insist
// on. Those of servers come in the words of the caller's era.
func (h *house) typed(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		result, err := next.Handle(ctx, call)
		if _, isServer := call.Tool.Source.(*upstream.Server); err != nil || isServer || call.Era != gateway.EraModern || result.Type != gateway.ResultUntyped {
			return result, err
		}
		return result.Complete(), nil
	})
}

// roomNamed finds a room.
func (h *house) roomNamed(name string) (room, bool) {
	i := slices.IndexFunc(h.rooms, func(r room) bool { return r.Name() == name })
	if i < 0 {
		return room{}, false
	}
	return h.rooms[i], true
}

// Knowledge is why there is no knowledge base here; nil when there is one.
func (h *house) Knowledge() error {
	if _, there := h.roomNamed(kb.SourceName); there {
		return nil
	}
	if h.config.Knowledge.Off {
		return gateway.Errorf(gateway.CodeConflict, "the knowledge base is switched off; take kb.enabled: false out of the configuration to have it back, with all that it holds")
	}
	return gateway.Errorf(gateway.CodeConflict, "a server has the name kb, and hides the knowledge base; give that server another name")
}
