package index

import (
	"encoding/binary"
	"math/bits"
)

// A list that more than one document in twelve has is dense. It is packed by
// stretches of 256 documents, so that whether a document is in it, how often,
// and which documents several lists share is known without unpacking anything:
//
//	a bit for each document       8 bytes for 64 of them
//	for each stretch:
//	    its bound                 2 bytes: see bound
//	    where its bytes end       4 bytes
//	for each of two tiers:
//	    the bound of the others   2 bytes
//	    how many are in it        4 bytes
//	    its bytes                 4 bytes
//	the tiers: gaps between documents, packed, 128 at a time
//	for each stretch:
//	    values                    packed
//	    gaps between positions    packed, for pairs; each document begins anew
//
// A tier is the documents with the highest frequency/norm: one in eight, and one
// in 64. With saturation, many parts of a common list promise about the same;
// the tiers tell which few documents keep the promise.
const (
	denseShare  = 12
	leastDense  = 32
	stretchBits = 8
	stretchSize = 1 << stretchBits
	denseHead   = 6
	tierCount   = 2
	tierHead    = 10
)

// tierShares is which part of a list the tiers are.
func tierShares() [tierCount]int { return [...]int{8, 64} }

func isDense(df int, documents uint32) bool {
	return df >= leastDense && df >= int(documents/denseShare)
}

// tier is the documents of a list that score most.
type tier struct {
	bound float64 // of the documents that are not in it
	n     int
	data  []byte
}

func stretchesOf(documents uint32) int { return int((documents + stretchSize - 1) >> stretchBits) }

// newDense reads where the parts of a dense list are.
func newDense(raw []byte, l list) (list, bool) {
	words, stretches := int(l.documents+63)/64, stretchesOf(l.documents)
	heads := 8 * words
	tiers := heads + denseHead*stretches
	at := tiers + tierCount*tierHead
	if len(raw) < at {
		return list{}, false
	}
	l.dense, l.bits, l.heads = true, raw[:heads], raw[heads:tiers]
	for i := range l.tiers {
		head := raw[tiers+i*tierHead:]
		n, size := binary.LittleEndian.Uint32(head[2:]), binary.LittleEndian.Uint32(head[6:])
		if uint64(n) > uint64(l.documents) || uint64(size) > uint64(len(raw)-at) {
			return list{}, false
		}
		l.tiers[i] = tier{fromBound(binary.LittleEndian.Uint16(head)), int(n), raw[at : at+int(size)]}
		at += int(size)
	}
	l.data = raw[at:]
	return l, true
}

// word is the bits of 64 documents of a dense list.
func (l *list) word(w int) uint64 {
	b := binary.LittleEndian.Uint64(l.bits[8*w:])
	if extra := l.documents & 63; extra != 0 && w == int(l.documents>>6) {
		b &= 1<<extra - 1 // there are no documents behind the last, whatever damage says
	}
	return b
}

// orList adds the documents of a dense list.
func (b bitmap) orList(l *list) {
	for w := range b {
		b[w] |= l.word(w)
	}
}

// andList takes away what a dense list does not have.
func (b bitmap) andList(l *list) {
	for w := range b {
		b[w] &= l.word(w)
	}
}

// span is where the bytes of a block are.
func (l *list) span(block int) ([]byte, bool) {
	from, to := 0, l.ends(block)
	if block > 0 {
		from = l.ends(block - 1)
	}
	if from > to || to > len(l.data) {
		return nil, false
	}
	// The bytes of what follows are there to be read, which makes it faster.
	return l.data[from:], true
}

// loadDense lists the documents of a stretch.
func (c *cursor) loadDense(block int) {
	l := c.l
	c.first = uint32(block) << stretchBits
	rest, ok := l.span(block)
	if !ok {
		return
	}
	n := 0
	for w := block << (stretchBits - 6); w < min((block+1)<<(stretchBits-6), len(l.bits)/8); w++ {
		at := uint32(w) << 6
		for word := l.word(w); word != 0; word &= word - 1 {
			c.docRoom[n&(stretchSize-1)] = at + uint32(bits.TrailingZeros64(word))
			n++
		}
	}
	c.docs, c.n, c.rest = c.docRoom[:n], n, rest
}

// at is the value of a document, if it is in the list. In a dense list nothing
// is unpacked for it.
func (c *cursor) at(doc uint32) (uint32, bool) {
	l := c.l
	if !l.dense {
		if c.seek(doc) != doc {
			return 0, false
		}
		return c.val(), true
	}
	word := l.word(int(doc >> 6))
	if word>>(doc&63)&1 == 0 {
		return 0, false
	}
	block := int(doc >> stretchBits)
	src, ok := l.span(block)
	if !ok || len(src) == 0 {
		return 0, false
	}
	// Its place among the documents of the stretch is that of its value.
	from, at := block<<(stretchBits-6), int(doc>>6)
	i := bits.OnesCount64(word & (1<<(doc&63) - 1))
	for w := from; w < at; w++ {
		i += bits.OnesCount64(l.word(w))
	}
	n := 0 // how many there are; it matters only where there are exceptions
	if src[0]&exceptions != 0 {
		for w := from; w < min(from+stretchSize/64, len(l.bits)/8); w++ {
			n += bits.OnesCount64(l.word(w))
		}
	}
	return pick(src, i, n)
}

// mark adds the documents of a tier to a set.
func (t *tier) mark(into bitmap, documents uint32) {
	var room [blockSize]uint32
	next, rest := uint64(0), t.data
	for left := t.n; left > 0; left -= blockSize {
		gaps := room[:min(left, blockSize)]
		var ok bool
		if rest, ok = unpack(rest, gaps); !ok {
			return
		}
		for _, gap := range gaps {
			if next += uint64(gap); next >= uint64(documents) {
				return
			}
			into.set(uint32(next))
			next++
		}
	}
}

// finishDense appends the list to dst.
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

// leastOf is the lowest bound that no more than n documents reach.
func (e *encoder) leastOf(n int) uint16 {
	if e.histogram == nil {
		e.histogram = make([]int32, 1<<16)
	}
	clear(e.histogram)
	for _, b := range e.bounds {
		e.histogram[b]++
	}
	least := len(e.histogram)
	for least > 1 && n >= int(e.histogram[least-1]) {
		least--
		n -= int(e.histogram[least])
	}
	return uint16(min(least, 1<<16-1))
}

// appendTier packs the documents whose bound is not less.
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
