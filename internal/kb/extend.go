package kb

import "genkan/internal/gateway"

// This file exports what additional tools need to read arguments and to answer as
// the sixteen tools do.

// Arguments reads the arguments of one call. It keeps the first error; values read
// after it are not used.
type Arguments struct{ in arguments }

// NewArguments refuses unknown arguments and calls that lack a required one.
func NewArguments(values map[string]any, known, required []string) *Arguments {
	a := &Arguments{arguments{values: values}}
	a.in.only(known)
	a.in.require(required)
	return a
}

// Err returns the first error, or nil.
func (a *Arguments) Err() error { return a.in.err }

// Text returns a text, empty if the argument is absent.
func (a *Arguments) Text(key string) string { return a.in.word(key) }

// Texts returns a list of texts, or nil if the argument is absent.
func (a *Arguments) Texts(key string) []string { return a.in.words(key) }

// Types returns the types of a filter, without surrounding white space, or nil if the
// argument is absent.
func (a *Arguments) Types(key string) []string {
	types, err := checkTypes(key, a.in.words(key))
	a.in.refuse(err)
	return types
}

// Flag returns a boolean, false if the argument is absent.
func (a *Arguments) Flag(key string) bool { return a.in.flag(key) }

// Count returns an integer from 1 to most, 0 if the argument is absent.
func (a *Arguments) Count(key string, most int) int { return a.in.count(key, most) }

// Ref returns a reference from the arguments for its type and its id.
func (a *Arguments) Ref(typeKey, idKey string) Ref { return a.in.ref(typeKey, idKey) }

// Answer returns the result of a call: the answer, encoded as JSON, or the error in
// the form that all tools use, in the language of translate.
func (b *Base) Answer(answer any, err error, translate gateway.Translate) (*gateway.Result, error) {
	b.stamp(&err)
	return newResult(answer, err, translate)
}

// AnswerMatch returns the form of an item in search results.
func AnswerMatch(m Match) any { return newMatchAnswer(m) }
