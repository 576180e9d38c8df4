package record

import (
	"strconv"
	"testing"

	"genkan/internal/workflow"
)

// However many workflows there are, the number of labels is bounded.
func TestMetricsOfWorkflowsAreBounded(t *testing.T) {
	t.Parallel()
	all := map[workflow.WorkflowAndMode]workflow.RunStats{}
	for i := range 1000 {
		all[workflow.WorkflowAndMode{Workflow: strconv.Itoa(i), Shadow: i%2 == 0}] = workflow.RunStats{Runs: 1, Denied: 1}
	}
	out, runs := sumUp(all), int64(0)
	for _, r := range out {
		runs += r.Runs
	}
	if len(out) > maxWorkflows+2 || runs != 1000 || out[workflow.WorkflowAndMode{Workflow: otherWorkflows}].Denied == 0 {
		t.Errorf("%d, %d runs", len(out), runs)
	}
}
