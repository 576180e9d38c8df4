package execution

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/tokens"
)

const (
	// shownNodes is how many nodes a summary lists.
	shownNodes = 20
	// summaryTokens is what a summary may have, by estimate.
	summaryTokens = 850
)

// Answer is what a tool answers: {success: true, message, data}.
type Answer struct {
	Message gateway.Text
	Data    any
}

// SummaryRequest is what get_execution is asked for.
type SummaryRequest struct {
	// NodeOffset lists the nodes from a number on, successful ones too. Nil leaves
	// successful nodes out if there are many.
	NodeOffset *int
	// Translate is the language of texts for the agent; nil is English.
	Translate gateway.Translate
}

type summary struct {
	ID           string         `json:"id"`
	WorkflowID   string         `json:"workflowId"`
	WorkflowName string         `json:"workflowName"`
	Status       string         `json:"status"`
	StartedAt    string         `json:"startedAt,omitempty"`
	StoppedAt    string         `json:"stoppedAt,omitempty"`
	Duration     *int64         `json:"duration,omitempty"`
	WaitTill     string         `json:"waitTill,omitempty"`
	RetryOf      string         `json:"retryOf,omitempty"`
	Statistics   statistics     `json:"statistics"`
	Error        *shownCause    `json:"error,omitempty"`
	Hidden       []hiddenError  `json:"hiddenErrors,omitempty"`
	Nodes        []availableOne `json:"availableNodes"`
	Collapsed    int            `json:"collapsedNodes,omitempty"`
	NextNode     *int           `json:"nextNodeOffset,omitempty"`
	Guidance     guidance       `json:"_guidance"`
}

type statistics struct {
	TotalNodes      int   `json:"totalNodes"`
	ExecutedNodes   int   `json:"executedNodes"`
	SuccessfulNodes int   `json:"successfulNodes"`
	FailedNodes     int   `json:"failedNodes"`
	TotalItems      int64 `json:"totalItemsProcessed"`
	HiddenErrors    int64 `json:"hiddenErrors,omitempty"`
}

type shownCause struct {
	NodeName string `json:"nodeName,omitempty"`
	shownFailure
	Item json.RawMessage `json:"inputItem,omitempty"`
}

// shownFailure is a Failure in an answer.
type shownFailure struct {
	Name        string `json:"name,omitempty"`
	Text        string `json:"message"`
	Description string `json:"description,omitempty"`
	Cause       string `json:"cause,omitempty"`
	HTTPCode    string `json:"httpCode,omitempty"`
	Line        int    `json:"lineNumber,omitempty"`
	Item        *int   `json:"itemIndex,omitempty"`
}

func (f *Failure) shown(limit int) shownFailure {
	s := shownFailure{
		f.Name, cut(f.Text, limit), cut(f.Description, limit), cut(f.Cause, limit), f.HTTPCode, f.Line, nil,
	}
	if f.HasItem {
		s.Item = &f.Item
	}
	return s
}

type hiddenError struct {
	NodeName    string `json:"nodeName"`
	Count       int64  `json:"count"`
	Message     string `json:"message,omitempty"`
	RunIndex    int    `json:"runIndex,omitempty"`
	OutputIndex int    `json:"outputIndex,omitempty"`
	ItemIndex   int    `json:"itemIndex,omitempty"`
}

type availableOne struct {
	NodeName string `json:"nodeName"`
	NodeType string `json:"nodeType"`
	Status   string `json:"status"`
	Items    int64  `json:"items"`
	Runs     int    `json:"runs,omitempty"`
}

type guidance struct {
	Message string `json:"message"`
	Example string `json:"example"`
}

// status is error if a run failed, else that of the last run in n8n's words.
func (n *NodeIndex) status() string {
	switch {
	case n.FailedRuns > 0:
		return "error"
	case n.Status == "":
		return "success"
	default:
		return n.Status
	}
}

// hidden counts failures in runs that succeeded, and locates the first.
func (n *NodeIndex) hidden() (int64, *Located) {
	switch n.OnError {
	case "continueErrorOutput":
		first := n.FirstTail
		if first == nil {
			first = n.FirstError
		}
		return n.Tail + n.Errors - n.TailErrors, first
	case "continueRegularOutput":
		if n.Inherited {
			return 0, nil
		}
		return n.Errors, n.FirstError
	}
	return 0, nil
}

func (x *Index) executed() []NodeIndex {
	n := 0
	for n < len(x.Nodes) && x.Nodes[n].Runs > 0 {
		n++
	}
	return x.Nodes[:n]
}

// duration is how long the execution ran, in milliseconds. It is nil if that is not
// known yet.
func (x *Index) duration() *int64 {
	start, err := time.Parse(time.RFC3339, x.StartedAt)
	stop, err2 := time.Parse(time.RFC3339, x.StoppedAt)
	if err != nil || err2 != nil {
		return nil
	}
	d := stop.Sub(start).Milliseconds()
	return &d
}

// Summary answers get_execution. It has at most 1,000 tokens.
func Summary(x *Index, req SummaryRequest) Answer {
	s := x.summary(req)
	for len(s.Nodes) > 0 && estimate(s) > summaryTokens {
		s = x.fewer(s, req)
	}
	if estimate(s) > summaryTokens && s.Error != nil {
		s.Error.Item = nil
		s.Error.shownFailure = x.RootCause.Failure.shown(150)
	}
	return Answer{gateway.Textf("Execution summary retrieved"), s}
}

func estimate(v any) int {
	encoded, err := json.Marshal(v)
	if err != nil {
		return math.MaxInt
	}
	return size(encoded)
}

// size is the tokens of a text by estimate. Characters of four bytes, such as emoji,
// have more than the estimate says.
func size(text []byte) int {
	n := tokens.Count(text)
	for _, c := range text {
		if c >= 0xf0 {
			n++
		}
	}
	return n
}

func (x *Index) summary(req SummaryRequest) summary {
	s := summary{
		ID: x.ID, WorkflowID: x.WorkflowID, WorkflowName: cut(x.WorkflowName, 150), Status: x.Status,
		StartedAt: x.StartedAt, StoppedAt: x.StoppedAt, Duration: x.duration(), RetryOf: x.RetryOf,
		Statistics: statistics{TotalNodes: x.TotalNodes},
		Nodes:      []availableOne{},
	}
	if s.WorkflowName == "" {
		s.WorkflowName = "Unknown Workflow"
	}
	if x.Status == "waiting" {
		s.WaitTill = x.WaitTill
	}
	if c := x.RootCause; c != nil {
		s.Error = &shownCause{cut(c.Node, 200), c.Failure.shown(300), c.Item}
		s.Error.Name = ""
		if strings.Contains(s.Error.Cause, s.Error.HTTPCode) {
			s.Error.HTTPCode = ""
		}
		if s.Error.Text == "" {
			s.Error.Text = gateway.Textf("The node failed. n8n gives no message.").In(req.Translate)
		}
	}
	executed := x.executed()
	s.Statistics.ExecutedNodes = len(executed)
	for i := range executed {
		node := &executed[i]
		switch node.status() {
		case "error":
			s.Statistics.FailedNodes++
		case "success":
			s.Statistics.SuccessfulNodes++
		}
		s.Statistics.TotalItems += node.Items
		if count, first := node.hidden(); count > 0 {
			s.Statistics.HiddenErrors += count
			if len(s.Hidden) < 5 {
				s.Hidden = append(s.Hidden, hiddenError{
					cut(node.Name, 200), count, cut(first.Message, 150), first.Run, first.Output, first.Item,
				})
			}
		}
	}
	x.list(&s, req)
	s.Guidance = x.guide(&s, req)
	return s
}

// list fills in the nodes that the summary shows.
func (x *Index) list(s *summary, req SummaryRequest) {
	executed := x.executed()
	if req.NodeOffset != nil {
		from := min(max(*req.NodeOffset, 0), len(executed))
		to := min(from+shownNodes, len(executed))
		for i := range executed[from:to] {
			s.Nodes = append(s.Nodes, executed[from+i].available())
		}
		if to < len(executed) {
			s.NextNode = &to
		}
		return
	}
	for i := range executed {
		node := &executed[i]
		count, _ := node.hidden()
		if len(executed) <= shownNodes || node.status() != "success" || count > 0 {
			if len(s.Nodes) < shownNodes {
				s.Nodes = append(s.Nodes, node.available())
			}
		}
	}
	s.Collapsed = len(executed) - len(s.Nodes)
}

func (n *NodeIndex) available() availableOne {
	a := availableOne{NodeName: cut(n.Name, 200), NodeType: cut(n.Type, 100), Status: n.status(), Items: n.Items}
	if a.NodeType == "" {
		a.NodeType = "unknown"
	}
	if n.Runs > 1 {
		a.Runs = n.Runs
	}
	return a
}

// fewer removes a node from a summary that is too long: the last successful one, else
// the last.
func (x *Index) fewer(s summary, req SummaryRequest) summary {
	at := len(s.Nodes) - 1
	if req.NodeOffset != nil {
		next := *req.NodeOffset + at
		s.NextNode = &next
	} else {
		for i := at; i >= 0; i-- {
			if s.Nodes[i].Status == "success" {
				at = i
				break
			}
		}
		s.Collapsed++
	}
	s.Nodes = append(s.Nodes[:at:at], s.Nodes[at+1:]...)
	s.Guidance = x.guide(&s, req)
	return s
}

// guide names the next call.
func (x *Index) guide(s *summary, req SummaryRequest) guidance {
	say := func(t gateway.Text) string { return t.In(req.Translate) }
	executed := x.executed()
	example := call{tool: "get_execution_by_node", id: x.ID}
	switch {
	case x.RootCause != nil && x.RootCause.Node != "":
		example.node = x.RootCause.Node
	case len(s.Hidden) > 0:
		example.node = s.Hidden[0].NodeName
		example.add("runIndex", s.Hidden[0].RunIndex)
		example.add("outputIndex", s.Hidden[0].OutputIndex)
		example.add("itemOffset", s.Hidden[0].ItemIndex)
	case len(executed) > 0:
		example.node = executed[len(executed)-1].Name
	}
	switch {
	case x.TooLarge:
		return guidance{
			say(gateway.Textf("n8n left the data out because it is too large to display. Look at the execution in n8n.")),
			call{tool: "get_execution", id: x.ID}.String(),
		}
	case len(executed) == 0 && (x.Status == "running" || x.Status == "new"):
		return guidance{
			say(gateway.Textf("The execution has not finished and n8n stores no node data yet. Ask again later.")),
			call{tool: "get_execution", id: x.ID}.String(),
		}
	case len(executed) == 0:
		return guidance{
			say(gateway.Textf("n8n has no node data of this execution: no node ran, or the workflow's settings do not save it. Other executions of the workflow may have it.")),
			"list_executions(workflowId: '" + quoted(x.WorkflowID) + "')",
		}
	case s.NextNode != nil:
		next := call{tool: "get_execution", id: x.ID}
		next.always("nodeOffset", *s.NextNode)
		return guidance{say(gateway.Textf("More nodes ran: the example lists the next. Use get_execution_by_node tool to fetch detailed data for a specific node")), next.String()}
	case s.Collapsed > 0:
		return guidance{
			say(gateway.Textf("Use get_execution_by_node tool to fetch detailed data for a specific node. Nodes that are not listed: %d. get_execution with nodeOffset: 0 lists them.", s.Collapsed)),
			example.String(),
		}
	}
	return guidance{say(gateway.Textf("Use get_execution_by_node tool to fetch detailed data for a specific node")), example.String()}
}

// call is an example of a call: get_execution_by_node(id: '1', nodeName: 'A', itemOffset: 50).
type call struct {
	tool, id, node string
	arguments      string
}

// add adds an argument unless it is 0.
func (c *call) add(name string, value int) {
	if value != 0 {
		c.always(name, value)
	}
}

func (c *call) always(name string, value int) { c.arguments += fmt.Sprintf(", %s: %d", name, value) }

func (c call) String() string {
	node := ""
	if c.node != "" {
		node = ", nodeName: '" + quoted(cut(c.node, 200)) + "'"
	}
	return c.tool + "(id: '" + quoted(c.id) + "'" + node + c.arguments + ")"
}

func quoted(text string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text)
}

// cut shortens a text to a number of bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return string(wholeRunes([]byte(text[:limit]))) + "…"
}
