package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// strictly refuses parameters that a route does not describe. If a misspelt
// parameter, or one of another route, were ignored, its caller would get the answer
// to a different question. Public routes accept the parameters that probes and
// links add, and redirects pass them on.
func (a *API) strictly(one route) handler {
	if !one.strict() {
		return one.serve
	}
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		if wrong := one.checkQuery(r.URL.RawQuery); wrong != nil {
			a.fail(w, wrong)
			return
		}
		one.serve(w, r, id)
	}
}

func (r *route) strict() bool { return r.needsToken() && r.good() < http.StatusMultipleChoices }

// checkQuery returns what is wrong with the names in a query. It does not check the
// values.
func (r *route) checkQuery(raw string) *gateway.Error {
	if raw == "" {
		return nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return invalid("the query behind the ? cannot be read; percent-encode what is neither letter nor digit")
	}
	known := make([]string, len(r.query))
	for i, q := range r.query {
		known[i] = q.name
		if !q.repeats && len(values[q.name]) > 1 {
			return twice(q.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			return breaks("additionalProperties", map[string]any{"additionalProperty": gateway.Short(name)}, gateway.Short(name), "there is no query parameter %q here; this path has none", gateway.Short(name))
		default:
			return breaks("additionalProperties", map[string]any{"additionalProperty": gateway.Short(name)}, gateway.Short(name), "there is no query parameter %q here; there are %s", gateway.Short(name), strings.Join(known, ", "))
		}
	}
	return nil
}

// twice returns the error for a repeated parameter that must occur once.
func twice(name string) *gateway.Error {
	return invalidField(name, "the query parameter %q stands twice; give it once", name)
}
