package app

import (
	"path/filepath"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/shape"
)

// openResults opens the folder of stored results.
func (p *Process) openResults() (err error) {
	p.results, err = shape.Open(filepath.Join(p.opt.DataDir, "results"), shape.Bounds{})
	return err
}

// shaper returns what makes outlines of large answers; nil if no budget is set
// anywhere.
func (p *Process) shaper(cfg *config.Config) *shape.Shaper {
	if !cfg.HasBudget() {
		return nil
	}
	budgets := shape.Budgets{Default: cfg.Budget}
	for _, c := range cfg.Clients {
		if c.Budget != 0 {
			budgets.Client = func(id string) int { return cfg.Client(id).Budget }
		}
	}
	return shape.New(p.results, budgets, language(cfg).Translator(), p.log)
}

// everywhere returns the sources that every view has.
func (h *house) everywhere() []gateway.Source {
	if h.shaper == nil {
		return nil
	}
	return []gateway.Source{h.shaper}
}

// shape is the step that replaces large answers by their outlines.
func (h *house) shape(next gateway.Handler) gateway.Handler {
	if h.shaper == nil {
		return next
	}
	return h.shaper.Middleware(next)
}
