package record

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"genkan/internal/script"
	"genkan/internal/workflow"
)

// maxWorkflows is how many workflows have metrics of their own. The others are summed up
// as otherWorkflows.
const maxWorkflows = 200

const otherWorkflows = "(others)"

// MeasureWorkflows adds the metrics of workflows, of pending approvals and of pools of
// script workers, by the names of the pools.
func (r *Recorder) MeasureWorkflows(engine *workflow.Engine, desk *workflow.Desk, pools map[string]*script.Pool) {
	r.registry.MustRegister(newWorkflowMetrics(engine, desk, pools))
}

// workflowMetrics is the prometheus.Collector of MeasureWorkflows.
type workflowMetrics struct {
	engine *workflow.Engine
	desk   *workflow.Desk
	pools  map[string]*script.Pool

	runs, changed, dropped, duration, off, pending, beside *prometheus.Desc
	workers, queue, started, killed, tripped               *prometheus.Desc
}

func newWorkflowMetrics(engine *workflow.Engine, desk *workflow.Desk, pools map[string]*script.Pool) *workflowMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("genkan_"+name, help, labels, nil)
	}
	return &workflowMetrics{
		engine: engine, desk: desk, pools: pools,
		runs:     desc("workflow_runs_total", "Runs of workflows that are enabled, by outcome: ok, denied, failed, passed (failed open) or call_failed.", "workflow", "mode", "outcome"),
		changed:  desc("workflow_changed_total", "Runs that changed the call or its answer.", "workflow", "mode"),
		dropped:  desc("workflow_dropped_total", "Runs beside calls that did not take place, because too many waited.", "workflow", "mode"),
		duration: desc("workflow_duration_seconds", "How long the nodes of a run took, without the call and without people.", "workflow", "mode"),
		off:      desc("workflows_off", "1 if all workflows are turned off."),
		pending:  desc("approvals_pending", "Calls that wait for a person."),
		beside:   desc("workflow_detached_waiting", "Runs beside calls that wait for their turn."),
		workers:  desc("script_workers", "Processes that run scripts: running, waiting (for what the script asked for) or idle.", "pool", "state"),
		queue:    desc("script_queue", "Runs of scripts that wait for a process.", "pool"),
		started:  desc("script_workers_started_total", "Processes for scripts that were started.", "pool"),
		killed:   desc("script_workers_killed_total", "Processes for scripts that were ended, because a script took too long or too much memory.", "pool"),
		tripped:  desc("scripts_tripped", "Scripts that are refused for a while, because they were stopped too often.", "pool"),
	}
}

// Describe sends the descriptions of all metrics.
func (m *workflowMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.runs, m.changed, m.dropped, m.duration, m.off, m.pending, m.beside, m.workers, m.queue, m.started, m.killed, m.tripped,
	} {
		out <- d
	}
}

// Collect sends all metrics.
func (m *workflowMetrics) Collect(out chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		send(prometheus.CounterValue, d, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		send(prometheus.GaugeValue, d, float64(n), labels...)
	}
	for key, r := range sumUp(m.engine.Runs()) {
		mode := "enforce"
		if key.Shadow {
			mode = "shadow"
		}
		for outcome, n := range map[string]int64{
			workflow.OutcomeOK:     r.Runs - r.Denied - r.Failed - r.Passed - r.CallFailed,
			workflow.OutcomeDenied: r.Denied, workflow.OutcomeFailed: r.Failed, workflow.OutcomePassed: r.Passed, workflow.OutcomeCall: r.CallFailed,
		} {
			counter(m.runs, n, key.Workflow, mode, outcome)
		}
		counter(m.changed, r.Changed, key.Workflow, mode)
		counter(m.dropped, r.Dropped, key.Workflow, mode)
		buckets := map[float64]uint64{}
		for i, bound := range workflow.RunBuckets() {
			buckets[bound.Seconds()] = r.Buckets[i]
		}
		out <- prometheus.MustNewConstHistogram(m.duration, uint64(r.Runs), r.Total.Seconds(), buckets, key.Workflow, mode) //nolint:gosec // it counts
	}
	off := 0
	if m.engine.Set().Off() {
		off = 1
	}
	gauge(m.off, off)
	gauge(m.pending, len(m.desk.List()))
	waiting, _ := m.engine.Waiting()
	gauge(m.beside, waiting)
	for pool, of := range m.pools {
		s := of.Stats()
		gauge(m.workers, s.Running, pool, "running")
		gauge(m.workers, s.Waiting, pool, "waiting")
		gauge(m.workers, max(0, s.Processes-s.Running-s.Waiting), pool, "idle")
		gauge(m.queue, s.Queued, pool)
		counter(m.started, int64(s.Started), pool)
		counter(m.killed, int64(s.Killed), pool)
		gauge(m.tripped, len(s.Tripped), pool)
	}
}

// sumUp sums up the workflows beyond the first maxWorkflows by name.
func sumUp(all map[workflow.WorkflowAndMode]workflow.RunStats) map[workflow.WorkflowAndMode]workflow.RunStats {
	if len(all) <= maxWorkflows {
		return all
	}
	keys := make([]workflow.WorkflowAndMode, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b workflow.WorkflowAndMode) int { return cmp.Compare(a.Workflow, b.Workflow) })
	out := make(map[workflow.WorkflowAndMode]workflow.RunStats, maxWorkflows+2)
	for i, key := range keys {
		one := all[key]
		if i >= maxWorkflows {
			key.Workflow = otherWorkflows
			sum := out[key]
			sum.Add(&one)
			one = sum
		}
		out[key] = one
	}
	return out
}
