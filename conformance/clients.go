package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// clientResult is one client scenario: run by a client of the server's era,
// by the same client behind genkan, and by one of the other era behind genkan.
type clientResult struct {
	scenario, era string
	optional      bool
	direct        []check
	same, other   []check
	// differences are those of same; bridged are those of other.
	differences, bridged []difference
}

// Names of the two ways through genkan, for the table of known differences.
const (
	clientsSame  = "clients"
	clientsOther = "clients-bridged"
)

// askClients runs the client scenarios of both eras, but for those about
// authorization, which askSignIns runs.
func (l *lab) askClients() ([]clientResult, error) {
	var out []clientResult
	for _, era := range []string{legacy, modern} {
		set, err := l.requirementsOf(era)
		if err != nil {
			return out, err
		}
		scenarios := slices.Clone(set.Client)
		for _, s := range set.NotScored {
			if s.Leg == "client" {
				scenarios = append(scenarios, s.Scenario)
			}
		}
		for _, scenario := range scenarios {
			if strings.HasPrefix(scenario, authPrefix) {
				continue
			}
			r, err := l.askClient(scenario, era, set.optional("client")[scenario])
			if err != nil {
				return out, fmt.Errorf("%s, %s: %w", scenario, era, err)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func (l *lab) askClient(scenario, era string, optional bool) (clientResult, error) {
	l.say("client scenario %s, %s", scenario, era)
	r := clientResult{scenario: scenario, era: era, optional: optional}
	other := modern
	if era == modern {
		other = legacy
	}
	var err error
	if r.direct, err = l.runClient(scenario, era, era, false); err != nil {
		return r, err
	}
	if r.same, err = l.runClient(scenario, era, era, true); err != nil {
		return r, err
	}
	if r.other, err = l.runClient(scenario, era, other, true); err != nil {
		return r, err
	}
	differ := func(name string, through []check) []difference {
		d := compare(results{scenario: r.direct}, results{scenario: through}, map[string]bool{scenario: optional})
		explain(name, d)
		return d
	}
	r.differences, r.bridged = differ(clientsSame, r.same), differ(clientsOther, r.other)
	return r, nil
}

// runClient has the suite start its server of an era, and this program, in
// the role of a client of another era or of the same, talk to it.
func (l *lab) runClient(scenario, serverEra, callerEra string, throughGenkan bool) ([]check, error) {
	way := "direct"
	if throughGenkan {
		way = "through-" + callerEra
	}
	dir := filepath.Join(l.dir, fmt.Sprintf("client-%s-%s-%s", scenario, serverEra, way))
	env := []string{envCaller + "=" + callerEra, envDir + "=" + dir + "-files"}
	if throughGenkan {
		env = append(env, envGenkan+"="+l.genkan)
	}
	return l.runSuiteClient(scenario, revision(serverEra), dir, strings.Join([]string{l.self, roleCommand, roleClient}, " "), env)
}

// finished is the id of the check of our own.
const finished = "client-finished"

// ending is a check of our own: whether the client has come to its end. The
// suite says that only in words.
func ending(said string) check {
	c := check{ID: finished, Description: "The client has done what it wanted to", Status: success}
	for _, sign := range []string{"Client exited with code", "Client timed out"} {
		if _, rest, found := strings.Cut(said, sign); found {
			c.Status = failure
			c.ErrorMessage = sign + rest
			if _, reason, found := strings.Cut(rest, "conformance: client: "); found {
				c.ErrorMessage = reason
			}
			c.ErrorMessage, _, _ = strings.Cut(c.ErrorMessage, "\n")
		}
	}
	return c
}
