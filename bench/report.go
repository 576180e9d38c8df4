package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	Part    string  `json:"part"`
	Subject string  `json:"subject"`
	Metric  string  `json:"metric"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	// Floor is what it is compared with, Ratio how; nil for a row that is
	// compared with nothing.
	FloorName string  `json:"floor_name,omitempty"`
	Floor     float64 `json:"floor,omitempty"`
	Ratio     *ratio  `json:"ratio,omitempty"`
	// Goal is the most that the ratio, or the value where there is none, may
	// be; 0 for information.
	Goal float64 `json:"goal,omitempty"`
}

// judged is what the goal is about.
func (r row) judged() float64 {
	if r.Ratio != nil {
		return r.Ratio.Median
	}
	return r.Value
}

func (r row) over() bool { return r.Goal > 0 && r.judged() > r.Goal }

// report is the outcome of a run.
type report struct {
	Machine string  `json:"machine"`
	Scale   string  `json:"scale"`
	Log     string  `json:"log"`
	Seconds float64 `json:"seconds"`
	Rows    []row   `json:"rows"`
	// Tables are what does not fit into rows.
	Tables []table `json:"tables,omitempty"`
	// Figures are those of knowledge bases of several sizes.
	Figures []figure `json:"figures,omitempty"`
	// Allocations are the lines of go test -bench.
	Allocations []string `json:"allocations,omitempty"`
}

// table is information: nothing in it is judged.
type table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

func (t *table) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s\n", strings.ToUpper(t.Title))
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, cells := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
	}
	_ = w.Flush()
}

// figure is something that is measured at several sizes.
type figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Items int     `json:"items"`
	Value float64 `json:"value"`
}

// growth puts the figures of all sizes side by side; there is none of one size.
func (r *report) growth() (t table, ok bool) {
	t = table{Title: "growth of the knowledge base", Head: []string{"figure", "unit"}}
	var sizes []int
	var names []figure
	values := map[string]map[int]string{}
	for _, f := range r.Figures {
		if !slices.Contains(sizes, f.Items) {
			sizes = append(sizes, f.Items)
		}
		if values[f.Name] == nil {
			names, values[f.Name] = append(names, f), map[int]string{}
		}
		values[f.Name][f.Items] = number(f.Value)
	}
	slices.Sort(sizes)
	for _, size := range sizes {
		t.Head = append(t.Head, thousands(size)+" items")
	}
	for _, f := range names {
		cells := []string{f.Name, f.Unit}
		for _, size := range sizes {
			cells = append(cells, values[f.Name][size])
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, len(sizes) > 1
}

// thousands prints a large number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func (r *report) add(rows ...row) { r.Rows = append(r.Rows, rows...) }

func (r *report) missed() int {
	n := 0
	for _, row := range r.Rows {
		if row.over() {
			n++
		}
	}
	return n
}

func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "machine: %s\nrun: %s, %.0f s; genkan's log goes to %s\n\n", r.Machine, r.Scale, r.Seconds, r.Log)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SUBJECT\tMETRIC\tVALUE\tFLOOR\tRATIO\tQUARTILES\tGOAL\t")
	part := ""
	for _, row := range r.Rows {
		if row.Part != part {
			part = row.Part
			fmt.Fprintf(w, "\t\t\t\t\t\t\t\n%s\t\t\t\t\t\t\t\n", strings.ToUpper(part))
		}
		fmt.Fprintln(w, strings.Join(row.cells(), "\t"))
	}
	_ = w.Flush()
	for _, t := range r.Tables {
		t.print(out)
	}
	if t, ok := r.growth(); ok {
		t.print(out)
	}
	if len(r.Allocations) > 0 {
		fmt.Fprintf(out, "\nallocations (go test -bench -benchmem)\n%s\n", strings.Join(r.Allocations, "\n"))
	}
	fmt.Fprintf(out, "\ngoals missed: %d\n", r.missed())
}

func (r row) cells() []string {
	cells := []string{r.Subject, r.Metric, number(r.Value) + " " + r.Unit, "", "", "", "", ""}
	if r.FloorName != "" {
		cells[3] = r.FloorName + " " + number(r.Floor)
	}
	if r.Ratio != nil {
		cells[4] = fmt.Sprintf("%.2f", r.Ratio.Median)
		cells[5] = fmt.Sprintf("%.2f-%.2f", r.Ratio.Low, r.Ratio.High)
	}
	if r.Goal > 0 {
		cells[6] = "≤ " + number(r.Goal)
		if r.Ratio != nil {
			cells[6] += "×"
		}
		cells[7] = "ok"
		if r.over() {
			cells[7] = "OVER"
		}
	}
	return cells
}

// number prints as many digits as mean something.
func number(v float64) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

func (r *report) writeJSON(path string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}

// machine says where the figures come from.
func machine() string {
	model := "unknown processor"
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(raw)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel := ""
	if raw, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = " " + strings.TrimSpace(string(raw))
	}
	load := ""
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(raw), " ")
		load = ", load " + first + " before the run"
	}
	return fmt.Sprintf("%s, %d processors, %s/%s%s, %s%s",
		model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, kernel, runtime.Version(), load)
}
