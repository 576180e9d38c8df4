package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// strictly refuses a query that is not as the route describes it. If a misspelt
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

// checkQuery returns everything that is wrong with a query: parameters that are
// unknown, then those that are repeated or have a wrong value.
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
	}
	var problems gateway.Problems
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			problems.Add(unknownParameter(gateway.Short(name), known))
		}
	}
	for _, q := range r.query {
		given := values[q.name]
		if len(given) > 1 && !q.repeats {
			problems.Add(twice(q.name))
			continue
		}
		for _, text := range given {
			if p, wrong := q.check(text); wrong {
				problems.Add(p)
			}
		}
	}
	return problems.Err()
}

// check returns what is wrong with a value. An empty one counts as none.
func (q *query) check(text string) (p gateway.Problem, wrong bool) {
	switch {
	case text == "":
		return p, false
	case !utf8.ValidString(text):
		return breaks(q.name, "format", map[string]any{"format": "UTF-8"}, gateway.Textf("%s is not UTF-8", q.name)), true
	case q.kind == "boolean" && text != "true" && text != "false":
		return breaks(q.name, "type", map[string]any{"type": q.kind},
			gateway.Textf("%s must be true or false, is %q", q.name, gateway.Short(text))), true
	case q.kind == "integer":
		n, err := strconv.Atoi(text)
		if err != nil || n < q.least || n > q.most {
			return outside(q.name, text, q.least, q.most), true
		}
	}
	return p, false
}

// numberIn returns a parameter that checkQuery has accepted; otherwise if it is not
// given.
func numberIn(values url.Values, name string, otherwise int) int {
	if n, err := strconv.Atoi(values.Get(name)); err == nil {
		return n
	}
	return otherwise
}

func unknownParameter(name string, known []string) gateway.Problem {
	text := gateway.Textf("there is no query parameter %q here; there are %s", name, gateway.Names(known))
	if len(known) == 0 {
		text = gateway.Textf("there is no query parameter %q here; this path has none", name)
	}
	return gateway.Problem{Field: name, Keyword: "additionalProperties", Params: map[string]any{"additionalProperty": name}, Text: text}
}

// twice returns the problem of a repeated parameter that must occur once.
func twice(name string) gateway.Problem {
	return breaks(name, "maxItems", map[string]any{"limit": 1}, gateway.Textf("the query parameter %q stands twice; give it once", name))
}
