package execution

import (
	"cmp"
	"strings"
)

// Failure is what n8n says about an error, without the stack and the request.
type Failure struct {
	Name, Text, Description string
	// Cause is the message of the service or the library behind the error.
	Cause    string
	HTTPCode string
	Line     int
	// Item is the input item that failed, if n8n says so.
	Item    int
	HasItem bool

	node string
}

const maxMessage = 1_000

// stackLine begins the first line of a stack.
//
//nolint:gochecknoglobals // a constant
var stackLine = []byte("\n    at ")

// message reads a text of an error.
func (r *reader) message() string { return withoutStack(r.text(maxMessage)) }

// withoutStack removes the lines of a stack from a message.
func withoutStack(text string) string {
	text, _, _ = strings.Cut(text, string(stackLine))
	return strings.TrimSpace(text)
}

// failure reads the error of a run. It returns nil for null.
func (r *reader) failure() *Failure {
	f := &Failure{}
	switch r.next() {
	case 'n':
		r.skip()
		return nil
	case '{':
	default:
		f.Text = r.message()
		return f
	}
	r.enter('{')
	for n := 0; r.more('}', n); n++ {
		switch string(r.key()) {
		case "name":
			f.Name = r.text(100)
		case "message":
			f.Text = r.message()
		case "description":
			f.Description = r.message()
		case "httpCode":
			f.HTTPCode = r.text(100)
		case "lineNumber":
			f.Line = r.index()
		case "messages":
			if !r.enter('[') {
				r.skip()
				continue
			}
			for n := 0; r.more(']', n); n++ {
				if f.Cause == "" {
					f.Cause = r.message()
				} else {
					r.skip()
				}
			}
		case "cause":
			if cause := r.messageWithin(); cause != "" {
				f.Cause = cause
			}
		case "context":
			f.readContext(r)
		case "node":
			f.node = r.nameWithin()
		default:
			r.skip()
		}
	}
	if f.Description == f.Text {
		f.Description = ""
	}
	if f.Cause == f.Text || f.Cause == f.Description {
		f.Cause = ""
	}
	return f
}

// readContext reads the number of the failed item. The request stays where it is.
func (f *Failure) readContext(r *reader) {
	if !r.enter('{') {
		r.skip()
		return
	}
	for n := 0; r.more('}', n); n++ {
		if string(r.key()) == "itemIndex" && r.next() != 'n' {
			f.Item, f.HasItem = r.index(), true
		} else {
			r.skip()
		}
	}
}

// nameWithin reads the name of an object.
func (r *reader) nameWithin() (name string) {
	if !r.enter('{') {
		return r.text(maxKey)
	}
	for n := 0; r.more('}', n); n++ {
		if string(r.key()) == "name" {
			name = r.text(maxKey)
		} else {
			r.skip()
		}
	}
	return name
}

// messageWithin reads an error that is a text or an object with a message.
func (r *reader) messageWithin() (message string) {
	if !r.enter('{') {
		return r.message()
	}
	for n := 0; r.more('}', n); n++ {
		switch string(r.key()) {
		case "message":
			message = r.message()
		case "description":
			if d := r.message(); message == "" {
				message = d
			}
		default:
			r.skip()
		}
	}
	return message
}

// NodeError is a failure of a node.
type NodeError struct {
	Node, Message string
	// all is what n8n says about it, in lower case.
	all string
}

// Has reports whether n8n's words about the failure have a text, which is in lower case.
func (e *NodeError) Has(text string) bool { return strings.Contains(e.all, text) }

// Failures returns the failures of an execution, hidden ones included: the root cause
// first, then one of each node.
func (x *Index) Failures() (all []NodeError) {
	add := func(node string, f *Failure) {
		words := []string{f.Name, f.Text, f.Description, f.Cause, f.HTTPCode}
		all = append(all, NodeError{node, cmp.Or(f.Text, f.Description, f.Cause), strings.ToLower(strings.Join(words, "\n"))})
	}
	if x.RootCause != nil {
		add(x.RootCause.Node, &x.RootCause.Failure)
	}
	for i := range x.Nodes {
		n := &x.Nodes[i]
		if n.Failure != nil && (x.RootCause == nil || x.RootCause.Node != n.Name) {
			add(n.Name, n.Failure)
		}
		if count, first := n.hidden(); count > 0 && first != nil {
			add(n.Name, &Failure{Text: first.Message})
		}
	}
	return all
}
