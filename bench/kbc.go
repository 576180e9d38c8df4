package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errNoCompiler is that SQLite in C cannot be built here.
var errNoCompiler = errors.New("no C compiler")

// buildC builds the C driver's subject, in its own module.
func (l *lab) buildC() (string, error) {
	if l.csqlite != "" {
		return l.csqlite, nil
	}
	compiler, err := exec.CommandContext(l.ctx, "go", "env", "CC").Output()
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath(strings.TrimSpace(string(compiler))); err != nil {
		return "", fmt.Errorf("%w: %w", errNoCompiler, err)
	}
	fmt.Fprintln(l.progress, "building SQLite in C (the first time takes a minute)")
	binary := filepath.Join(l.dir, "csqlite")
	cmd := exec.CommandContext(l.ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "sqlite_fts5", "-o", binary, ".")
	cmd.Dir = filepath.Join("bench", "csqlite")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("SQLite in C does not build (-no-c does without it): %w\n%s", err, out)
	}
	l.csqlite = binary
	return binary, nil
}

// besideC compares what the store does with the same SQL through the C driver.
func (k *kbLab) besideC() error {
	if k.noC {
		return nil
	}
	binary, err := k.buildC()
	if errors.Is(err, errNoCompiler) {
		k.say("no comparison with SQLite in C: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := k.compareStores(binary); err != nil {
		return err
	}
	return k.besideFTS(binary)
}

// compareStores measures the two in turns, on a copy that both write to. It is
// beside what it is a copy of: the system's temporary directory may be no disk.
func (k *kbLab) compareStores(binary string) error {
	dir := k.dir + "-copy"
	if err := os.RemoveAll(dir); err != nil { // of a run that was killed
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	k.say("copying the database")
	if err := copyDatabase(k.dir, dir); err != nil {
		return err
	}
	recorder, err := k.startKnowledge("record", dir, k.items, "traced")
	if err != nil {
		return err
	}
	defer recorder.stop()
	ours, err := k.startKnowledge("copy", dir, k.items)
	if err != nil {
		return err
	}
	defer ours.stop()
	settings, err := recorder.run(kbJob{Do: "settings"})
	if err != nil {
		return err
	}
	t := table{Title: k.part + ", the store beside SQLite in C", Head: costHead("the last round")}
	for _, set := range []struct {
		name, metric, tool string
		dsn                string
		count, all         int
		goal, goalP99      float64
	}{
		{opStoreGet, "get", "", settings.Reader, k.scale.kbReads / 5, k.scale.kbReads, goalGet, goalGet},
		{opStoreList, "list of 20", "", settings.Reader, k.scale.kbReads / 10, k.scale.kbReads, goalList, 0},
		{opStoreNew, "durable create", opCreate, settings.Writer, k.scale.kbCreates, 5 * k.scale.kbCreates, goalCreate, 0},
	} {
		k.say("%s: %d rounds of %d, in turns with SQLite in C", set.metric, k.scale.rounds, set.count)
		recorded, err := recorder.run(kbJob{Do: "record", Name: set.name, Count: set.all, Seed: 3})
		if err != nil {
			return err
		}
		theirs, err := k.startWorker("csqlite", binary, set.dsn)
		if err != nil {
			return err
		}
		if _, err := theirs.run(kbJob{Do: "load", Name: set.name, Ops: recorded.Ops}); err != nil {
			return err
		}
		if _, err := ours.run(kbJob{Do: "load", Name: set.name, Count: set.all, Seed: 3}); err != nil {
			return err
		}
		c, err := k.compare(ours, theirs, set.name, set.count)
		theirs.stop()
		if err != nil {
			return err
		}
		last := len(c.ours) - 1
		t.Rows = append(t.Rows, c.ours[last].cells(set.name), c.theirs[last].cells("SQLite in C: "+set.metric))
		subject := "store: " + set.metric
		k.add(c.row(subject, "CPU", set.goal, func(c kbCost) float64 { return c.CPU }))
		k.add(c.row(subject, "CPU, p50", 0, func(c kbCost) float64 { return c.P50 }))
		k.add(c.row(subject, "CPU, p99", set.goalP99, func(c kbCost) float64 { return c.P99 }))
		if set.tool == "" {
			continue
		}
		k.add(row{Subject: subject, Metric: "one after the other", Value: medianOf(c.ours, kbCost.perSecond), Unit: "/s"})
		k.add(row{Subject: "SQLite in C: " + set.metric, Metric: "one after the other", Value: medianOf(c.theirs, kbCost.perSecond), Unit: "/s"})
		made, err := k.cost(ours, operationSet{set.tool, "", set.all, 0})
		if err != nil {
			return err
		}
		k.add(row{Subject: set.tool, Metric: "CPU", Value: made.CPU, Unit: "µs"})
		k.add(row{Subject: set.tool, Metric: "CPU, p99", Value: made.P99, Unit: "µs"})
		t.Rows = append(t.Rows, made.cells(set.tool))
	}
	k.r.Tables = append(k.r.Tables, t)
	return nil
}

// contest are the rounds of two that were measured in turns.
type contest struct{ ours, theirs []kbCost }

func (k *kbLab) compare(ours, theirs *worker, name string, count int) (contest, error) {
	var c contest
	// The first round is for caches.
	for round := range k.scale.rounds + 1 {
		job := kbJob{Do: "measure", Name: name, Count: count, From: round * count}
		both := []*worker{ours, theirs}
		costs := make([]kbCost, 2)
		for i := range both {
			n := (i + round) % 2
			a, err := both[n].run(job)
			if err != nil {
				return c, err
			}
			costs[n] = a.Cost
		}
		if round > 0 {
			c.ours, c.theirs = append(c.ours, costs[0]), append(c.theirs, costs[1])
		}
	}
	return c, nil
}

func medianOf(rounds []kbCost, of func(kbCost) float64) float64 {
	values := make([]float64, len(rounds))
	for i, c := range rounds {
		values[i] = of(c)
	}
	return quantile(values, .5)
}

// row compares round by round.
func (c contest) row(subject, metric string, goal float64, of func(kbCost) float64) row {
	ratios := make([]float64, len(c.ours))
	for i := range ratios {
		ratios[i] = of(c.ours[i]) / of(c.theirs[i])
	}
	return row{
		Subject: subject, Metric: metric, Value: medianOf(c.ours, of), Unit: "µs",
		FloorName: "SQLite in C", Floor: medianOf(c.theirs, of),
		Ratio: &ratio{quantile(ratios, .5), quantile(ratios, .25), quantile(ratios, .75)}, Goal: goal,
	}
}

// settings are those of the store's connections.
func (k *knowledge) settings() (kbAnswer, error) {
	if k.tracer == nil {
		return kbAnswer{}, errors.New("this one is not traced")
	}
	return kbAnswer{Reader: k.tracer.reader.DSN, Writer: k.tracer.writer.DSN}, nil
}
