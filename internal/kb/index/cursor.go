package index

import "sort"

// cursor walks a list. It holds one unpacked block.
type cursor struct {
	l           *list
	block       int
	first, last uint32 // the range of documents that the block can have
	n, i        int
	docs        []uint32
	values      []uint32
	starts      []uint32
	where       []uint32
	rest        []byte // the bytes of the block that are not unpacked yet
	haveValues  bool
	haveWhere   bool
	asked       int // number of requests for positions in the block

	docRoom, valueRoom [stretchSize]uint32
	startRoom          [stretchSize + 1]uint32
	whereRoom          []uint32
	fewRoom            [16]uint32
}

func (c *cursor) reset(l *list) {
	c.l, c.block, c.n, c.i = l, -1, 0, 0
	c.first, c.last = 1, 0
}

// load unpacks the documents of a block. A damaged block has none.
func (c *cursor) load(block int) {
	l := c.l
	c.block, c.i, c.n = block, 0, 0
	c.haveValues, c.haveWhere, c.asked = false, false, 0
	c.last = l.last(block)
	if l.dense {
		c.loadDense(block)
		return
	}
	c.first = 0
	if block > 0 {
		c.first = l.last(block-1) + 1
	}
	n := min(blockSize, l.df-block*blockSize)
	if l.plain {
		at := block * blockSize
		c.docs, c.values, c.n = l.docs[at:at+n], l.values[at:at+n], n
		c.haveValues = true
		return
	}
	src, ok := l.span(block)
	if !ok {
		return
	}
	c.docs = c.docRoom[:n]
	rest, ok := unpack(src, c.docs)
	if !ok {
		return
	}
	next := uint64(c.first)
	for i, gap := range c.docs {
		next += uint64(gap)
		c.docs[i] = uint32(next)
		next++
	}
	if next > uint64(l.documents) { // they ascend, so checking the last one is enough
		return
	}
	c.n, c.rest = n, rest
}

// seek moves to the first document at or after the given one, in either direction, and
// returns it.
func (c *cursor) seek(doc uint32) uint32 {
	if doc < c.first || doc > c.last {
		if !c.jump(doc) {
			return nowhere
		}
	}
	docs := c.docs[:c.n]
	i := c.i
	if i >= len(docs) || docs[i] > doc {
		i = 0
	}
	for near := min(i+6, len(docs)); i < near && docs[i] < doc; {
		i++
	}
	if i < len(docs) && docs[i] < doc { // it is far away: use a binary search
		high := len(docs)
		for i < high {
			if middle := int(uint(i+high) >> 1); docs[middle] < doc {
				i = middle + 1
			} else {
				high = middle
			}
		}
	}
	c.i = i
	if i < len(docs) {
		return docs[i]
	}
	if next := c.following(); next >= doc { // it is less only after damage
		return next
	}
	return nowhere
}

// following moves to the first document after the block.
func (c *cursor) following() uint32 {
	for c.block+1 < c.l.blocks() {
		if c.load(c.block + 1); c.n > 0 {
			return c.docs[0]
		}
	}
	return nowhere
}

// next moves to the document after the current one.
func (c *cursor) next() uint32 {
	if c.i++; c.i < c.n {
		return c.docs[c.i]
	}
	return c.following()
}

// jump loads the block that has the document or the first one after it.
func (c *cursor) jump(doc uint32) bool {
	if c.l.dense {
		if doc >= c.l.documents {
			return false
		}
		c.load(int(doc >> stretchBits))
		return true
	}
	low, high := 0, c.l.blocks()
	if c.block >= 0 && doc > c.last {
		low = c.block + 1
		for step := 1; low+step < high; step *= 2 { // galloping
			if c.l.last(low+step) >= doc {
				high = low + step + 1
				break
			}
			low += step
		}
	} else if c.block >= 0 {
		high = c.block + 1
	}
	b := low + sort.Search(high-low, func(k int) bool { return c.l.last(low+k) >= doc })
	if b >= c.l.blocks() {
		return false
	}
	c.load(b)
	return true
}

// val returns the value of the current document.
func (c *cursor) val() uint32 {
	if !c.haveValues {
		c.loadValues()
	}
	return c.values[c.i]
}

func (c *cursor) loadValues() {
	c.haveValues = true
	c.values = c.valueRoom[:c.n]
	rest, ok := unpack(c.rest, c.values)
	if !ok {
		clear(c.values)
		c.rest = nil
		return
	}
	c.rest = rest
}

// places returns the positions of the current document.
func (c *cursor) places() []uint32 {
	if c.l.plain {
		at := c.block*blockSize + c.i
		if at+1 >= len(c.l.starts) {
			return nil
		}
		return c.l.where[c.l.starts[at]:c.l.starts[at+1]]
	}
	if !c.haveValues {
		c.loadValues()
	}
	if c.asked++; c.asked == 1 {
		c.startPlaces()
	}
	if len(c.starts) <= c.i+1 {
		return nil
	}
	from, to := c.starts[c.i], c.starts[c.i+1]
	if !c.haveWhere {
		if c.asked <= fewAsked && to-from <= uint32(len(c.fewRoom)) {
			return c.pickPlaces(from, to)
		}
		c.loadPlaces()
	}
	if int(to) > len(c.where) {
		return nil
	}
	return c.where[from:to]
}

// fewAsked is the number of documents of a block up to which positions are read one by
// one, without unpacking those of the whole block.
const fewAsked = 8

// pickPlaces reads the positions of one document.
func (c *cursor) pickPlaces(from, to uint32) []uint32 {
	out := c.fewRoom[:to-from]
	if !pickSome(c.rest, int(from), int(c.starts[c.n]), out) {
		return nil
	}
	at := uint32(0)
	for i, gap := range out {
		at += gap
		out[i] = at
	}
	return out
}

// startPlaces computes which positions belong to which document.
func (c *cursor) startPlaces() {
	c.starts = nil
	c.startRoom[0] = 0
	total := 0
	for i, v := range c.values {
		total += countOf(v)
		c.startRoom[i+1] = uint32(total)
	}
	// Each position takes at least a bit, unless all positions of a block are one.
	if c.l.positions && total <= 1<<24 {
		c.starts = c.startRoom[:c.n+1]
	}
}

func (c *cursor) loadPlaces() {
	c.haveWhere, c.where = true, nil
	total := int(c.starts[c.n])
	if cap(c.whereRoom) < total {
		c.whereRoom = make([]uint32, total+total/2)
	}
	where := c.whereRoom[:total]
	if _, ok := unpack(c.rest, where); !ok {
		return
	}
	if total > len(c.values) {
		for i, v := range c.values {
			if v < 2 {
				continue // one position stands for itself
			}
			at := uint32(0)
			for k := c.starts[i]; k < c.starts[i+1]; k++ {
				at += where[k]
				where[k] = at
			}
		}
	}
	c.where = where
}

// mark adds the list's documents to a set.
func (c *cursor) mark(l *list, into bitmap) {
	if l.dense {
		into.orList(l)
		return
	}
	c.reset(l)
	for b := range l.blocks() {
		c.load(b)
		for _, d := range c.docs[:c.n] {
			into.set(d)
		}
	}
}
