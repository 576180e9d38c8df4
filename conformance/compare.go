package main

import (
	"regexp"
	"slices"
	"strings"
)

// difference is a scenario that went another way through genkan.
type difference struct {
	scenario        string
	direct, through tally
	checks          []checkDifference
	// optional says that it belongs to an extension, and decides nothing.
	optional bool
}

// checkDifference is one check of it.
type checkDifference struct {
	id              string
	direct, through string // the statuses; "" when it was not come to
	message         string
	// why is said of a difference that is known and cannot be helped.
	why string
}

// worse reports whether genkan has cost something. It has not where the suite
// itself says that a check does not apply to what it saw.
func (d checkDifference) worse() bool { return rank(d.through) < rank(d.direct) && d.through != info }

func rank(status string) int {
	switch status {
	case success:
		return 3
	case warning:
		return 1
	case failure:
		return 0
	default:
		return 2 // not come to, skipped, or a remark
	}
}

// compare lists the scenarios that differ, in the order of their names.
func compare(direct, through results, optional map[string]bool) []difference {
	names := map[string]bool{}
	for name := range direct {
		names[name] = true
	}
	for name := range through {
		names[name] = true
	}
	var out []difference
	for name := range names {
		if checks := compareChecks(direct[name], through[name]); len(checks) > 0 {
			out = append(out, difference{
				scenario: name, direct: count(direct[name]), through: count(through[name]),
				checks: checks, optional: optional[name],
			})
		}
	}
	slices.SortFunc(out, func(a, b difference) int { return strings.Compare(a.scenario, b.scenario) })
	return out
}

// compareChecks lists the checks that differ. They are paired by id and name,
// and then, because some are named after how they ended, by id alone; what
// occurs several times by its occurrences.
func compareChecks(direct, through []check) []checkDifference {
	var out []checkDifference
	left, right := slices.Clone(direct), slices.Clone(through)
	for _, same := range []func(a, b check) bool{
		func(a, b check) bool { return a.ID == b.ID && a.Name == b.Name },
		func(a, b check) bool { return a.ID == b.ID },
	} {
		left = slices.DeleteFunc(left, func(a check) bool {
			i := slices.IndexFunc(right, func(b check) bool { return same(a, b) })
			if i < 0 {
				return false
			}
			out = append(out, checkDifference{a.ID, a.Status, right[i].Status, stable(right[i].ErrorMessage), ""})
			right = slices.Delete(right, i, i+1)
			return true
		})
	}
	for _, a := range left {
		out = append(out, checkDifference{id: a.ID, direct: a.Status})
	}
	for _, b := range right {
		out = append(out, checkDifference{id: b.ID, through: b.Status, message: stable(b.ErrorMessage)})
	}
	return slices.DeleteFunc(out, func(d checkDifference) bool { return rank(d.direct) == rank(d.through) })
}

// changing is what differs from run to run in a message.
var changing = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+|\s+`)

// stable makes a message short and the same in every run.
func stable(message string) string {
	message = changing.ReplaceAllStringFunc(message, func(s string) string {
		if host, _, ok := strings.Cut(s, ":"); ok {
			return host
		}
		return " "
	})
	const most = 200
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	return strings.TrimSpace(message)
}

// explain fills in why differences are there, and returns the rows of the
// table that explain nothing any more.
func explain(pairing string, differences []difference) (stale []known) {
	for _, k := range knownDifferences {
		if k.pairing != "" && k.pairing != pairing {
			continue
		}
		used := false
		for i := range differences {
			for j := range differences[i].checks {
				c := &differences[i].checks[j]
				if k.scenario == differences[i].scenario && (k.check == "" || k.check == c.id) && c.worse() {
					c.why, used = k.why, true
				}
			}
		}
		if !used && k.pairing != "" {
			stale = append(stale, k)
		}
	}
	return stale
}
