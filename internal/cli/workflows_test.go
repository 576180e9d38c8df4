package cli

import (
	"bytes"
	"strings"
	"testing"

	"genkan/internal/api/client"
)

// Workflows that carry out the limit of a token are changed with the token, so the list is
// without them.
func TestLimitsAreNoWorkflowsOfTheList(t *testing.T) {
	list := client.WorkflowList{Workflows: []client.Workflow{
		{ID: "mine", Enabled: true}, {ID: "limit-servers-cursor", Enabled: true, LimitOf: "cursor"},
	}}
	for asJSON, want := range map[bool]bool{false: false, true: true} {
		var said bytes.Buffer
		c := &command{std: Streams{Out: &said, Err: &said}, asJSON: asJSON}
		if err := c.listWorkflows(list); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(said.String(), "limit-servers"); got != want || !strings.Contains(said.String(), "mine") {
			t.Errorf("JSON %t: %s", asJSON, &said)
		}
		if !asJSON && !strings.Contains(said.String(), "1 of 1 workflows run") {
			t.Error(said.String())
		}
	}
}

// The error of a script has its place already.
func TestAScriptErrorHasItsPlaceOnce(t *testing.T) {
	var b strings.Builder
	(&command{}).stepDetails(&b, []client.WorkflowStep{{Node: "hook", Error: "line 1, column 32: x is not defined", Line: 1, Column: 32}})
	if got := b.String(); strings.Count(got, "line 1, column 32") != 1 {
		t.Error(got)
	}
}
