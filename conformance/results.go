package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/goccy/go-yaml"
)

// check is one thing that the suite looked at.
type check struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	Status       string `json:"status"`
	ErrorMessage string `json:"errorMessage"`
}

// The statuses.
const (
	success = "SUCCESS"
	failure = "FAILURE"
	warning = "WARNING"
	skipped = "SKIPPED"
	info    = "INFO" // decides nothing: a remark, or that a check does not apply
)

// results are the checks of each scenario of one run.
type results map[string][]check

// resultDir is how the suite names a scenario's directory: the leg for
// servers, the scenario, and when.
var resultDir = regexp.MustCompile(`^(?:server-)?(.+)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$`)

// readResults reads what the suite has written below a directory.
func readResults(dir string) (results, error) {
	var files []string
	for _, depth := range []string{"*", "*/*"} { // scenarios may be in groups
		found, err := filepath.Glob(filepath.Join(dir, depth, "checks.json"))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	all := results{}
	for _, file := range files {
		place, err := filepath.Rel(dir, filepath.Dir(file))
		name := resultDir.FindStringSubmatch(filepath.ToSlash(place))
		if name == nil || err != nil {
			return nil, fmt.Errorf("%s is not named as the suite names its results", file)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var checks []check
		if err := json.Unmarshal(raw, &checks); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all[name[1]] = checks
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the suite has left no results in %s", dir)
	}
	return all, nil
}

// tally counts checks as the suite does.
type tally struct{ passed, failed, warned, skipped int }

func count(checks []check) tally {
	var t tally
	for _, c := range checks {
		switch c.Status {
		case success:
			t.passed++
		case failure:
			t.failed++
		case warning:
			t.warned++
		case skipped:
			t.skipped++
		}
	}
	return t
}

func (t tally) plus(u tally) tally {
	return tally{t.passed + u.passed, t.failed + u.failed, t.warned + u.warned, t.skipped + u.skipped}
}

func (t tally) String() string {
	s := fmt.Sprintf("%d passed, %d failed", t.passed, t.failed)
	if t.warned > 0 {
		s += fmt.Sprintf(", %d warned", t.warned)
	}
	if t.skipped > 0 {
		s += fmt.Sprintf(", %d skipped", t.skipped)
	}
	return s
}

// requirements are the scenarios of a revision, frozen at its release.
type requirements struct {
	Server    []string `yaml:"server"`
	Client    []string `yaml:"client"`
	NotScored []struct {
		Scenario string `yaml:"scenario"`
		Leg      string `yaml:"leg"`
		Reason   string `yaml:"reason"`
	} `yaml:"not_scored"`
}

// extension is why a scenario of an optional extension is not scored. Other
// reasons are about the suite and not about who is tested, so those scenarios
// count here as scored ones do.
const extension = "extension"

// readRequirements reads the suite's own file.
func readRequirements(file string) (requirements, error) {
	var r requirements
	raw, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := yaml.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// optional are the scenarios of a leg that belong to extensions.
func (r requirements) optional(leg string) map[string]bool {
	out := map[string]bool{}
	for _, s := range r.NotScored {
		if s.Leg == leg && s.Reason == extension {
			out[s.Scenario] = true
		}
	}
	return out
}
