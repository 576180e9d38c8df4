package kb

import "genkan/internal/gateway"

// What tools that are not among the sixteen need to read and answer as those do.

// Arguments are those of one call. The first thing that is wrong is kept, and what
// is read after it does not matter.
type Arguments struct{ in arguments }

// NewArguments refuses what the tool does not know and misses what it requires.
func NewArguments(values map[string]any, known, required []string) *Arguments {
	a := &Arguments{arguments{values: values}}
	a.in.only(known)
	a.in.require(required)
	return a
}

// Err is what is wrong with them, nil if nothing is.
func (a *Arguments) Err() error { return a.in.err }

// Text is empty if there is none.
func (a *Arguments) Text(key string) string { return a.in.word(key) }

// Texts are those of a list; nil if there is none.
func (a *Arguments) Texts(key string) []string { return a.in.words(key) }

// Flag is false if there is none.
func (a *Arguments) Flag(key string) bool { return a.in.flag(key) }

// Count is an integer of 1 to most; 0 if there is none.
func (a *Arguments) Count(key string, most int) int { return a.in.count(key, most) }

// Ref is a type and an id.
func (a *Arguments) Ref(typeKey, idKey string) Ref { return a.in.ref(typeKey, idKey) }

// Answer is the result of a call: what it answers, encoded as JSON, or the error
// in the form that all tools have.
func (b *Base) Answer(answer any, err error) (*gateway.Result, error) {
	b.stamp(&err)
	return newResult(answer, err)
}

// AnswerSummary is how an item stands in answers.
func AnswerSummary(s Summary) any { return newSummaryAnswer(s) }

// AnswerMatch is how an item that was found stands in answers.
func AnswerMatch(m Match) any { return newMatchAnswer(m) }
