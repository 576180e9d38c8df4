// Package learn remembers which tools searches led to. A successful call of a tool
// that one of the caller's recent searches found is a Lesson: the next search like
// it ranks the tool higher.
//
// The process has one Learner. The edges and the guide report what a search has
// shown (Searched), and the learn step of the corridor reports calls that succeeded
// (Called). A call becomes a lesson if its tool was among the hits of one of the
// client's last five searches, within ten minutes (recent.go). Run writes lessons
// to the Store in the background, and Flush writes the rest at the end. Evidence
// returns what a client's lessons mean for package search. It is immutable, and
// made again when the store's change sequence or the day has changed.
//
// Invariants:
//
//   - Called and Evidence never wait for the store.
//   - Lessons belong to the client, unless an administrator shares them (Share).
//   - A lesson has the terms of a query and never the query itself.
//   - A tool is known by its server and the server's own name, so a tool that comes
//     back has its lessons again.
//   - Lessons are bounded (Bounds), count less as they get older, and can be listed
//     and forgotten.
package learn

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"genkan/internal/search"
)

// Tool names a tool for as long as its server has it: by the server and the
// server's own name for it.
type Tool struct{ Server, Name string }

// Shared is the client that everybody's lessons are under.
const Shared = "*"

// Lesson says that a client's searches with these terms were followed by calls of
// this tool that succeeded.
type Lesson struct {
	Client string
	Tool   Tool
	// Terms are in the order of the alphabet, which is not that of the query.
	Terms []string
	// Times is how often that happened, and At when it did last.
	Times int
	At    time.Time
}

// Bounds are how many lessons are kept: for a tool of one client, for a client, and
// of all. Those that are longest ago go first.
type Bounds struct{ Tool, Client, All int }

// DefaultBounds keep what is learned below a few megabytes.
func DefaultBounds() Bounds { return Bounds{Tool: 20, Client: 1000, All: 5000} }

// Selection is a part of the lessons.
type Selection struct {
	// Client is whose they are; empty is everybody's.
	Client string
	// Tool is what they are about; the zero Tool is all.
	Tool Tool
}

func (s Selection) has(l Lesson) bool {
	return (s.Client == "" || s.Client == l.Client) && (s.Tool == Tool{} || s.Tool == l.Tool)
}

// Store keeps lessons.
type Store interface {
	// Lessons are all that are kept, by client, server and tool, the latest first.
	Lessons(ctx context.Context) ([]Lesson, error)
	// AddLessons keeps lessons. One that is there already happened as many times
	// more. What is beyond the bounds then is forgotten.
	AddLessons(ctx context.Context, lessons []Lesson, bounds Bounds) error
	// ForgetLessons tells how many it forgot.
	ForgetLessons(ctx context.Context, which Selection) (int, error)
	// ChangeSequence grows with every change, whoever made it.
	ChangeSequence(ctx context.Context) (int64, error)
}

const (
	// halfLife is after how many days a lesson counts half.
	halfLife = 90
	// ofOthers is how much a shared lesson counts beside one of the client's own.
	ofOthers = .7
)

// weight is how much a lesson counts on a day: what happened often and lately
// counts most.
func (l Lesson) weight(now time.Time) float32 {
	const hoursPerDay = 24
	days := max(0, now.Sub(l.At).Hours()/hoursPerDay)
	w := math.Exp2(-days/halfLife) * float64(l.Times+1) / float64(l.Times+2)
	if l.Client == Shared {
		w *= ofOthers
	}
	return float32(w)
}

// evidenceOf is what lessons teach on a day.
func evidenceOf(lessons []Lesson, now time.Time) *search.Evidence {
	all := make([]search.Lesson, 0, len(lessons))
	for _, l := range lessons {
		all = append(all, search.Lesson{Server: l.Tool.Server, Tool: l.Tool.Name, Terms: l.Terms, Weight: l.weight(now)})
	}
	return search.NewEvidence(all)
}

// Sort puts lessons in the order in which stores give them.
func Sort(lessons []Lesson) {
	slices.SortFunc(lessons, func(a, b Lesson) int {
		return cmp.Or(
			strings.Compare(a.Client, b.Client), strings.Compare(a.Tool.Server, b.Tool.Server), strings.Compare(a.Tool.Name, b.Tool.Name),
			b.At.Compare(a.At), slices.Compare(a.Terms, b.Terms),
		)
	})
}
