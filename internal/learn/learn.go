// Package learn remembers which tools searches led to. A successful call of a tool
// that one of the caller's recent searches found is a Lesson: the next similar search
// ranks the tool higher.
//
// The process has one Learner. The edges and the guide report the results of a search
// (Searched), and the learn step of the corridor reports successful calls (Called). A
// call becomes a lesson if its tool was among the hits of one of the client's last five
// searches, within ten minutes (recent.go). Run writes lessons to the Store in the
// background, and Flush writes the rest at the end. Evidence returns a client's lessons
// in the form that package search uses. It is immutable, and is built again when the
// store's change sequence or the day has changed.
//
// Invariants:
//
//   - Called and Evidence never wait for the store.
//   - Lessons belong to the client, unless an administrator shares them (Share).
//   - A lesson has the terms of a query and never the query itself.
//   - A tool is identified by its server and the server's own name, so a tool that
//     comes back has its lessons again.
//   - Lessons are bounded (Bounds), count less as they get older, and can be listed
//     and deleted.
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

// Tool identifies a tool by its server and the server's own name for it.
type Tool struct{ Server, Name string }

// Shared is the client of the lessons that all clients share.
const Shared = "*"

// Lesson says that successful calls of this tool followed a client's searches with these
// terms.
type Lesson struct {
	Client string
	Tool   Tool
	// Terms are in alphabetical order, which is not the order of the query.
	Terms []string
	// Times is how often that happened, and At the last time.
	Times int
	At    time.Time
}

// Bounds are the maximum numbers of lessons: of a client for one tool, of a client, and
// of all clients. The oldest lessons are deleted first.
type Bounds struct{ Tool, Client, All int }

// DefaultBounds returns bounds that keep the lessons below a few megabytes.
func DefaultBounds() Bounds { return Bounds{Tool: 20, Client: 1000, All: 5000} }

// Selection selects lessons.
type Selection struct {
	// Client is the owner; empty selects all clients.
	Client string
	// Tool is the tool; the zero Tool selects all.
	Tool Tool
}

func (s Selection) has(l Lesson) bool {
	return (s.Client == "" || s.Client == l.Client) && (s.Tool == Tool{} || s.Tool == l.Tool)
}

// Store stores lessons.
type Store interface {
	// Lessons returns all lessons, by client, server and tool, the latest first.
	Lessons(ctx context.Context) ([]Lesson, error)
	// AddLessons stores lessons. The count of an existing lesson is increased. Lessons
	// beyond the bounds are then deleted.
	AddLessons(ctx context.Context, lessons []Lesson, bounds Bounds) error
	// ForgetLessons deletes lessons and returns their number.
	ForgetLessons(ctx context.Context, which Selection) (int, error)
	// ChangeSequence returns a number that grows with every change of any process.
	ChangeSequence(ctx context.Context) (int64, error)
}

const (
	// halfLife is the age in days at which a lesson counts half.
	halfLife = 90
	// ofOthers is the weight of a shared lesson relative to one of the client's own.
	ofOthers = .7
)

// weight returns the weight of a lesson on a day: frequent and recent lessons weigh most.
func (l Lesson) weight(now time.Time) float32 {
	const hoursPerDay = 24
	days := max(0, now.Sub(l.At).Hours()/hoursPerDay)
	w := math.Exp2(-days/halfLife) * float64(l.Times+1) / float64(l.Times+2)
	if l.Client == Shared {
		w *= ofOthers
	}
	return float32(w)
}

// evidenceOf returns the evidence of lessons on a day.
func evidenceOf(lessons []Lesson, now time.Time) *search.Evidence {
	all := make([]search.Lesson, 0, len(lessons))
	for _, l := range lessons {
		all = append(all, search.Lesson{Server: l.Tool.Server, Tool: l.Tool.Name, Terms: l.Terms, Weight: l.weight(now)})
	}
	return search.NewEvidence(all)
}

// Sort sorts lessons into the order in which stores return them.
func Sort(lessons []Lesson) {
	slices.SortFunc(lessons, func(a, b Lesson) int {
		return cmp.Or(
			strings.Compare(a.Client, b.Client), strings.Compare(a.Tool.Server, b.Tool.Server), strings.Compare(a.Tool.Name, b.Tool.Name),
			b.At.Compare(a.At), slices.Compare(a.Terms, b.Terms),
		)
	})
}
