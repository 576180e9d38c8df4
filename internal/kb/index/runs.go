package index

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// runs holds the runs in the temporary file and the last one in memory.
type runs struct {
	dir, name string
	file      *os.File
	extents   [][2]int64
	last      *run
	opened    []*os.File
}

// temporary creates a file that is removed with the build. Where an open file can be
// removed, even a killed process leaves nothing behind.
func (r *runs) temporary() (*os.File, error) {
	f, err := os.CreateTemp(r.dir, r.name)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	r.opened = append(r.opened, f)
	return f, nil
}

func (r *runs) close() {
	for _, f := range r.opened {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

// putAside writes a run to the file and empties it. Each run encodes its first documents
// from the beginning, so that it can be read by itself.
func (r *runs) putAside(x *run) (err error) {
	if r.file == nil {
		if r.file, err = r.temporary(); err != nil {
			return err
		}
	}
	start, err := r.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(r.file, 1<<20)
	var number []byte
	for _, i := range x.sorted() {
		key, postings := x.key(i), x.terms[i].postings
		number = binary.AppendUvarint(number[:0], uint64(len(key)))
		number = append(number, key...)
		number = binary.AppendUvarint(number, uint64(len(postings)))
		_, _ = w.Write(number)
		_, _ = w.Write(postings)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	end, err := r.file.Seek(0, io.SeekEnd)
	r.extents = append(r.extents, [2]int64{start, end})
	x.empty()
	return err
}

// runPostings are the postings of one term in one run.
type runPostings struct{ raw []byte }

var errRun = errors.New("what was put aside cannot be read back")

// each calls add with the postings. The gaps of positions are valid until the next call.
func (p runPostings) each(positions bool, add func(doc, value uint32, where []uint32)) error {
	next := uint32(0)
	var where []uint32
	rest := p.raw
	number := func() uint32 {
		n, used := binary.Uvarint(rest)
		if used <= 0 {
			rest = nil
			return 0
		}
		rest = rest[used:]
		return uint32(n)
	}
	for len(rest) > 0 {
		doc := next + number()
		next = doc + 1
		v := number()
		where = where[:0]
		if positions {
			for range countOf(v) {
				if len(rest) == 0 {
					return errRun
				}
				where = append(where, number())
			}
		}
		add(doc, v, where)
	}
	return nil
}

// merge calls yield with each key, in order, and its postings in the order of runs.
func (r *runs) merge(yield func(key []byte, postings []runPostings) error) error {
	var h runHeap
	for i, at := range r.extents {
		size := at[1] - at[0]
		h = append(h, &runReader{run: i, from: bufio.NewReaderSize(io.NewSectionReader(r.file, at[0], size), int(min(256<<10, size)))})
	}
	h = append(h, &runReader{run: len(h), memory: r.last, order: r.last.sorted()})
	open := h[:0]
	for _, x := range h {
		switch err := x.next(); {
		case err == nil:
			open = append(open, x)
		case !errors.Is(err, io.EOF):
			return err
		}
	}
	h = open
	heap.Init(&h)
	var key []byte
	var postings []runPostings
	var took []*runReader
	for len(h) > 0 {
		key, postings, took = append(key[:0], h[0].key...), postings[:0], took[:0]
		for len(h) > 0 && bytes.Equal(h[0].key, key) {
			x := heap.Pop(&h).(*runReader) // the heap holds nothing else
			postings = append(postings, runPostings{x.raw})
			took = append(took, x)
		}
		if err := yield(key, postings); err != nil {
			return err
		}
		for _, x := range took {
			switch err := x.next(); {
			case err == nil:
				heap.Push(&h, x)
			case !errors.Is(err, io.EOF):
				return err
			}
		}
	}
	return nil
}

// runReader reads one run.
type runReader struct {
	run      int
	key, raw []byte
	from     *bufio.Reader
	memory   *run
	order    []uint32
}

func (x *runReader) next() error {
	if x.from == nil {
		if len(x.order) == 0 {
			return io.EOF
		}
		x.key, x.raw = append(x.key[:0], x.memory.key(x.order[0])...), x.memory.terms[x.order[0]].postings
		x.order = x.order[1:]
		return nil
	}
	n, err := binary.ReadUvarint(x.from)
	if err != nil {
		return err
	}
	if x.key, err = x.read(x.key, n); err != nil {
		return err
	}
	if n, err = binary.ReadUvarint(x.from); err != nil {
		return err
	}
	x.raw, err = x.read(x.raw, n)
	return err
}

func (x *runReader) read(into []byte, n uint64) ([]byte, error) {
	into = slices.Grow(into[:0], int(n))[:n]
	if _, err := io.ReadFull(x.from, into); err != nil {
		return into, errRun
	}
	return into, nil
}

// runHeap is ordered by key, then by run, so that documents stay in order.
type runHeap []*runReader

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].run < h[j].run
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*runReader)) } // the heap holds nothing else
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
