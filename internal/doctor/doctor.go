// Package doctor finds out what is wrong with an installation and how to fix it. It
// derives findings from the facts that package checkup has gathered. It reads no
// files, makes no requests and changes nothing, so every finding can be tested with
// a table.
package doctor

import (
	"net/url"
	"slices"
	"time"

	"genkan/internal/gateway"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities, mildest first.
const (
	// OK means that everything is as it should be.
	OK Severity = iota
	// Note is information; nothing has to be done.
	Note
	// Warning means that it works, but should be fixed.
	Warning
	// Problem means that something does not work.
	Problem
)

func (s Severity) String() string {
	return [...]string{"ok", "note", "warning", "problem"}[s]
}

// Subject is what a finding is about: one of the kinds, and for servers and
// clients a name.
type Subject struct{ Kind, Name string }

// The kinds of subjects, in the order of a report.
const (
	OfProgram   = "program"
	OfData      = "data"
	OfKnowledge = "knowledge"
	OfConfig    = "config"
	OfPort      = "port"
	OfModel     = "embeddings"
	OfServer    = "server"
	OfClient    = "client"
)

func (s Subject) String() string {
	if s.Name == "" {
		return s.Kind
	}
	return s.Kind + "/" + s.Name
}

// Finding is one result of an examination.
type Finding struct {
	Subject  Subject
	Severity Severity
	// Title states the fact, Detail what it means.
	Title  gateway.Text
	Detail gateway.Text
	// Lines are quoted, for example from the output of a server.
	Lines []string
	// Times are those that the texts and lines contain, as Local writes them.
	Times []time.Time
	Fix   Fix
}

// Local returns a time as findings contain it, to the minute: when a client was last
// seen is kept no more exactly.
func Local(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }

// Fix is what fixes a finding: a command, advice, or both. Pages show a button or a
// link in place of the command, so the advice makes sense without it.
type Fix struct {
	Command string
	// Text is the advice: one or more whole sentences.
	Text gateway.Text
	// Place is how Text names the place of a server's definition.
	Place gateway.Text
	// Request does the same over REST, if a request can.
	Request Request
}

// Request is a request of the REST API. client.DoctorRequest documents its fields.
type Request struct{ Method, Path, Body string }

// Examine returns all findings about the facts, in the order of a report.
func Examine(f Facts) []Finding {
	e := &examination{facts: f}
	e.program()
	e.data()
	e.knowledge()
	e.config()
	e.port()
	e.embeddings()
	for i := range f.Servers {
		e.server(&f.Servers[i])
	}
	for i := range f.N8N {
		e.n8n(&f.N8N[i])
	}
	for i := range f.Clients {
		e.client(&f.Clients[i])
	}
	e.unanswered()
	for i := range e.found {
		e.found[i].makePrintable()
	}
	return e.found
}

// Worst returns the severity of the worst finding.
func Worst(found []Finding) Severity {
	worst := OK
	for _, f := range found {
		worst = max(worst, f.Severity)
	}
	return worst
}

// Only selects the findings that concern some servers: their own findings, and the
// problems of the installation that they run in.
func Only(found []Finding, servers []string) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool {
		switch f.Subject.Kind {
		case OfServer:
			return !slices.Contains(servers, f.Subject.Name)
		case OfClient:
			return true
		default:
			return f.Severity < Warning
		}
	})
}

type examination struct {
	facts   Facts
	subject Subject
	found   []Finding
}

func (e *examination) about(kind, name string) { e.subject = Subject{kind, name} }

// say adds a finding and returns it, so that it can be completed.
func (e *examination) say(severity Severity, title gateway.Text) *Finding {
	e.found = append(e.found, Finding{Subject: e.subject, Severity: severity, Title: title})
	return &e.found[len(e.found)-1]
}

func (f *Finding) because(detail gateway.Text) *Finding {
	f.Detail = detail
	return f
}

// at adds the times that the finding contains.
func (f *Finding) at(times ...time.Time) *Finding {
	f.Times = append(f.Times, times...)
	return f
}

func (f *Finding) run(command string) *Finding {
	f.Fix.Command = command
	return f
}

// orSend adds the request that does the same as the command.
func (f *Finding) orSend(method, collection, name, action string) *Finding {
	f.Fix.Request = Request{Method: method, Path: "/v1/" + collection}
	for _, part := range []string{name, action} {
		if part != "" {
			f.Fix.Request.Path += "/" + url.PathEscape(part)
		}
	}
	return f
}

// restart adds the fix that restarts a server.
func (e *examination) restart(f *Finding, server string) *Finding {
	return f.run(e.genkan("servers restart "+Quote(server))).orSend("POST", "servers", server, "restart")
}

// keepSecret adds the fix that stores a secret.
func (e *examination) keepSecret(f *Finding, name string) *Finding {
	return f.run(e.genkan("secrets set "+Quote(name))).orSend("PUT", "secrets", name, "")
}

// rebuild adds the fix that rebuilds the index and the graph of the knowledge base.
func (e *examination) rebuild(f *Finding) *Finding {
	return f.run(e.genkan("doctor --rebuild")).orSend("POST", "knowledge", "rebuild", "")
}

// placeOf returns where a server's definition is.
func (e *examination) placeOf(s *Server) gateway.Text {
	if s.Stored {
		name := Quote(s.Name)
		return gateway.Textf("the database (`%s` and `%s`, or its page in the web UI)", e.genkan("servers remove "+name), e.genkan("servers add "+name+" …"))
	}
	return gateway.Textf("%s", e.facts.Config.File.Path)
}

// genkan returns a genkan command with the flags of this installation.
func (e *examination) genkan(words string) string { return "genkan " + words + e.facts.Flags }

func (f *Finding) advise(text gateway.Text) *Finding {
	f.Fix.Text = text
	return f
}
