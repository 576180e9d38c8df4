package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The samples are what the suite wrote of a fixture, and of the same fixture
// behind a genkan that did not route prompts and resources yet.
func samples(t *testing.T) (direct, through results) {
	t.Helper()
	direct, err := readResults("testdata/direct")
	if err != nil {
		t.Fatal(err)
	}
	through, err = readResults("testdata/through")
	if err != nil {
		t.Fatal(err)
	}
	return direct, through
}

func TestResultsAreNamedAfterTheirScenario(t *testing.T) {
	direct, through := samples(t)
	got := map[string]string{}
	for name, checks := range direct {
		got[name] = count(checks).String() + " / " + count(through[name]).String()
	}
	want := map[string]string{
		"caching":                     "8 passed, 0 failed / 4 passed, 3 failed, 1 skipped",
		"prompts-list":                "2 passed, 0 failed / 1 passed, 1 failed",
		"server-sse-multiple-streams": "2 passed, 0 failed / 1 passed, 0 failed",
		"tasks-required-task-error":   "1 passed, 1 failed / 0 passed, 0 failed",
		"tools-list":                  "4 passed, 0 failed / 4 passed, 0 failed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResultsThatAreNotThere(t *testing.T) {
	if _, err := readResults(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no results") {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestCompareShowsOnlyWhatDiffers(t *testing.T) {
	direct, through := samples(t)
	var got []string
	for _, d := range compare(direct, through, map[string]bool{"tasks-required-task-error": true}) {
		for _, c := range d.checks {
			line := d.scenario + " " + c.id + ": " + c.story()
			if c.worse() && !d.optional {
				line = "worse: " + line
			}
			got = append(got, line)
		}
	}
	want := []string{
		"worse: caching sep-2549-prompts-list-caching-hints: success → failure: prompts/list returned JSON-RPC error -32601: Method not found: prompts/list",
		"worse: caching sep-2549-resources-list-caching-hints: success → failure: resources/list returned JSON-RPC error -32601: Method not found: resources/list",
		"worse: caching sep-2549-resources-templates-list-caching-hints: success → failure: resources/templates/list returned JSON-RPC error -32601: Method not found: resources/templates/list",
		"worse: caching sep-2549-resources-read-caching-hints: success → skipped: resources/read was not exercised: resources/list failed or returned no resources.",
		"worse: prompts-list prompts-list: success → failure: Failed: Method not found: prompts/list",
		// The suite says itself that this check does not apply to JSON answers.
		"server-sse-multiple-streams server-sse-streams-functional: success → info",
		"tasks-required-task-error sep-2663-server-returns-missing-capability-when-required: failure → not come to",
		"tasks-required-task-error wire-schema-valid: success → not come to",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChecksArePaired(t *testing.T) {
	for name, tt := range map[string]struct {
		direct, through []check
		want            []string
	}{
		"by name, whatever the order": {
			[]check{{ID: "header", Name: "a", Status: success}, {ID: "header", Name: "b", Status: success}},
			[]check{{ID: "header", Name: "b", Status: failure}, {ID: "header", Name: "a", Status: success}},
			[]string{"header: success → failure"},
		},
		"by id, where the name tells how it ended": {
			[]check{{ID: "state", Name: "Echoed", Status: success}},
			[]check{{ID: "state", Name: "EchoedMissing", Status: failure}},
			[]string{"state: success → failure"},
		},
		"one by one, where they repeat": {
			[]check{{ID: "x", Status: success}, {ID: "x", Status: success}},
			[]check{{ID: "x", Status: success}, {ID: "x", Status: warning}},
			[]string{"x: success → warning"},
		},
		"or not at all": {
			[]check{{ID: "x", Status: success}},
			[]check{{ID: "y", Status: failure, ErrorMessage: "no\nanswer from 127.0.0.1:4711"}},
			[]string{"x: success → not come to", "y: not come to → failure: no answer from 127.0.0.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range compareChecks(tt.direct, tt.through) {
				got = append(got, d.id+": "+d.story())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKnownDifferencesAreExplained(t *testing.T) {
	lost := func(scenario string) []difference {
		return []difference{{scenario: scenario, checks: []checkDifference{{id: "x", direct: success, through: failure}}}}
	}
	d := lost("tools-call-sampling")
	explain("legacy-modern", d)
	if d[0].reasons() == "" || unexplained(d) != 0 {
		t.Errorf("sampling cannot pass a modern wire, and that is not explained: %+v", d)
	}
	d = lost("tools-call-sampling")
	stale := explain("legacy-stdio", d)
	if unexplained(d) != 1 || len(stale) != 0 {
		t.Errorf("what one pairing cannot do excuses another: %+v, %+v", d, stale)
	}
	if stale := explain("legacy-modern", nil); len(stale) == 0 {
		t.Error("rows that explain nothing are not noticed")
	}
}

func TestKnownDifferencesNameWhatExists(t *testing.T) {
	for _, k := range knownDifferences {
		if k.pairing != "" && !strings.Contains(partNames(), k.pairing) && k.pairing != clientsOther {
			t.Errorf("there is no pairing %q", k.pairing)
		}
		if k.scenario == "" || k.why == "" {
			t.Errorf("a row is incomplete: %+v", k)
		}
	}
}

func TestRequirements(t *testing.T) {
	r, err := readRequirements("testdata/requirements.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"tasks-required-task-error": true}, r.optional("server")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"tools_call", "auth/basic-cimd"}, r.Client); diff != "" {
		t.Error(diff)
	}
}
