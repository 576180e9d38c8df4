package execution

import (
	"cmp"
	"io"
	"slices"
)

const (
	// markEvery is how many bytes of runs or items are between two marks.
	markEvery = 32 << 10
	// largeRun is the size of a run that the index keeps, because reading it again
	// takes time.
	largeRun = 256 << 10
	// The index keeps no more than these, whatever the body has.
	maxNodes, maxOutputs, maxSources, maxWaiting, maxFailed, maxFrom = 10_000, 64, 64, 20, 16, 8

	stickyNote = "n8n-nodes-base.stickyNote"
)

// Scan reads the body of GET /executions/{id}?includeData=true and returns its index.
// It needs the memory of one window and of the index. The keys may come in any order.
// An error is the reader's own, a *SyntaxError, or wraps io.ErrUnexpectedEOF.
//
// Call [Index.Complete] afterwards if the body is stored.
func Scan(body io.Reader) (*Index, error) {
	s := &scan{reader: newReader(body), index: &Index{}, numbers: map[string]int{}}
	s.execution()
	if s.err == nil {
		s.rest()
	}
	if s.err != nil {
		return nil, s.err
	}
	s.index.Size = s.offset()
	s.finish()
	return s.index, nil
}

// scan is one pass over a body.
type scan struct {
	*reader
	index *Index
	// numbers are the places of nodes in the index by name.
	numbers map[string]int
}

// rest checks that nothing follows the execution.
func (r *reader) rest() {
	for r.pos < r.end || r.fill() {
		switch r.buf[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			r.fail("there is more after the end of the execution")
			return
		}
	}
}

func (s *scan) execution() {
	if !s.enter('{') {
		s.fail("an execution is an object")
		return
	}
	x := s.index
	for n := 0; s.more('}', n); n++ {
		switch string(s.key()) {
		case "id":
			x.ID = s.text(100)
		case "workflowId":
			x.WorkflowID = s.text(100)
		case "status":
			x.Status = s.text(30)
		case "mode":
			x.Mode = s.text(30)
		case "startedAt":
			x.StartedAt = s.text(40)
		case "stoppedAt":
			x.StoppedAt = s.text(40)
		case "waitTill":
			x.WaitTill = s.text(40)
		case "retryOf":
			x.RetryOf = s.text(100)
		case "retrySuccessId":
			x.RetrySuccessID = s.text(100)
		case "dataTooLargeToDisplay":
			s.tooLarge()
		case "data":
			s.data()
		case "workflowData":
			s.workflow()
		default:
			s.skip()
		}
	}
}

func (s *scan) tooLarge() {
	if s.text(5) == "true" {
		s.index.TooLarge = true
	}
}

// data reads the results of the execution.
func (s *scan) data() {
	if !s.enter('{') {
		s.skip()
		return
	}
	s.index.HasData = true
	for n := 0; s.more('}', n); n++ {
		switch string(s.key()) {
		case "resultData":
			s.results()
		case "executionData":
			s.pending()
		case "dataTooLargeToDisplay":
			s.tooLarge()
		default:
			s.skip()
		}
	}
}

func (s *scan) results() {
	if !s.enter('{') {
		s.skip()
		return
	}
	for n := 0; s.more('}', n); n++ {
		switch string(s.key()) {
		case "error":
			s.index.Error = s.failure()
		case "lastNodeExecuted":
			s.index.LastNode = s.text(maxKey)
		case "dataTooLargeToDisplay":
			s.tooLarge()
		case "runData":
			s.runData()
		default:
			s.skip()
		}
	}
}

// node returns the place of a node in the index, or -1 if there are too many.
func (s *scan) node(name string) int {
	at, ok := s.numbers[name]
	if !ok {
		if at = len(s.index.Nodes); at >= maxNodes {
			return -1
		}
		s.numbers[name] = at
		s.index.Nodes = append(s.index.Nodes, NodeIndex{Name: name})
	}
	return at
}

func (s *scan) runData() {
	if !s.enter('{') {
		s.skip()
		return
	}
	for n := 0; s.more('}', n); n++ {
		at := s.node(string(s.key()))
		if at < 0 || !s.enter('[') {
			s.skip()
			continue
		}
		node := &s.index.Nodes[at]
		marked := int64(-markEvery)
		for n := 0; s.more(']', n); n++ {
			s.next()
			start := s.offset()
			if start-marked >= markEvery {
				node.Marks = append(node.Marks, Mark{node.Runs, start})
				marked = start
			}
			run := s.run()
			node.add(&run, s.offset()-start > largeRun)
		}
	}
}

// add counts a run.
func (n *NodeIndex) add(run *Run, large bool) {
	number := n.Runs
	n.Runs++
	n.Status = run.Status
	if number == 0 {
		n.Start, n.Order = run.StartTime, run.Order
	}
	if large {
		n.Large = append(n.Large, LargeRun{number, *run})
	}
	failed := run.failed()
	if failed {
		n.FailedRuns++
		if len(n.Failed) < maxFailed {
			n.Failed = append(n.Failed, number)
		}
		if n.FailedRuns == 1 {
			n.Failure, n.Sources = run.Error, run.Sources
		}
	}
	for _, from := range run.Sources {
		if !from.Null && len(n.From) < maxFrom && !slices.Contains(n.From, from.Node) {
			n.From = append(n.From, from.Node)
		}
	}
	last := -1
	for i, out := range run.Outputs {
		n.Items += int64(out.Items)
		if out.Type == "main" {
			last = i
		}
	}
	if failed {
		return
	}
	for i, out := range run.Outputs {
		n.Errors += int64(out.Errors)
		if out.Errors > 0 && n.FirstError == nil {
			n.FirstError = &Located{number, out.Index, out.FirstError, out.ErrorText}
		}
		if i == last && out.Index > 0 {
			n.Tail += int64(out.Items)
			n.TailErrors += int64(out.Errors)
			if out.Items > 0 && n.FirstTail == nil {
				n.FirstTail = &Located{number, out.Index, 0, out.ErrorText}
			}
		}
	}
}

func (r *Run) failed() bool {
	return r.Error != nil || r.Status == "error" || r.Status == "crashed"
}

// run reads one run of a node. A value that is no run is an empty one.
func (r *reader) run() (run Run) {
	run.Order = -1
	if !r.enter('{') {
		r.skip()
		return run
	}
	for n := 0; r.more('}', n); n++ {
		switch string(r.key()) {
		case "startTime":
			run.StartTime = r.number()
		case "executionTime":
			run.ExecutionTime = r.number()
		case "executionIndex":
			run.Order = r.number()
		case "executionStatus":
			run.Status = r.text(30)
		case "source":
			run.Sources = r.sources()
		case "error":
			run.Error = r.failure()
		case "metadata":
			run.SubExecution = r.metadata()
		case "data":
			run.Outputs = r.connections()
		case "inputOverride": // of a node that an AI node called
			run.Inputs = r.connections()
		default:
			r.skip()
		}
	}
	return run
}

func (r *reader) metadata() (sub *SubExecution) {
	if !r.enter('{') {
		r.skip()
		return nil
	}
	for n := 0; r.more('}', n); n++ {
		if string(r.key()) != "subExecution" || !r.enter('{') {
			r.skip()
			continue
		}
		sub = &SubExecution{}
		for n := 0; r.more('}', n); n++ {
			switch string(r.key()) {
			case "executionId":
				sub.ExecutionID = r.text(100)
			case "workflowId":
				sub.WorkflowID = r.text(100)
			default:
				r.skip()
			}
		}
	}
	return sub
}

func (r *reader) sources() (sources []Source) {
	if !r.enter('[') {
		r.skip()
		return nil
	}
	for n := 0; r.more(']', n); n++ {
		source := Source{Null: true}
		if r.enter('{') {
			for n := 0; r.more('}', n); n++ {
				switch string(r.key()) {
				case "previousNode":
					source.Node = r.text(maxKey)
					source.Null = source.Node == ""
				case "previousNodeOutput":
					source.Output = r.index()
				case "previousNodeRun":
					source.Run = r.index()
				default:
					r.skip()
				}
			}
		} else {
			r.skip()
		}
		if len(sources) < maxSources {
			sources = append(sources, source)
		}
	}
	return sources
}

// connections reads items by type of connection and index: {"main": [[item, …], …]}.
func (r *reader) connections() (outputs []Output) {
	if !r.enter('{') {
		r.skip()
		return nil
	}
	for n := 0; r.more('}', n); n++ {
		kind := string(r.key())
		if !r.enter('[') {
			r.skip()
			continue
		}
		for i := 0; r.more(']', i); i++ {
			out := Output{Type: kind, Index: i}
			if r.enter('[') {
				r.items(&out)
			} else {
				r.skip() // null: the output has no data
			}
			if len(outputs) < maxOutputs {
				outputs = append(outputs, out)
			}
		}
	}
	return outputs
}

// items counts the items of an output and marks their offsets.
func (r *reader) items(out *Output) {
	marked := int64(-markEvery)
	for r.more(']', out.Items) {
		r.next()
		if start := r.offset(); start-marked >= markEvery {
			out.Marks = append(out.Marks, Mark{out.Items, start})
			marked = start
		}
		r.item(out)
		out.Items++
	}
}

// item reads one item: whether it has an error or binary data.
func (r *reader) item(out *Output) {
	if !r.enter('{') {
		r.skip()
		return
	}
	failed := false
	for n := 0; r.more('}', n); n++ {
		switch string(r.key()) {
		case "json":
			if !r.enter('{') {
				r.skip()
				continue
			}
			for n := 0; r.more('}', n); n++ {
				if string(r.key()) == "error" {
					failed = r.itemError(out) || failed
				} else {
					r.skip()
				}
			}
		case "error":
			failed = r.itemError(out) || failed
		case "binary":
			if c := r.next(); c == '{' {
				out.Binary++
			}
			r.skip()
		default:
			r.skip()
		}
	}
	if failed {
		if out.Errors == 0 {
			out.FirstError = out.Items
		}
		out.Errors++
	}
}

// itemError reads the error of an item and reports whether it is one: null, false, 0
// and empty texts and lists are none.
func (r *reader) itemError(out *Output) bool {
	switch c := r.next(); c {
	case '{':
		if out.ErrorText == "" {
			out.ErrorText = r.messageWithin()
		} else {
			r.skip()
		}
		return true
	case '[':
		r.enter('[')
		n := 0
		for ; r.more(']', n); n++ {
			r.skip()
		}
		return n > 0
	}
	switch text := r.text(maxMessage); text {
	case "", "false", "0":
		return false
	default:
		if out.ErrorText == "" {
			out.ErrorText = withoutStack(text)
		}
		return true
	}
}

// pending reads the nodes that were about to run, with their inputs.
func (s *scan) pending() {
	if !s.enter('{') {
		s.skip()
		return
	}
	for n := 0; s.more('}', n); n++ {
		if string(s.key()) != "nodeExecutionStack" || !s.enter('[') {
			s.skip()
			continue
		}
		for n := 0; s.more(']', n); n++ {
			if n >= maxWaiting || !s.enter('{') {
				s.skip()
				continue
			}
			var entry Waiting
			for n := 0; s.more('}', n); n++ {
				switch string(s.key()) {
				case "node":
					entry.Node = s.nameWithin()
				case "data":
					entry.Inputs = s.connections()
				default:
					s.skip()
				}
			}
			s.index.Waiting = append(s.index.Waiting, entry)
		}
	}
}

// workflow reads the workflow as it was when it ran.
func (s *scan) workflow() {
	if !s.enter('{') {
		s.skip()
		return
	}
	for n := 0; s.more('}', n); n++ {
		switch string(s.key()) {
		case "id":
			if id := s.text(100); s.index.WorkflowID == "" {
				s.index.WorkflowID = id
			}
		case "name":
			s.index.WorkflowName = s.text(maxKey)
		case "nodes":
			if !s.enter('[') {
				s.skip()
				continue
			}
			for n := 0; s.more(']', n); n++ {
				s.workflowNode()
			}
		default:
			s.skip()
		}
	}
}

func (s *scan) workflowNode() {
	if !s.enter('{') {
		s.skip()
		return
	}
	var node NodeIndex
	for n := 0; s.more('}', n); n++ {
		switch string(s.key()) {
		case "name":
			node.Name = s.text(maxKey)
		case "type":
			node.Type = s.text(300)
		case "onError":
			node.OnError = s.text(50)
		case "continueOnFail": // older versions of n8n
			if s.text(5) == "true" && node.OnError == "" {
				node.OnError = "continueRegularOutput"
			}
		case "parameters":
			s.next()
			node.Parameters.Start = s.offset()
			s.skip()
			node.Parameters.End = s.offset()
		default:
			s.skip()
		}
	}
	if node.Type == stickyNote || node.Name == "" {
		return
	}
	s.index.TotalNodes++
	if at := s.node(node.Name); at >= 0 {
		known := &s.index.Nodes[at]
		known.Type, known.OnError, known.Parameters, known.InWorkflow = node.Type, node.OnError, node.Parameters, true
	}
}

// finish sorts the nodes that ran by their order, before those that did not.
func (s *scan) finish() {
	slices.SortStableFunc(s.index.Nodes, func(a, b NodeIndex) int {
		switch {
		case (a.Runs > 0) != (b.Runs > 0):
			if a.Runs > 0 {
				return -1
			}
			return 1
		case a.Runs == 0:
			return 0
		default:
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Order, b.Order))
		}
	})
	s.index.RootCause = s.index.rootCause()
	for i := range s.index.Nodes {
		node := &s.index.Nodes[i]
		for _, name := range node.From {
			from := s.index.node(name)
			node.Inherited = node.Inherited || from != nil && from != node && node.FirstError != nil && from.FirstError != nil &&
				from.FirstError.Message == node.FirstError.Message && from.Errors >= node.Errors
		}
	}
}

// rootCause finds the failure that ended the execution, else the first one.
func (x *Index) rootCause() *RootCause {
	var failed *NodeIndex
	if x.Error != nil {
		failed = x.node(x.Error.node)
	}
	if last := x.node(x.LastNode); failed == nil && last != nil && last.FailedRuns > 0 {
		failed = last
	}
	for i := range x.Nodes {
		if failed == nil && x.Nodes[i].FailedRuns > 0 {
			failed = &x.Nodes[i]
		}
	}
	switch {
	case failed != nil && failed.Failure != nil:
		return &RootCause{Node: failed.Name, Failure: *failed.Failure}
	case failed != nil && x.Error != nil:
		return &RootCause{Node: failed.Name, Failure: *x.Error}
	case failed != nil:
		return &RootCause{Node: failed.Name}
	case x.Error != nil:
		return &RootCause{Node: x.LastNode, Failure: *x.Error}
	}
	return nil
}
