package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// score adds up the checks that count: all but those of extensions.
func score(r results, optional map[string]bool) tally {
	var t tally
	for scenario, checks := range r {
		if !optional[scenario] {
			t = t.plus(count(checks))
		}
	}
	return t
}

// unexplained counts the checks that went worse for no known reason, where it
// matters.
func (r *report) unexplained() int {
	n := 0
	for _, p := range r.pairings {
		n += unexplained(p.differences)
	}
	for _, c := range r.clients {
		n += unexplained(c.differences) + unexplained(c.bridged)
	}
	for _, c := range r.signIns {
		n += unexplained(c.differences)
	}
	return n
}

func unexplained(differences []difference) int {
	n := 0
	for _, d := range differences {
		for _, c := range d.checks {
			if c.worse() && c.why == "" && !d.optional {
				n++
			}
		}
	}
	return n
}

// print shows totals and, of the rest, only what differs.
func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.pairings) > 0 {
		fmt.Fprintln(w, "PAIRING\tDIRECT\tTHROUGH GENKAN\tWORSE, UNEXPLAINED")
		for _, p := range r.pairings {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", p.name, score(p.direct, p.optional), score(p.through, p.optional), unexplained(p.differences))
		}
		_ = w.Flush()
	}
	for _, p := range r.pairings {
		printDifferences(out, p.name, p.differences)
		for _, k := range p.stale {
			fmt.Fprintf(out, "  known.go explains %s %s, which does not differ any more\n", k.scenario, k.check)
		}
	}
	r.printClients(out, w)
	r.printSignIns(out, w)
}

func (r *report) printClients(out io.Writer, w *tabwriter.Writer) {
	if len(r.clients) == 0 {
		return
	}
	fmt.Fprintln(out)
	fmt.Fprintln(w, "CLIENT SCENARIO\tSERVER\tDIRECT\tTHROUGH GENKAN\tCALLER OF THE OTHER ERA")
	for _, c := range r.clients {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.scenario, c.era, count(c.direct), count(c.same), count(c.other))
	}
	_ = w.Flush()
	for _, c := range r.clients {
		printDifferences(out, "client "+c.scenario+", "+c.era, c.differences)
		printDifferences(out, "client "+c.scenario+", "+c.era+", caller of the other era", c.bridged)
	}
}

func (r *report) printSignIns(out io.Writer, w *tabwriter.Writer) {
	if len(r.signIns) == 0 {
		return
	}
	fmt.Fprintln(out)
	fmt.Fprintln(w, "SIGN-IN SCENARIO\tREVISION\tTHE SDK'S CLIENT\tGENKAN")
	var direct, through tally
	for _, c := range r.signIns {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.scenario, c.era, count(c.direct), count(c.same))
		direct, through = direct.plus(count(c.direct)), through.plus(count(c.same))
	}
	fmt.Fprintf(w, "all\t\t%s\t%s\n", direct, through)
	_ = w.Flush()
	for _, c := range r.signIns {
		printDifferences(out, "sign-in "+c.scenario+", "+c.era, c.differences)
	}
}

func printDifferences(out io.Writer, title string, differences []difference) {
	if len(differences) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", title)
	for _, d := range differences {
		note := ""
		if d.optional {
			note = " (extension, not counted)"
		}
		fmt.Fprintf(out, "  %s%s: direct %s; through genkan %s\n", d.scenario, note, d.direct, d.through)
		for _, c := range d.checks {
			fmt.Fprintf(out, "    %s: %s\n", c.id, c.story())
		}
		if why := d.reasons(); why != "" {
			fmt.Fprintf(out, "    known: %s\n", why)
		}
	}
}

// reasons are those of the known differences, each once.
func (d difference) reasons() string {
	var all []string
	for _, c := range d.checks {
		if c.why != "" && !slices.Contains(all, c.why) {
			all = append(all, c.why)
		}
	}
	return strings.Join(all, " ")
}

// story tells what became of a check.
func (d checkDifference) story() string {
	s := status(d.direct) + " → " + status(d.through)
	if d.message != "" {
		s += ": " + d.message
	}
	if d.why != "" {
		s += " (known)"
	}
	return s
}

func status(s string) string {
	if s == "" {
		return "not come to"
	}
	return strings.ToLower(s)
}

// The generated part of the document stands between these.
const (
	beginMark = "<!-- begin: generated -->"
	endMark   = "<!-- end -->"
)

// writeInto replaces the generated part of a document.
func writeInto(file, generated string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := between(string(raw), generated)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func between(document, generated string) (string, error) {
	head, rest, ok := strings.Cut(document, beginMark)
	_, tail, also := strings.Cut(rest, endMark)
	if !ok || !also {
		return "", fmt.Errorf("it has no place for the results: %q, then %q", beginMark, endMark)
	}
	return head + beginMark + "\n\n" + strings.TrimSpace(generated) + "\n\n" + endMark + tail, nil
}
