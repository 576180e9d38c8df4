package doctor

import (
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Knowledge is the knowledge base, and the database that it is in.
type Knowledge struct {
	// Looked says that it could be looked at, Off that it is switched off.
	Looked, Off bool
	// Hidden says that a server of its name takes its place.
	Hidden bool
	// Problem says why it could not be read.
	Problem gateway.Text

	// Checked is how the database was: quickly, whole, or empty for not at all.
	Checked string
	// Damage are SQLite's words. Orphans counts rows that lead to others that are
	// not there, Wrong what is counted or kept of rows otherwise than they are.
	Damage         []string
	Orphans, Wrong int

	Sequence int64
	Items    int
	Index    Index
	// Compared is what the comparison of index and graph with all rows came to; nil
	// if it was not made.
	Compared *Comparison

	// Rebuilt says that index and graph were made anew, Mended that something in the
	// database was mended. MendProblem and RebuildProblem say why not.
	Rebuilt, Mended             bool
	MendProblem, RebuildProblem gateway.Text
}

// How a database was checked.
const (
	CheckedQuickly = "quickly"
	CheckedWhole   = "whole"
)

// Index is the file of the text index.
type Index struct {
	// InMemory says that none is needed.
	InMemory bool
	// Path is empty if there is none.
	Path    string
	Size    int64
	Built   time.Time
	Covers  int64
	Missing bool
	// Damage is what is wrong with it, in words that are not ours.
	Damage string
	// Done and Total say how far it is being built; no total is that it is not.
	Done, Total int
}

// Comparison is how index and graph compare with the rows.
type Comparison struct {
	// Problem says why it could not be made.
	Problem          gateway.Text
	Items, Relations int
	Indexed          bool
	// Damage is what is wrong with the index that is in use.
	Damage string
	// Texts and Links are the ids of items that the index and the graph have
	// otherwise, at most a hundred.
	Texts, Links []int64
	// Extra says that one of them has more items or relations than there are, or
	// fewer.
	Extra bool
	// Moving: so much was written that nothing of it is certain.
	Moving bool
}

// firstLines are the words of others, as far as people read on.
func firstLines(lines []string) []string {
	const most = 5
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], "…")
}

// integrity is about the database as SQLite sees it.
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

// mendable says what to do: rebuild, or restore when that was tried.
func (e *examination) mendable(f *Finding) {
	if e.facts.Knowledge.MendProblem.Format == "" && !e.facts.Knowledge.Mended {
		f.run(e.genkan("doctor --rebuild")).advise(gateway.Textf("mends what can be; copy the data directory first"))
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

// index is about the file of the text index.
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
			k.Items, (x.Size+1023)/1024, x.Built.Local().Format(time.DateTime), k.Sequence-x.Covers))
	}
}

func (e *examination) compared(c *Comparison) {
	switch {
	case c.Problem.Format != "":
		e.say(Problem, gateway.Textf("text index and graph could not be compared with the rows")).because(c.Problem)
	case len(c.Texts)+len(c.Links) > 0 || c.Extra:
		if c.Moving {
			e.say(Note, gateway.Textf("items were changed all the while, so text index and graph could not be compared with the rows")).
				run(e.genkan("doctor --full")).advise(gateway.Textf("when less is written"))
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
	case c.Damage != "": // that was said, and what was not read may be anything
	default:
		e.say(OK, gateway.Textf("text index and graph agree with all rows; items: %d, relations: %d", c.Items, c.Relations))
	}
}

// someIDs are ids of items, as far as people read on.
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
