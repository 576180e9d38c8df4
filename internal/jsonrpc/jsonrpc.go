// Package jsonrpc reads and writes the envelopes of JSON-RPC 2.0 messages, and
// frames them for the transports of MCP: lines, HTTP bodies, SSE.
//
// Scan checks a whole message once: it must be valid JSON within the limits
// (MaxMessage, MaxDepth). It looks into the envelope, the params, their _meta and
// the first level of a result, and keeps only the spans of what it finds.
// Everything else is forwarded byte for byte. Splice replaces spans. Line breaks
// between tokens become spaces, so no message can become two on a transport that
// consists of lines.
//
// Keys are compared after unescaping. What two parsers could read differently is
// refused, because the receiver may read it the other way: duplicate keys, and keys
// that differ from a known one only in case.
package jsonrpc

import (
	"errors"

	"genkan/internal/gateway"
)

// Limits of one message.
const (
	// MaxMessage is the size of the largest message, in bytes: the largest
	// result and its envelope.
	MaxMessage = gateway.MaxResult + 64<<10
	// MaxDepth is how deep arrays and objects may nest.
	MaxDepth = 1000
)

// Kind says which of the four messages it is.
type Kind uint8

// The kinds.
const (
	Request Kind = iota + 1
	Notification
	Response
	ErrorResponse
)

// Message is a scanned message. All slices point into the scanned bytes.
type Message struct {
	Kind Kind
	// ID is the id's JSON, a string or a number.
	ID     []byte
	Method string
	Params gateway.Params
	Result gateway.Result
	// Error is the error object's JSON.
	Error []byte
}

// Error codes of JSON-RPC and MCP.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603

	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

// ScanError says why a message was refused. Code is CodeParse for what is not
// JSON, CodeInvalidRequest for JSON that breaks a rule.
type ScanError struct {
	Code   int
	Reason gateway.Text
	// At is the position in the message, in bytes.
	At int
}

func (e *ScanError) Error() string { return e.In(nil) }

// In says it in the language of translate.
func (e *ScanError) In(translate gateway.Translate) string {
	return gateway.Textf("%s (at byte %d)", e.Reason, e.At).In(translate)
}

// ErrTooLarge is returned by the framings for a message over MaxMessage.
var ErrTooLarge = errors.New("the message is larger than 32 MiB")

// Scan checks a whole message and finds what the house needs of it. It takes
// the bytes over: line breaks between tokens are overwritten with spaces, so
// that no message in the house can become two on a line-based wire.
//
// When the message breaks a rule, the returned Message may still hold the ID,
// for the answer.
func Scan(data []byte) (Message, error) {
	var s scanner
	s.data = data
	err := s.message()
	if err != nil {
		if !idIsValid(s.msg.ID) {
			s.msg.ID = nil
		}
		return Message{ID: s.msg.ID}, err
	}
	return s.msg, nil
}

// idIsValid reports whether an id may be used: MCP wants a string or an
// integer, and nobody needs a long one.
func idIsValid(id []byte) bool {
	if len(id) == 0 || len(id) > 512 {
		return false
	}
	return id[0] == '"' || id[0] == '-' || (id[0] >= '0' && id[0] <= '9')
}
