package config

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// The limits of statuses, which are the knowledge base's.
const (
	maxStatuses   = 100
	maxStatusName = 50
)

// statuses reads the statuses of items. What is wrong with one leaves the others.
func (d *decoder) statuses(n *node, at string) []Status {
	if !d.is(n, kindList, at) {
		return nil
	}
	if len(n.items) == 0 || len(n.items) > maxStatuses {
		d.problems.add(n.at, "%s must have 1 to %d statuses; leave it out for the usual ones", at, maxStatuses)
		return nil
	}
	before := len(d.problems.list)
	var all []Status
	lines, open := map[string]int{}, false
	for i, item := range n.items {
		var s Status
		named := item.at
		here := at + "[" + strconv.Itoa(i) + "]"
		found := len(d.problems.list)
		d.object(item, here, d.statusFields(&s, &named))
		if len(d.problems.list) > found {
			continue
		}
		if s.Name == "" {
			d.problems.add(item.at, "%s needs a name", here)
			continue
		}
		folded := strings.ToLower(s.Name)
		if line, twice := lines[folded]; twice {
			d.problems.add(named, "%s is the status of line %d again; each must be there once, in whichever case", here+".name", line)
		}
		lines[folded], open = named.line, open || !s.Closed
		all = append(all, s)
	}
	if !open && len(d.problems.list) == before {
		d.problems.add(n.at, "%s has closed statuses only; new items need an open one", at)
	}
	return all
}

func (d *decoder) statusFields(s *Status, named *position) []field {
	return []field{
		{"name", func(n *node, at string) {
			*named = n.at
			s.Name, _ = d.checked(n, at, checkStatusName)
		}},
		{"closed", func(n *node, at string) { s.Closed, _ = d.truth(n, at) }},
	}
}

func checkStatusName(name string) (string, error) {
	switch {
	case strings.TrimSpace(name) == "":
		return "", gateway.Errorf(gateway.CodeInvalid, "must not be empty")
	case strings.TrimSpace(name) != name:
		return "", gateway.Errorf(gateway.CodeInvalid, "must not begin or end with white space")
	case utf8.RuneCountInString(name) > maxStatusName:
		return "", gateway.Errorf(gateway.CodeInvalid, "must have at most %d characters", maxStatusName)
	case strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, ","):
		return "", gateway.Errorf(gateway.CodeInvalid, "must not have commas or control characters; a comma stands between statuses where several are named")
	}
	return name, nil
}
