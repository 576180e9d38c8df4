// Package execution reads executions of n8n piece by piece.
//
// The body of GET /executions/{id}?includeData=true may have hundreds of megabytes.
// [Scan] reads it once as a stream and returns an [Index] of some kilobytes: the
// facts of the execution, its nodes, and where runs and items stand in the body.
// [Summary] answers get_execution from the index alone. [Node] answers
// get_execution_by_node from the index and a stored copy of the body, of which it
// reads only the part that it shows.
//
// Answers never have resume tokens, stacks, requests of failed calls or the values
// of well-known credential fields.
package execution

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
)

// format is the version of the encoded index.
const format = 1

// Index describes an execution. It is not safe for changes by several goroutines.
type Index struct {
	ID, WorkflowID, WorkflowName   string
	Status, Mode                   string
	StartedAt, StoppedAt, WaitTill string
	RetryOf, RetrySuccessID        string
	LastNode                       string
	Error                          *Failure
	Size                           int64
	HasData, TooLarge              bool
	TotalNodes                     int
	Nodes                          []NodeIndex
	Waiting                        []Waiting
	RootCause                      *RootCause
}

// NodeIndex describes a node of the workflow, or one that ran.
type NodeIndex struct {
	Name, Type string
	// Parameters is where the parameters stand in the body.
	Parameters Span
	OnError    string
	InWorkflow bool

	Runs int
	// Start and Order are the start time and the execution index of the first run. In
	// a retry the execution index begins again.
	Start, Order int64
	// Status is that of the last run.
	Status string
	Items  int64
	// Failed has the first failed runs, FailedRuns counts all.
	Failed     []int
	FailedRuns int
	Failure    *Failure
	Sources    []Source
	// Errors counts items with an error in runs that succeeded. Tail counts items of
	// the last of several main outputs, TailErrors those with an error. Whether they
	// are failures depends on OnError.
	Errors, Tail, TailErrors int64
	FirstError, FirstTail    *Located
	// From are nodes that the inputs come from. Inherited is set if one of them has the
	// same errors.
	From      []string
	Inherited bool

	// Marks are offsets of runs, one in every markEvery bytes.
	Marks []Mark
	// Large are the runs of more than largeRun bytes.
	Large []LargeRun
}

// Span is a part of the body.
type Span struct{ Start, End int64 }

// Mark is the offset of the run or the item with a number.
type Mark struct {
	Number int
	Offset int64
}

// LargeRun is a run that is kept because reading it again takes time.
type LargeRun struct {
	Number int
	Run    Run
}

// Run is one run of a node.
type Run struct {
	StartTime, ExecutionTime int64 // milliseconds
	Order                    int64
	Status                   string
	Sources                  []Source
	Error                    *Failure
	SubExecution             *SubExecution
	Outputs                  []Output
	// Inputs are in the run itself if an AI node called the node.
	Inputs []Output
}

// Source is where an input of a run comes from. Null is set for an input without data.
type Source struct {
	Node        string
	Output, Run int
	Null        bool
}

// SubExecution is the execution of another workflow that a run started.
type SubExecution struct {
	ExecutionID string `json:"executionId"`
	WorkflowID  string `json:"workflowId,omitempty"`
}

// Output is one output of a run.
type Output struct {
	Type   string
	Index  int
	Items  int
	Binary int
	// Errors counts items with an error. FirstError is the first of them.
	Errors, FirstError int
	ErrorText          string
	Marks              []Mark
}

// Located says where the first hidden failure of a node is.
type Located struct {
	Run, Output, Item int
	Message           string
}

// Waiting is an entry of nodeExecutionStack: a node with the inputs it got or would
// get next.
type Waiting struct {
	Node   string
	Inputs []Output
}

// RootCause is the failure that ended the execution. Item is the input that failed,
// cut; it is empty until Index.Complete.
type RootCause struct {
	Node    string
	Failure Failure
	Item    []byte
}

// node returns the node with a name, or nil.
func (x *Index) node(name string) *NodeIndex {
	for i := range x.Nodes {
		if x.Nodes[i].Name == name {
			return &x.Nodes[i]
		}
	}
	return nil
}

// Finished reports whether the execution has a final status, so that its data does not
// change any more.
func (x *Index) Finished() bool {
	switch x.Status {
	case "success", "error", "canceled", "crashed":
		return true
	}
	return false
}

// MarshalBinary encodes the index.
func (x *Index) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte(format)
	type plain Index // without methods
	if err := gob.NewEncoder(&b).Encode((*plain)(x)); err != nil {
		return nil, fmt.Errorf("encoding the index of an execution: %w", err)
	}
	return b.Bytes(), nil
}

// UnmarshalBinary decodes an index that MarshalBinary encoded.
func (x *Index) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] != format {
		return errors.New("the index of the execution has another format")
	}
	type plain Index
	var decoded plain
	if err := gob.NewDecoder(bytes.NewReader(data[1:])).Decode(&decoded); err != nil {
		return fmt.Errorf("decoding the index of an execution: %w", err)
	}
	*x = Index(decoded)
	return nil
}
