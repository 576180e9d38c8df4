package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// DoctorReport is what the doctor found.
type DoctorReport struct {
	OK       bool            `json:"ok" doc:"Nothing is a problem."`
	Findings []DoctorFinding `json:"findings"`
}

// DoctorFinding is one thing that the doctor found.
type DoctorFinding struct {
	Subject  string         `json:"subject" doc:"What it is about: program, data, knowledge, config, port, embeddings, server/NAME or client/NAME."`
	Severity string         `json:"severity" doc:"ok, note, warning or problem."`
	Title    string         `json:"title" doc:"What is so."`
	Detail   string         `json:"detail,omitempty" doc:"What that means, and the words of others that belong to it, such as the last lines of a server."`
	Lines    []string       `json:"lines,omitempty" doc:"The words of others at the end of detail, such as the last lines of a server."`
	Times    []DoctorTime   `json:"times,omitempty" doc:"The times in title and detail, in the time zone of genkan."`
	Fix      string         `json:"fix,omitempty" doc:"What mends it on one line: the command and the advice."`
	Advice   string         `json:"advice,omitempty" doc:"What to do, in words that make sense without the command."`
	Place    string         `json:"place,omitempty" doc:"The part of fix and advice that says where the definition of the server is."`
	Command  string         `json:"command,omitempty" doc:"The command that mends it, where one does."`
	Request  *DoctorRequest `json:"request,omitempty" doc:"The request that does what the command does, where one can."`
}

// DoctorTime is a time in a finding.
type DoctorTime struct {
	Text string    `json:"text" doc:"How it is written there."`
	Time time.Time `json:"time"`
}

// DoctorRequest is a request that mends something.
type DoctorRequest struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body,omitempty" doc:"The body, as JSON. If a PUT or PATCH has none, a person must supply the value to send. Other methods need no body."`
}

// Doctor finds out what is wrong. Names of servers limit the look to those.
func (c *Client) Doctor(ctx context.Context, servers ...string) (DoctorReport, error) {
	var out DoctorReport
	path := "/v1/doctor"
	if len(servers) > 0 {
		path += "?" + url.Values{"server": servers}.Encode()
	}
	return out, c.do(ctx, http.MethodGet, path, nil, &out)
}
