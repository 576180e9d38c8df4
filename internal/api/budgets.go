package api

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/shape"
)

func (a *API) budgetRoutes() []route {
	return []route{{
		method: "GET", path: "/v1/budgets", who: forAdmins, id: "listBudgets", summary: "Show how large the answers to agents may be",
		about:  "The budgets of the configuration. Of several, that of the tool counts first, then that of the server, the client and the program, and then the one for everybody.",
		answer: client.Budgets{}, serve: a.listBudgets,
	}}
}

func (a *API) listBudgets(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	cfg := a.opt.Config()
	all := cmp.Or(cfg.Budget, shape.UsualBudget)
	out := client.Budgets{
		Default:   shape.UsualBudget,
		Everybody: budgetOf("", "", all), Usual: cfg.Budget == 0,
		Programs: []client.Budget{}, Clients: []client.Budget{}, Servers: []client.Budget{}, Tools: []client.Budget{},
	}
	programs := shape.Programs()
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		if all > 0 {
			out.Programs = append(out.Programs, budgetOf("", name, min(programs[name], all)))
		}
	}
	for _, c := range cfg.Clients {
		if c.Budget != 0 {
			out.Clients = append(out.Clients, budgetOf("", c.Name, c.Budget))
		}
	}
	for _, s := range cfg.Servers {
		if s.Budget != 0 {
			out.Servers = append(out.Servers, budgetOf("", s.Name, s.Budget))
		}
		for _, o := range s.ToolOptions {
			if o.Budget != 0 {
				out.Tools = append(out.Tools, budgetOf(s.Name, o.Pattern, o.Budget))
			}
		}
	}
	encode(w, http.StatusOK, out)
}

// budgetOf returns a budget in REST's form.
func budgetOf(server, name string, tokens int) client.Budget {
	return client.Budget{Server: server, Name: name, Tokens: max(tokens, 0)}
}
