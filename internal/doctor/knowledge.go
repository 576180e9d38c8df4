package doctor

import (
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Knowledge describes the knowledge base and its database.
type Knowledge struct {
	// Looked is set if it could be examined, Off if it is switched off.
	Looked, Off bool
	// Hidden is set if a server of its name replaces it.
	Hidden bool
	// Problem is why it could not be read.
	Problem gateway.Text

	// Checked is how the database was checked: quickly, whole, or empty for not at
	// all.
	Checked string
	// Damage is SQLite's report. Orphans counts rows that refer to missing rows.
	// Wrong counts derived values that do not match their rows.
	Damage         []string
	Orphans, Wrong int

	Sequence int64
	Items    int
	Index    Index
	// Compared is the comparison of the index and the graph with all rows; nil if it
	// was not made.
	Compared *Comparison

	// Rebuilt is set if the index and the graph were rebuilt, Mended if the database
	// was repaired. MendProblem and RebuildProblem are why not.
	Rebuilt, Mended             bool
	MendProblem, RebuildProblem gateway.Text
}

// These are the ways to check a database.
const (
	CheckedQuickly = "quickly"
	CheckedWhole   = "whole"
)

// Index is the file of the text index.
type Index struct {
	// InMemory is set if no file is needed.
	InMemory bool
	// Path is empty if there is none.
	Path    string
	Size    int64
	Built   time.Time
	Covers  int64
	Missing bool
	// Damage is the index library's report of what is wrong.
	Damage string
	// Done and Total are the progress of a build; Total is zero if none runs.
	Done, Total int
}

// Comparison is the result of comparing the index and the graph with the rows.
type Comparison struct {
	// Problem is why it could not be made.
	Problem          gateway.Text
	Items, Relations int
	Indexed          bool
	// Damage is what is wrong with the index that is in use.
	Damage string
	// Texts and Links are the ids of items that differ in the index and in the
	// graph, at most a hundred.
	Texts, Links []int64
	// Extra is set if one of them has more or fewer items or relations than the
	// rows.
	Extra bool
	// Moving is set if so much was written meanwhile that the result is uncertain.
	Moving bool
}

// firstLines returns as many quoted lines as people read.
func firstLines(lines []string) []string {
	const most = 5
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], "…")
}

// integrity reports on the database as SQLite sees it.
func (e *examination) integrity() {
	k := e.facts.Knowledge
	switch {
	case len(k.Damage) > 0:
		f := e.say(Problem, gateway.Textf("the database is damaged")).
			because(gateway.Textf("what is in the damaged parts cannot be relied on; SQLite says:"))
		f.Lines = firstLines(k.Damage)
		e.mendable(f)
	case k.Checked == CheckedWhole:
		e.say(OK, gateway.Textf("the database was read as a whole, and is as it should be"))
	case k.Checked == "" && k.Looked:
		e.say(Note, gateway.Textf("the database is large, and was not read as a whole")).run(e.genkan("doctor --full"))
	}
}

// mendable adds the fix: rebuild, or restore if a rebuild was tried.
func (e *examination) mendable(f *Finding) {
	if e.facts.Knowledge.MendProblem.Format == "" && !e.facts.Knowledge.Mended {
		f.run(e.genkan("doctor --rebuild")).advise(gateway.Textf("rebuild it, which mends what can be mended; copy the data directory first"))
		return
	}
	f.advise(gateway.Textf("stop genkan and put a backup in its place; without one, `genkan kb export FOLDER` saves what can be read"))
}

func (e *examination) knowledge() {
	e.about(OfKnowledge, "")
	k := e.facts.Knowledge
	switch {
	case k.Problem.Format != "":
		e.say(Problem, gateway.Textf("the knowledge base cannot be read")).because(k.Problem)
		return
	case !k.Looked:
		return
	case k.Off:
		e.say(Note, gateway.Textf("it is switched off, and keeps what it holds (kb.enabled)"))
		return
	}
	if k.Hidden {
		e.say(Warning, gateway.Textf("a server has the name kb, so the knowledge base is hidden from all clients")).
			because(gateway.Textf("what it holds is kept")).
			advise(gateway.Textf("give that server another name in %s, and in the entries of clients that start genkan with --only kb", e.facts.Config.File.Path))
	}
	if k.Mended {
		e.say(OK, gateway.Textf("what was wrong in the database was mended"))
	}
	if k.MendProblem.Format != "" {
		e.say(Problem, gateway.Textf("what is wrong in the database could not be mended")).because(k.MendProblem)
	}
	if k.Orphans > 0 {
		e.mendable(e.say(Problem, gateway.Textf("entries that lead to something that is not there: %d", k.Orphans)).
			because(gateway.Textf("relations, tags or references of items that are gone; what is found through them may be wrong")))
	}
	if k.Wrong > 0 {
		e.mendable(e.say(Problem, gateway.Textf("counts that do not agree with the items: %d", k.Wrong)).
			because(gateway.Textf("lists may tell wrong totals, and changes may be missed")))
	}
	e.index(&k)
	if k.RebuildProblem.Format != "" {
		e.rebuild(e.say(Problem, gateway.Textf("text index and graph could not be made anew")).because(k.RebuildProblem))
	} else if k.Rebuilt {
		e.say(OK, gateway.Textf("text index and graph were made anew"))
	}
	if c := k.Compared; c != nil {
		if c.Damage != "" && k.Index.Damage == "" && !k.Index.Missing {
			f := e.rebuild(e.say(Warning, gateway.Textf("the text index that is in use is damaged")).
				because(gateway.Textf("searches may be wrong until it is built anew")))
			f.Lines = []string{c.Damage}
		}
		e.compared(c)
	}
}

// index reports on the file of the text index.
func (e *examination) index(k *Knowledge) {
	x := &k.Index
	slow := gateway.Textf("who opens it reads every item for each search, which takes longer, and begins to build it anew; a genkan that has it open goes on with it")
	switch {
	case x.Total > 0:
		e.say(Note, gateway.Textf("items: %d; the text index is being built: %d of %d", k.Items, x.Done, x.Total))
	case x.Missing && !x.InMemory:
		e.rebuild(e.say(Warning, gateway.Textf("the text index is not there: %s", x.Path)).because(slow))
	case x.Damage != "":
		f := e.rebuild(e.say(Warning, gateway.Textf("the text index is damaged: %s", x.Path)).because(slow))
		f.Lines = []string{x.Damage}
	case x.Path == "" || x.Missing:
		if x.InMemory {
			e.say(OK, gateway.Textf("items: %d; the text index needs no file", k.Items))
			return
		}
		e.say(Note, gateway.Textf("items: %d; there is no text index yet, and the first search builds it", k.Items))
	default:
		e.say(OK, gateway.Textf("items: %d; text index: %d KB, built %s, writes since then: %d",
			k.Items, (x.Size+1023)/1024, Local(x.Built), k.Sequence-x.Covers)).at(x.Built)
	}
}

func (e *examination) compared(c *Comparison) {
	switch {
	case c.Problem.Format != "":
		e.say(Problem, gateway.Textf("text index and graph could not be compared with the rows")).because(c.Problem)
	case len(c.Texts)+len(c.Links) > 0 || c.Extra:
		if c.Moving {
			e.say(Note, gateway.Textf("items were changed all the while, so text index and graph could not be compared with the rows")).
				run(e.genkan("doctor --full")).advise(gateway.Textf("compare again when less is written"))
			return
		}
		f := e.rebuild(e.say(Problem, gateway.Textf("text index or graph say something else than the rows")).
			because(gateway.Textf("searches, related items or paths may be wrong for these")))
		if len(c.Texts) > 0 {
			f.Lines = append(f.Lines, "index: "+someIDs(c.Texts))
		}
		if len(c.Links) > 0 {
			f.Lines = append(f.Lines, "graph: "+someIDs(c.Links))
		}
	case !c.Indexed && c.Items > 0:
		e.say(Note, gateway.Textf("there was no text index to compare with the rows; the graph agrees with them"))
	case c.Damage != "": // this was reported, and the parts that were not read are unknown
	default:
		e.say(OK, gateway.Textf("text index and graph agree with all rows; items: %d, relations: %d", c.Items, c.Relations))
	}
}

// someIDs lists as many ids of items as people read.
func someIDs(ids []int64) string {
	const most = 10
	texts := make([]string, 0, most+1)
	for i, id := range ids {
		if i == most {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, strconv.FormatInt(id, 10))
	}
	return strings.Join(texts, ", ")
}
