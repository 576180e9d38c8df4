package execution

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"genkan/internal/gateway"
)

const (
	// MaxItems is how many items a page has at most.
	MaxItems = 50
	// nodeTokens is what an answer about a node may have, by estimate.
	nodeTokens = 4_300
	// parameterTokens is what the parameters may have of it.
	parameterTokens = 1_000
)

// NodeRequest is what get_execution_by_node is asked for.
type NodeRequest struct {
	NodeName string
	// RunIndex and OutputIndex are the run and the output; nil chooses the failed run,
	// else the last, and the first output that has items.
	RunIndex, OutputIndex *int
	// OutputType is the type of connection of OutputIndex: main unless set.
	OutputType string
	// ItemOffset is the first item of the page; nil starts at the first, and at the
	// failed one in the input of a failed run.
	ItemOffset *int
	// ItemLimit is the length of the page, at most MaxItems, which 0 stands for.
	ItemLimit int
	// Translate is the language of texts for the agent; nil is English.
	Translate gateway.Translate
}

type nodeAnswer struct {
	ExecutionID   string          `json:"executionId"`
	NodeName      string          `json:"nodeName"`
	NodeType      string          `json:"nodeType"`
	Status        string          `json:"status"`
	ExecutionTime int64           `json:"executionTime"`
	StartTime     string          `json:"startTime,omitempty"`
	EndTime       string          `json:"endTime,omitempty"`
	RunIndex      int             `json:"runIndex"`
	Runs          int             `json:"runs"`
	FailedRuns    []int           `json:"failedRuns,omitempty"`
	Input         shownItems      `json:"input"`
	Inputs        []*shownSource  `json:"inputs,omitempty"`
	Output        shownItems      `json:"output"`
	Outputs       []shownOutput   `json:"outputs,omitempty"`
	HiddenErrors  int64           `json:"hiddenErrors,omitempty"`
	SubExecution  *SubExecution   `json:"subExecution,omitempty"`
	Parameters    json.RawMessage `json:"parameters"`
	Error         *shownFailure   `json:"error"`
	ExecutedNodes []string        `json:"executedNodes,omitempty"`
	Guidance      guidance        `json:"_guidance"`
}

// shownItems is a page of an input or an output.
type shownItems struct {
	From   *shownSource      `json:"from,omitempty"`
	Offset int               `json:"itemOffset,omitempty"`
	Items  []json.RawMessage `json:"items"`
	Total  int               `json:"total"`
	Next   *int              `json:"nextItemOffset,omitempty"`
	Cut    bool              `json:"cut,omitempty"`
}

type shownSource struct {
	NodeName    string `json:"nodeName"`
	OutputIndex int    `json:"outputIndex"`
	RunIndex    int    `json:"runIndex"`
	Total       *int   `json:"total,omitempty"`
}

type shownOutput struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Total int    `json:"total"`
}

// Node answers get_execution_by_node. body is the body that Scan read. The answer has
// at most 5,000 tokens. An error is an *Error if the request is wrong.
func Node(x *Index, body io.ReaderAt, req NodeRequest) (Answer, error) {
	node := x.node(req.NodeName)
	if node == nil {
		return Answer{}, x.unknown(req.NodeName)
	}
	limit, err := req.limit()
	if err != nil {
		return Answer{}, err
	}
	a := nodeAnswer{
		ExecutionID: x.ID, NodeName: node.Name, NodeType: node.available().NodeType,
		Status: "notExecuted", Runs: node.Runs, Parameters: json.RawMessage("{}"),
		Input: noItems(), Output: noItems(),
	}
	if node.Parameters.End > node.Parameters.Start {
		a.Parameters = fitting(body, node.Parameters.Start, parameterTokens, func(c *cutter) { c.value(1, false) })
		if !json.Valid(a.Parameters) {
			return Answer{}, &SyntaxError{node.Parameters.Start, "parameters are not valid"}
		}
	}
	if node.Runs == 0 {
		return x.neverRan(a, req), nil
	}
	number, err := node.choose(req.RunIndex)
	if err != nil {
		return Answer{}, err
	}
	run, err := node.run(body, number)
	if err != nil {
		return Answer{}, err
	}
	a.describe(node, run, number)
	v := view{index: x, body: body, node: node, run: run, req: req, limit: limit, answer: &a}
	if err := v.fill(); err != nil {
		return Answer{}, err
	}
	a.Guidance = v.guide()
	return Answer{gateway.Textf("Execution details of node '%s' retrieved", node.Name), a}, nil
}

func noItems() shownItems { return shownItems{Items: []json.RawMessage{}} }

// limit checks the numbers of the request and returns the length of the page.
func (r *NodeRequest) limit() (int, error) {
	if r.ItemOffset != nil && *r.ItemOffset < 0 {
		return 0, invalid("itemOffset", gateway.Textf("itemOffset is %d; it counts from 0", *r.ItemOffset))
	}
	if r.ItemLimit < 0 {
		return 0, invalid("itemLimit", gateway.Textf("itemLimit is %d; give 1 to %d", r.ItemLimit, MaxItems))
	}
	if r.ItemLimit == 0 {
		return MaxItems, nil
	}
	return min(r.ItemLimit, MaxItems), nil
}

// choose returns the run that is asked for: the first failed one unless it is named,
// else the last.
func (n *NodeIndex) choose(asked *int) (int, error) {
	switch {
	case asked != nil && (*asked < 0 || *asked >= n.Runs):
		return 0, invalid("runIndex", gateway.Textf("node '%s' has no run %d; its runs are 0 to %d", n.Name, *asked, n.Runs-1))
	case asked != nil:
		return *asked, nil
	case len(n.Failed) > 0:
		return n.Failed[0], nil
	default:
		return n.Runs - 1, nil
	}
}

// unknown suggests the right name of a node.
func (x *Index) unknown(name string) *Error {
	context := Context{Operation: byNode, ResourceType: "Node", ResourceID: cut(name, 200)}
	for i := range x.Nodes {
		if right := x.Nodes[i].Name; alike(right, name) {
			return &Error{"NotFoundError", gateway.Textf("Node '%s' not found in execution '%s'. Did you mean '%s'?", cut(name, 200), x.ID, cut(right, 200)), context}
		}
	}
	context.AvailableNodes = names(x.executed())
	return &Error{"NotFoundError", gateway.Textf("Node '%s' not found in execution '%s'", cut(name, 200), x.ID), context}
}

// alike reports whether two names differ in case and spaces only.
func alike(a, b string) bool {
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return strings.EqualFold(plain(a), plain(b))
}

func names(nodes []NodeIndex) []string {
	out := []string{}
	for i := range nodes[:min(len(nodes), shownNodes)] {
		out = append(out, cut(nodes[i].Name, 100))
	}
	return out
}

// neverRan completes the answer about a node of the workflow that did not run.
func (x *Index) neverRan(a nodeAnswer, req NodeRequest) Answer {
	executed := x.executed()
	a.ExecutedNodes = names(executed)
	next := call{tool: "get_execution", id: x.ID}
	if len(executed) > 0 {
		next = call{tool: "get_execution_by_node", id: x.ID, node: executed[len(executed)-1].Name}
	}
	why := gateway.Textf("The node is in the workflow and did not run in this execution. executedNodes lists the nodes that did.")
	if !x.Finished() {
		why = gateway.Textf("n8n has no data of the node yet: the execution has not finished. executedNodes lists the nodes that ran.")
	}
	a.Guidance = guidance{why.In(req.Translate), next.String()}
	return Answer{gateway.Textf("Node '%s' did not run in this execution", a.NodeName), a}
}

func (a *nodeAnswer) describe(node *NodeIndex, run *Run, number int) {
	a.RunIndex, a.ExecutionTime, a.SubExecution = number, run.ExecutionTime, run.SubExecution
	if node.Runs > 1 {
		a.FailedRuns = node.Failed
	}
	if run.StartTime > 0 {
		a.StartTime, a.EndTime = iso(run.StartTime), iso(run.StartTime+run.ExecutionTime)
	}
	switch a.Status = run.Status; {
	case run.failed():
		a.Status = "error"
	case a.Status == "":
		a.Status = "success"
	}
	if run.Error != nil {
		shown := run.Error.shown(maxMessage)
		a.Error = &shown
	} else if run.failed() && node.Failure != nil {
		shown := node.Failure.shown(maxMessage)
		a.Error = &shown
	}
}

func iso(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format("2006-01-02T15:04:05.000Z")
}

// view is one look at a run.
type view struct {
	index  *Index
	body   io.ReaderAt
	node   *NodeIndex
	run    *Run
	req    NodeRequest
	limit  int
	answer *nodeAnswer

	output *Output // that is shown
	input  *input
}

// fill reads the items of the answer.
func (v *view) fill() error {
	inputs, err := v.findInputs()
	if err != nil {
		return err
	}
	if err := v.chooseOutput(); err != nil {
		return err
	}
	rest := nodeTokens - estimate(*v.answer)
	hasOutput := v.output != nil && v.output.Items > 0
	v.chooseInput(inputs)
	if v.input != nil && hasOutput && v.req.ItemOffset != nil && *v.req.ItemOffset > 0 {
		// A later page of the output does not show the input again.
		v.answer.Input.Total, v.answer.Input.From = v.input.output.Items, v.shownSource(*v.input)
	} else if v.input != nil {
		budget := rest
		if hasOutput {
			budget = rest / 3
		}
		used, err := v.show(&v.answer.Input, v.input.output, v.inputOffset(hasOutput), v.limit, budget)
		if err != nil {
			return err
		}
		rest -= used
		v.answer.Input.From = v.shownSource(*v.input)
		if hasOutput {
			v.answer.Input.Next = nil // itemOffset counts in the output
		}
	}
	if !hasOutput {
		return nil
	}
	offset := 0
	if v.req.ItemOffset != nil {
		offset = *v.req.ItemOffset
	}
	_, err = v.show(&v.answer.Output, v.output, offset, v.limit, rest)
	return err
}

// show reads a page into the answer and returns its tokens.
func (v *view) show(into *shownItems, output *Output, offset, limit, budget int) (int, error) {
	p, err := output.page(v.body, offset, limit, max(budget, 100))
	if err != nil {
		return 0, err
	}
	into.Items, into.Offset, into.Total, into.Cut = p.items, offset, output.Items, p.cut
	if p.next < output.Items {
		into.Next = &p.next
	}
	return p.tokens, nil
}

func (v *view) findInputs() ([]input, error) {
	if len(v.run.Inputs) == 0 {
		return v.index.inputs(v.body, v.node, v.run.Sources)
	}
	var inputs []input
	for i := range v.run.Inputs {
		inputs = append(inputs, input{Source{Null: true}, &v.run.Inputs[i]})
	}
	return inputs, nil
}

// chooseInput takes the first input that has items, and lists all if there are several.
func (v *view) chooseInput(inputs []input) {
	for i := range inputs {
		if out := inputs[i].output; out != nil && out.Items > 0 && v.input == nil {
			v.input = &inputs[i]
		}
	}
	if len(inputs) < 2 {
		return
	}
	for _, in := range inputs[:min(len(inputs), shownNodes)] {
		v.answer.Inputs = append(v.answer.Inputs, v.shownSource(in))
	}
}

func (v *view) shownSource(in input) *shownSource {
	if in.from.Null {
		return nil
	}
	s := &shownSource{cut(in.from.Node, 200), in.from.Output, in.from.Run, nil}
	if in.output != nil {
		s.Total = &in.output.Items
	}
	return s
}

// inputOffset is where the page of the input begins.
func (v *view) inputOffset(hasOutput bool) int {
	switch {
	case !hasOutput && v.req.ItemOffset != nil:
		return *v.req.ItemOffset
	case v.run.Error != nil && v.run.Error.HasItem && v.run.Error.Item < v.input.output.Items:
		return v.run.Error.Item
	}
	return 0
}

// chooseOutput takes the output that is asked for, else the first that has items.
func (v *view) chooseOutput() error {
	outputs := v.run.Outputs
	v.answer.HiddenErrors = v.run.hidden(v.node)
	for i, out := range outputs {
		if len(outputs) > 1 && i < shownNodes || out.Type != "main" {
			v.answer.Outputs = append(v.answer.Outputs, shownOutput{cut(out.Type, 50), out.Index, out.Items})
		}
		if v.output == nil && out.Items > 0 {
			v.output = &outputs[i]
		}
	}
	if v.req.OutputIndex == nil {
		return nil
	}
	kind := v.req.OutputType
	if kind == "" {
		kind = "main"
		if len(outputs) > 0 && v.run.output(kind, 0) == nil {
			kind = outputs[0].Type
		}
	}
	v.output = v.run.output(kind, *v.req.OutputIndex)
	if v.output != nil {
		return nil
	}
	if len(outputs) == 0 {
		return invalid("outputIndex", gateway.Textf("run %d of node '%s' has no output", v.answer.RunIndex, v.node.Name))
	}
	return invalid("outputIndex", gateway.Textf("run %d of node '%s' has no output %d of type %s; it has %d outputs, counted from 0", v.answer.RunIndex, v.node.Name, *v.req.OutputIndex, kind, len(outputs)))
}

// hidden counts the hidden failures of a run of a node.
func (r *Run) hidden(node *NodeIndex) int64 {
	one := NodeIndex{OnError: node.OnError, Inherited: node.Inherited}
	one.add(r, false)
	count, _ := one.hidden()
	return count
}

// guide names the next call.
func (v *view) guide() guidance {
	a := v.answer
	say := func(t gateway.Text) string { return t.In(v.req.Translate) }
	next := call{tool: "get_execution_by_node", id: a.ExecutionID, node: a.NodeName}
	if v.req.RunIndex != nil || a.RunIndex != v.node.Runs-1 {
		next.always("runIndex", a.RunIndex)
	}
	switch {
	case a.Output.Next != nil:
		if v.req.OutputIndex != nil {
			next.always("outputIndex", *v.req.OutputIndex)
		}
		next.always("itemOffset", *a.Output.Next)
		return guidance{say(gateway.Textf("%d of %d items are shown. The example gets the next.", len(a.Output.Items), a.Output.Total)), next.String()}
	case a.Input.Next != nil:
		next.always("itemOffset", *a.Input.Next)
		return guidance{say(gateway.Textf("%d of %d input items are shown. The example gets the next.", len(a.Input.Items), a.Input.Total)), next.String()}
	case a.Output.Cut || a.Input.Cut:
		return guidance{say(gateway.Textf("An item is too long for an answer and is shown in part. get_execution with raw: true has all data.")), "get_execution(id: '" + quoted(a.ExecutionID) + "', raw: true)"}
	}
	for _, out := range v.run.Outputs {
		if v.output != nil && v.req.OutputIndex == nil && out.Items > 0 && (out.Index != v.output.Index || out.Type != v.output.Type) {
			next.always("outputIndex", out.Index)
			return guidance{say(gateway.Textf("This is output %d. The example gets another output that has items.", v.output.Index)), next.String()}
		}
	}
	if a.SubExecution != nil && a.SubExecution.ExecutionID != "" {
		return guidance{say(gateway.Textf("The node ran another workflow. The example gets that execution.")), call{tool: "get_execution", id: a.SubExecution.ExecutionID}.String()}
	}
	fromOffset := a.Output.Offset > 0 || a.Input.Offset > 0
	if a.Input.From != nil {
		from := call{tool: "get_execution_by_node", id: a.ExecutionID, node: a.Input.From.NodeName}
		from.always("runIndex", a.Input.From.RunIndex)
		from.add("outputIndex", a.Input.From.OutputIndex)
		if fromOffset {
			return guidance{say(gateway.Textf("There are no more items in this run. The example gets the node that its input comes from.")), from.String()}
		}
		return guidance{say(gateway.Textf("These are all items of this run. The example gets the node that its input comes from.")), from.String()}
	}
	if fromOffset {
		return guidance{say(gateway.Textf("There are no more items in this run. The example gets the summary of the execution.")), call{tool: "get_execution", id: a.ExecutionID}.String()}
	}
	return guidance{say(gateway.Textf("These are all items of this run. The example gets the summary of the execution.")), call{tool: "get_execution", id: a.ExecutionID}.String()}
}
