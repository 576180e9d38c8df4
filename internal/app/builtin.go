package app

import (
	"context"
	"slices"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// builtIn returns the built-in sources that a configuration enables. Each source also
// has a view under its name.
func (p *Process) builtIn(cfg *config.Config) []gateway.Source {
	return append(p.knowledgeSource(cfg), p.n8nSources(cfg)...)
}

func (p *Process) knowledgeSource(cfg *config.Config) []gateway.Source {
	if cfg.Knowledge.Off || !p.wantsBuiltIn(cfg, kb.SourceName) {
		p.knowledge.forgetSource()
		return nil
	}
	return []gateway.Source{p.knowledge.sourceFor(p, cfg.Knowledge.Semantic, language(cfg))}
}

// wantsBuiltIn reports whether this process shows a built-in source. A server of
// the same name hides the source, because clients already know that server.
func (p *Process) wantsBuiltIn(cfg *config.Config, name string) bool {
	if len(p.opt.Only) > 0 && !slices.Contains(p.opt.Only, name) {
		return false
	}
	taken := slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name && !s.Disabled })
	if taken {
		p.log.Warn("a server has the name of a built-in source, which is hidden by it", "name", name)
	}
	return !taken
}

// builtInMount returns the mount of a built-in source. Its tools get their names
// before those of servers, except servers that the configuration allows to
// overwrite them. Only the tools of n8n have a prefix, because there may be several
// instances.
func builtInMount(source gateway.Source, overrides *catalog.Overrides) catalog.Mount {
	mount := catalog.Mount{Source: source, Allows: func(string) bool { return true }, Claim: catalog.ClaimBuiltIn, Overrides: overrides}
	if source.Name() != kb.SourceName {
		mount.Prefix = source.Name()
	}
	return mount
}

// typed adds the result type to results of built-in sources, because modern clients
// require it. Results of servers already have the form of the caller's era.
func (h *house) typed(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		result, err := next.Handle(ctx, call)
		if err != nil || gateway.IsExternal(call.Tool.Source) || call.Era != gateway.EraModern || result.Type != gateway.ResultUntyped {
			return result, err
		}
		return result.Complete(), nil
	})
}

// Knowledge returns why this house has no knowledge base; nil if it has one.
func (h *house) Knowledge() error {
	if slices.ContainsFunc(h.builtIn, func(s gateway.Source) bool { return s.Name() == kb.SourceName }) {
		return nil
	}
	if h.config.Knowledge.Off {
		return gateway.Errorf(gateway.CodeConflict, "the knowledge base is switched off; take kb.enabled: false out of the configuration to have it back, with all that it holds")
	}
	return gateway.Errorf(gateway.CodeConflict, "a server has the name kb, and hides the knowledge base; give that server another name")
}
