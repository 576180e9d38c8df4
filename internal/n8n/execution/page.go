package execution

import (
	"encoding/json"
	"errors"
	"io"
	"sort"
)

const (
	// small is the buffer of a reader that reads a page.
	small = 16 << 10
	// farthest is how much of one item is read to show a part of it.
	farthest = 1 << 20
	// causeTokens is what the failed item may have in a summary.
	causeTokens = 45
)

// run reads a run of a node. Large ones are in the index; others are found from the
// mark before them.
func (n *NodeIndex) run(body io.ReaderAt, number int) (*Run, error) {
	for i := range n.Large {
		if n.Large[i].Number == number {
			return &n.Large[i].Run, nil
		}
	}
	mark, ok := before(n.Marks, number)
	if !ok || number >= n.Runs {
		return nil, errors.New("the execution has no such run")
	}
	r := readerAt(body, mark.Offset)
	for at := mark.Number; ; at++ {
		run := r.run()
		if r.err == nil && at < number && !r.more(']', 1) && r.err == nil {
			r.fail("a run was expected")
		}
		if r.err != nil {
			return nil, r.err
		}
		if at == number {
			return &run, nil
		}
	}
}

// before returns the last mark that is not after a number.
func before(marks []Mark, number int) (Mark, bool) {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].Number > number })
	if i == 0 {
		return Mark{}, false
	}
	return marks[i-1], true
}

// page is a part of an output's items.
type page struct {
	items []json.RawMessage
	// next is the number of the first item after the page.
	next int
	// cut is set when the only item was too long and is shown in part.
	cut    bool
	tokens int
}

// find returns the offset of an item.
func (o *Output) find(body io.ReaderAt, item int) (int64, error) {
	mark, ok := before(o.Marks, item)
	if !ok {
		return 0, errors.New("the output has no such item")
	}
	r := readerAt(body, mark.Offset)
	for range item - mark.Number {
		r.skip()
		r.more(']', 1)
	}
	r.next()
	return r.offset(), r.err
}

// page reads up to limit items from offset on that have no more tokens than budget
// together. The first is always in it, cut if it must be.
func (o *Output) page(body io.ReaderAt, offset, limit, budget int) (page, error) {
	p := page{items: []json.RawMessage{}, next: offset}
	if offset >= o.Items || limit <= 0 {
		return p, nil
	}
	first, err := o.find(body, offset)
	if err != nil {
		return p, err
	}
	r := readerAt(body, first)
	for len(p.items) < limit && p.next < o.Items && r.err == nil {
		r.next()
		start := r.offset()
		c := cutter{reader: r, limit: 6*budget + 256, text: 6 * budget, list: 10_000}
		r.stop = start + farthest
		c.item()
		cost := size(c.out) + 1
		if c.shortened || p.tokens+cost > budget {
			if len(p.items) > 0 {
				return p, nil
			}
			p.cut = true
			c.out = fitting(body, start, budget, (*cutter).item)
			cost = size(c.out)
		}
		if !json.Valid(c.out) {
			return p, &SyntaxError{start, "an item is not valid"}
		}
		p.items = append(p.items, c.out)
		p.tokens += cost
		p.next++
		if p.cut {
			return p, nil
		}
		r.stop = 0
		if p.next < o.Items {
			r.more(']', 1)
		}
	}
	if r.err != nil && !errors.Is(r.err, errFarEnough) {
		return p, r.err
	}
	return p, nil
}

// fitting copies a value with shorter and shorter texts and lists until it fits.
func fitting(body io.ReaderAt, start int64, budget int, copyValue func(*cutter)) []byte {
	var out []byte
	for _, try := range []struct{ text, list int }{
		{100_000, 10_000}, {2_000, 50}, {500, 10}, {120, 5}, {40, 2},
	} {
		r := readerAt(body, start)
		r.stop = start + farthest
		c := cutter{reader: r, limit: 8*budget + 64, text: try.text, list: try.list}
		copyValue(&c)
		if out = c.out; !c.stopped && size(out) <= budget {
			return out
		}
	}
	for limit := 3 * budget; limit > 16 && size(out) > budget; limit = limit * 3 / 4 {
		r := readerAt(body, start)
		r.stop = start + farthest
		c := cutter{reader: r, limit: limit, text: 40, list: 2}
		copyValue(&c)
		out = c.out
	}
	return out
}

// Complete reads the input item that the execution failed with, for Summary.
func (x *Index) Complete(body io.ReaderAt) error {
	cause := x.RootCause
	if cause == nil || cause.Node == "" {
		return nil
	}
	node := x.node(cause.Node)
	if node == nil || node.FailedRuns == 0 {
		return nil
	}
	inputs, err := x.inputs(body, node, node.Sources)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		if in.output == nil || in.output.Items <= cause.Failure.Item {
			continue
		}
		start, err := in.output.find(body, cause.Failure.Item)
		if err != nil {
			return err
		}
		cause.Item = fitting(body, start, causeTokens, (*cutter).brief)
		if !json.Valid(cause.Item) {
			return &SyntaxError{start, "an item is not valid"}
		}
		return nil
	}
	return nil
}

// input is one input of a run: an output of another run, or an entry of
// nodeExecutionStack if from is null.
type input struct {
	from   Source
	output *Output
}

// inputs finds the inputs of a run through its sources.
func (x *Index) inputs(body io.ReaderAt, node *NodeIndex, sources []Source) ([]input, error) {
	var inputs []input
	found := false
	for _, from := range sources {
		in := input{from: from}
		if previous := x.node(from.Node); !from.Null && previous != nil && from.Run < previous.Runs {
			run, err := previous.run(body, from.Run)
			if err != nil {
				return nil, err
			}
			in.output = run.output("main", from.Output)
			found = found || in.output != nil
		}
		inputs = append(inputs, in)
	}
	if found {
		return inputs, nil
	}
	for i := range x.Waiting {
		if x.Waiting[i].Node != node.Name {
			continue
		}
		for k := range x.Waiting[i].Inputs {
			in := input{output: &x.Waiting[i].Inputs[k], from: Source{Null: true}}
			if k < len(sources) {
				in.from = sources[k]
			}
			if k < len(inputs) {
				inputs[k] = in
			} else {
				inputs = append(inputs, in)
			}
		}
		break
	}
	return inputs, nil
}

// output returns an output of a run, or nil.
func (r *Run) output(kind string, index int) *Output {
	for i := range r.Outputs {
		if r.Outputs[i].Type == kind && r.Outputs[i].Index == index {
			return &r.Outputs[i]
		}
	}
	return nil
}
