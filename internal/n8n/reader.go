package n8n

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"genkan/internal/gateway"
	read "genkan/internal/n8n/execution"
)

// Reader reads executions. It copies each to a file and keeps finished ones for a
// while: they do not change, and an agent asks for one node after the other.
type Reader struct {
	// Dir is where the copies are; empty is the system's folder for temporary files.
	Dir string

	mu   sync.Mutex
	kept map[string]*copied
}

const (
	// keptCopies and keptBytes bound what is kept, and keptFor is how long it is kept
	// after it was last used.
	keptCopies = 16
	keptBytes  = 1 << 30
	keptFor    = 10 * time.Minute
	// maxRaw bounds an execution that is answered whole.
	maxRaw = 8 << 20
)

// copied is a copy of an execution with its index.
type copied struct {
	index *read.Index
	file  *os.File
	used  time.Time
	users int
	gone  bool // it is closed when nobody uses it
}

// Summary answers get_execution.
func (r *Reader) Summary(ctx context.Context, from Executions, q ExecutionQuery) (ExecutionAnswer, error) {
	c, release, err := r.open(ctx, from, q.ID)
	if err != nil {
		return ExecutionAnswer{}, err
	}
	defer release()
	if q.Raw {
		return whole(c)
	}
	a := read.Summary(c.index, read.SummaryRequest{NodeOffset: q.NodeOffset, Translate: q.Translate})
	return ExecutionAnswer(a), nil
}

// Node answers get_execution_by_node.
func (r *Reader) Node(ctx context.Context, from Executions, q ExecutionQuery) (ExecutionAnswer, error) {
	c, release, err := r.open(ctx, from, q.ID)
	if err != nil {
		return ExecutionAnswer{}, err
	}
	defer release()
	req := read.NodeRequest{
		NodeName: q.NodeName, RunIndex: q.RunIndex, OutputIndex: q.OutputIndex, OutputType: q.OutputType,
		ItemOffset: q.ItemOffset, Translate: q.Translate,
	}
	if q.ItemLimit != nil {
		req.ItemLimit = *q.ItemLimit
	}
	a, err := read.Node(c.index, c.file, req)
	return ExecutionAnswer(a), readingFailed(q.ID, err)
}

// whole returns an execution without its secrets.
func whole(c *copied) (ExecutionAnswer, error) {
	if c.index.Size > maxRaw {
		return ExecutionAnswer{}, &Error{
			Name: nameValidation, Field: "raw",
			Problem: gateway.Textf("execution %s has %d MB, too much to answer whole; get_execution without raw sums it up, and get_execution_by_node reads it node by node", c.index.ID, c.index.Size>>20),
		}
	}
	var out bytes.Buffer
	if err := read.Strip(&out, io.NewSectionReader(c.file, 0, c.index.Size)); err != nil {
		return ExecutionAnswer{}, readingFailed(c.index.ID, err)
	}
	return ExecutionAnswer{Data: json.RawMessage(out.Bytes())}, nil
}

// open returns an execution: a copy if it is still as it was, else a new one.
func (r *Reader) open(ctx context.Context, from Executions, id string) (*copied, func(), error) {
	if c := r.take(id); c != nil {
		same, err := unchanged(ctx, from, c.index)
		if err == nil && same {
			return c, func() { r.release(c) }, nil
		}
		r.forget(id, c)
		r.release(c)
		if err != nil {
			return nil, nil, err
		}
	}
	c, err := r.copy(ctx, from, id)
	if err != nil {
		return nil, nil, err
	}
	r.keep(id, c)
	return c, func() { r.release(c) }, nil
}

// unchanged asks n8n whether an execution is still there and as it was.
func unchanged(ctx context.Context, from Executions, x *read.Index) (bool, error) {
	body, err := from.OpenExecution(ctx, x.ID, false)
	if err != nil {
		return false, err
	}
	defer body.Close()
	var now struct {
		Status    string `json:"status"`
		StoppedAt string `json:"stoppedAt"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxRaw)).Decode(&now); err != nil {
		return false, nil //nolint:nilerr // it is read anew
	}
	return now.Status == x.Status && now.StoppedAt == x.StoppedAt, nil
}

// copy reads an execution into a file.
func (r *Reader) copy(ctx context.Context, from Executions, id string) (*copied, error) {
	body, err := from.OpenExecution(ctx, id, true)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	file, err := os.CreateTemp(r.Dir, "genkan-execution-*")
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInternal, Message: "there is no place to read the execution into; check that the disk is not full", Err: err}
	}
	_ = os.Remove(file.Name()) // where an open file can be removed, nothing is left even by a crash
	c := &copied{file: file, users: 1}
	c.index, err = read.Scan(io.TeeReader(body, file))
	if err == nil {
		err = c.index.Complete(file)
	}
	if err != nil {
		c.close()
		return nil, readingFailed(id, err)
	}
	return c, nil
}

func (c *copied) close() {
	_ = c.file.Close()
	_ = os.Remove(c.file.Name()) // where it could not be removed before
}

// take returns a kept copy, to be released.
func (r *Reader) take(id string) *copied {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(time.Now())
	c := r.kept[id]
	if c != nil {
		c.users++
		c.used = time.Now()
	}
	return c
}

func (r *Reader) release(c *copied) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.users--; c.users == 0 && c.gone {
		c.close()
	}
}

// keep keeps the copy of a finished execution. Others are closed when they are released.
func (r *Reader) keep(id string, c *copied) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !c.index.Finished() || c.index.Size > keptBytes {
		c.gone = true
		return
	}
	if old := r.kept[id]; old != nil {
		r.drop(id, old)
	}
	if r.kept == nil {
		r.kept = map[string]*copied{}
	}
	c.used = time.Now()
	r.kept[id] = c
	for {
		total, oldest := int64(0), ""
		for id, one := range r.kept {
			total += one.index.Size
			if oldest == "" || one.used.Before(r.kept[oldest].used) {
				oldest = id
			}
		}
		if len(r.kept) <= keptCopies && total <= keptBytes {
			return
		}
		r.drop(oldest, r.kept[oldest])
	}
}

func (r *Reader) forget(id string, c *copied) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[id] == c {
		r.drop(id, c)
	}
}

// expire drops what was not used for long. Called with mu held, as drop is.
func (r *Reader) expire(now time.Time) {
	for id, c := range r.kept {
		if now.Sub(c.used) > keptFor {
			r.drop(id, c)
		}
	}
}

func (r *Reader) drop(id string, c *copied) {
	delete(r.kept, id)
	if c.gone = true; c.users == 0 {
		c.close()
	}
}

// Close drops all copies.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, c := range r.kept {
		r.drop(id, c)
	}
}

// readingFailed returns the error of an answer for one of package execution.
func readingFailed(id string, err error) error {
	var e *read.Error
	if errors.As(err, &e) {
		return &Error{
			Name: e.Name, Operation: e.Context.Operation, ResourceType: e.Context.ResourceType, ResourceID: e.Context.ResourceID,
			Problem: e.Message, Field: e.Context.Field, AvailableNodes: e.Context.AvailableNodes,
		}
	}
	var syntax *read.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{
			Name: nameAPI, Operation: "get execution", ResourceType: "Execution", ResourceID: id, Err: err,
			Details: []gateway.Text{gateway.Textf("n8n's answer ended early or is no JSON; try again, and look at n8n's log if it stays so")},
		}
	}
	return err
}
