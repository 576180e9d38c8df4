package index

import (
	"encoding/binary"
	"slices"
)

// encoder packs one list after the other. It decides whether a list is dense when the list
// is complete.
type encoder struct {
	docs, values, where, gaps []uint32
	heads, data               []byte
	norm                      func(doc uint32) float64
	documents                 uint32
	positions                 bool

	bounds    []uint16 // of each document, for a dense list
	histogram []int32
}

func (e *encoder) begin(positions bool) {
	e.docs, e.values, e.where, e.positions = e.docs[:0], e.values[:0], e.where[:0], positions
}

// add adds a posting. Where holds the gaps between its positions.
func (e *encoder) add(doc, value uint32, where []uint32) {
	e.docs = append(e.docs, doc)
	e.values = append(e.values, value)
	e.where = append(e.where, where...)
}

// finish appends the packed list to dst.
func (e *encoder) finish(dst []byte) []byte {
	if isDense(len(e.docs), e.documents) {
		return e.finishDense(dst)
	}
	e.heads, e.data = e.heads[:0], e.data[:0]
	next, at := uint32(0), 0
	for from := 0; from < len(e.docs); from += blockSize {
		to := min(from+blockSize, len(e.docs))
		e.gaps = e.gaps[:0]
		where, ratio := at, 0.0
		for i, doc := range e.docs[from:to] {
			e.gaps = append(e.gaps, doc-next)
			next = doc + 1
			v := e.values[from+i]
			at += countOf(v)
			ratio = max(ratio, frequency(v)/e.norm(doc))
		}
		e.data = appendPacked(e.data, e.gaps)
		e.data = appendPacked(e.data, e.values[from:to])
		if e.positions {
			e.data = appendPacked(e.data, e.where[where:at])
		}
		e.heads = binary.LittleEndian.AppendUint32(e.heads, next-1)
		e.heads = binary.LittleEndian.AppendUint16(e.heads, toBound(ratio))
		e.heads = binary.LittleEndian.AppendUint32(e.heads, uint32(len(e.data)))
	}
	if len(e.docs) > blockSize {
		dst = append(dst, e.heads...)
	}
	return append(dst, e.data...)
}

// finishDense appends the dense list to dst.
func (e *encoder) finishDense(dst []byte) []byte {
	start := len(dst)
	words, stretches := int(e.documents+63)/64, stretchesOf(e.documents)
	dst = append(dst, make([]byte, 8*words+denseHead*stretches)...)
	heads := dst[start+8*words:]
	for _, doc := range e.docs {
		dst[start+int(doc>>3)] |= 1 << (doc & 7)
	}
	e.bounds = e.bounds[:0]
	for i, doc := range e.docs {
		e.bounds = append(e.bounds, toBound(frequency(e.values[i])/e.norm(doc)))
	}
	e.data = e.data[:0]
	i, at := 0, 0
	for s := range stretches {
		from, where, bound := i, at, toBound(0)
		for ; i < len(e.docs) && int(e.docs[i]>>stretchBits) == s; i++ {
			at += countOf(e.values[i])
			bound = max(bound, e.bounds[i])
		}
		e.data = appendPacked(e.data, e.values[from:i])
		if e.positions {
			e.data = appendPacked(e.data, e.where[where:at])
		}
		binary.LittleEndian.PutUint16(heads[s*denseHead:], bound)
		binary.LittleEndian.PutUint32(heads[s*denseHead+2:], uint32(len(e.data)))
	}
	var parts []byte
	for _, share := range tierShares() {
		least := e.leastOf(len(e.docs) / share)
		n, before := 0, len(parts)
		parts = e.appendTier(parts, least, &n)
		dst = binary.LittleEndian.AppendUint16(dst, least-1)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(parts)-before))
	}
	dst = append(dst, parts...)
	return append(dst, e.data...)
}

// leastOf returns the lowest bound that at most n documents reach.
func (e *encoder) leastOf(n int) uint16 {
	if e.histogram == nil {
		e.histogram = make([]int32, 1<<16)
	}
	// Only the range of the bounds is cleared and walked, because most lists are short.
	lowest, highest := int(slices.Min(e.bounds)), int(slices.Max(e.bounds))
	clear(e.histogram[lowest : highest+1])
	for _, b := range e.bounds {
		e.histogram[b]++
	}
	least := highest + 1
	for least > lowest && n >= int(e.histogram[least-1]) {
		least--
		n -= int(e.histogram[least])
	}
	return uint16(min(least, 1<<16-1))
}

// appendTier packs the documents whose bound is at least least.
func (e *encoder) appendTier(dst []byte, least uint16, n *int) []byte {
	e.gaps = e.gaps[:0]
	next := uint32(0)
	for i, doc := range e.docs {
		if e.bounds[i] < least {
			continue
		}
		e.gaps = append(e.gaps, doc-next)
		next = doc + 1
		if *n++; len(e.gaps) == blockSize {
			dst = appendPacked(dst, e.gaps)
			e.gaps = e.gaps[:0]
		}
	}
	if len(e.gaps) > 0 {
		dst = appendPacked(dst, e.gaps)
	}
	return dst
}
