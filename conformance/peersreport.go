package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// outcome is what became of a step; it went well when there is no problem.
type outcome struct{ step, problem string }

// row is one client at one arrangement.
type row struct {
	client, era, wire, behind string
	outcomes                  []outcome
}

func (r *row) note(step string, err error) {
	o := outcome{step: step}
	if err != nil {
		o.problem = stable(err.Error())
	}
	r.outcomes = append(r.outcomes, o)
}

// well are the steps that went well.
func (r row) well() []string {
	var out []string
	for _, o := range r.outcomes {
		if o.problem == "" {
			out = append(out, o.step)
		}
	}
	return out
}

// failed are the others, with what was wrong: each problem once, after all the
// steps that have it.
func (r row) failed() []string {
	var problems []string
	steps := map[string][]string{}
	for _, o := range r.outcomes {
		if o.problem == "" {
			continue
		}
		if steps[o.problem] == nil {
			problems = append(problems, o.problem)
		}
		steps[o.problem] = append(steps[o.problem], o.step)
	}
	var out []string
	for _, p := range problems {
		out = append(out, strings.Join(steps[p], ", ")+": "+p)
	}
	return out
}

type peersReport []row

// failures counts the steps that failed through genkan.
func (r peersReport) failures() int {
	n := 0
	for _, row := range r {
		if row.wire != direct {
			n += len(row.outcomes) - len(row.well())
		}
	}
	return n
}

func (r peersReport) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLIENT\tERA\tTO GENKAN\tBEHIND IT\tOK")
	for _, row := range r {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d of %d\n", row.client, row.era, row.wire, row.behind, len(row.well()), len(row.outcomes))
	}
	_ = w.Flush()
	// Those that failed in the same way stand together.
	var order []string
	who := map[string][]string{}
	for _, row := range r {
		if failed := strings.Join(row.failed(), "\n  "); failed != "" {
			if who[failed] == nil {
				order = append(order, failed)
			}
			who[failed] = append(who[failed], fmt.Sprintf("%s, %s, %s, %s", row.client, row.era, row.wire, row.behind))
		}
	}
	for _, failed := range order {
		fmt.Fprintf(out, "\n%s\n  %s\n", strings.Join(who[failed], "\n"), failed)
	}
}

func (r peersReport) markdown() string {
	var b strings.Builder
	b.WriteString("| client | era | to Genkan over | behind it | ok | what went well | what failed |\n|---|---|---|---|---|---|---|\n")
	for _, row := range r {
		cells := []string{
			row.client, row.era, row.wire, row.behind, fmt.Sprintf("%d of %d", len(row.well()), len(row.outcomes)),
			strings.Join(row.well(), ", "), strings.Join(row.failed(), "; "),
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}
