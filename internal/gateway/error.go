package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code is the kind of an Error. Each edge has one exhaustive table from codes to its
// own statuses.
type Code uint8

// The codes.
const (
	CodeInternal Code = iota
	CodeInvalid
	CodeUnauthenticated
	CodeDenied
	CodeNotFound
	CodeConflict
	CodeLimited
	CodeUnavailable
	CodeTimeout
	CodeCanceled
	codeCount
)

var codeNames = [codeCount]string{
	"internal", "invalid", "unauthenticated", "denied", "not_found",
	"conflict", "limited", "unavailable", "timeout", "canceled",
}

func (c Code) String() string {
	if c < codeCount {
		return codeNames[c]
	}
	return "internal"
}

// Codes lists every code, for the tests that keep the edges' tables whole.
func Codes() []Code {
	all := make([]Code, codeCount)
	for i := range all {
		all[i] = Code(i)
	}
	return all
}

// Error is the error type of all packages.
type Error struct {
	Code Code
	// Message is shown to people and agents: what happened, what it means and
	// what to do next. It never holds secrets, arguments or addresses of the
	// inside. It is English, and the format of Values if there are any: a Text
	// in two fields, so that an edge can say it in its reader's language.
	Message string
	Values  []any
	// Field is the name of what is wrong in the caller's input; empty when that
	// is no single thing.
	Field string
	// Problems are what is wrong in the caller's input, each by itself, if the
	// input was held against a schema. The message tells all of them.
	Problems []Problem
	// Err is for the log.
	Err error
	// Unsent is set when nothing reached the server: sending again is safe.
	Unsent bool
	// Lost is set when the connection ended after the call had been sent. The
	// source connects again by itself. The call may be why the server ended.
	Lost bool
	// Answered is set when the server did answer, but with nothing that could be
	// used: it lives, and asking again would bring the same.
	Answered bool
	// RetryAfter tells the caller when trying again makes sense; zero if
	// unknown.
	RetryAfter time.Duration
	// Meant is the tool that a call was meant for, if it failed before its Tool was set: a
	// disabled tool, or a Tool with only a Kind and a Source if just the source is known.
	// It is for records: callers do not see it.
	Meant *Tool
	// Hidden is set if the call's tool exists and is hidden from the caller. It is for
	// records that administrators read: callers do not see it.
	Hidden bool
	// RPC is the error object that the upstream answered with, as it came.
	// Edges that speak JSON-RPC pass it on untouched.
	RPC []byte
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Text() + ": " + e.Err.Error()
	}
	return e.Text()
}

// Text is what is shown, in English.
func (e *Error) Text() string { return e.In(nil) }

// In is what is shown, in the language of translate.
func (e *Error) In(translate Translate) string {
	return Text{Format: e.Message, Values: e.Values}.In(translate)
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without an inner cause. The values are kept as they
// are, to be formatted when somebody reads the message.
func Errorf(code Code, format string, values ...any) *Error {
	if false {
		_ = fmt.Sprintf(format, values...) // so that vet checks the callers' formats
	}
	return &Error{Code: code, Message: format, Values: values}
}

// ErrWanted is the cause of a failure that a person has wanted, such as a
// restart: it says nothing about the server.
var ErrWanted = errors.New("somebody wanted it so")

// ErrNoSpace is among the causes of a write that failed because the disk is full.
var ErrNoSpace = errors.New("no space is left")

// ErrReadOnly is among the causes of a write that failed because nothing may be
// written there.
var ErrReadOnly = errors.New("nothing may be written")

// AsError turns any error into an *Error. An error of another type is internal, and
// its text stays in the log.
func AsError(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Message: "the call took longer than it may", Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeCanceled, Message: "the call was canceled", Err: err}
	default:
		return &Error{Code: CodeInternal, Message: "something went wrong inside genkan; its log has the details", Err: err}
	}
}
