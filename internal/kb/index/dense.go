package index

import (
	"encoding/binary"
	"math/bits"
)

// A list that has more than one document in twelve is dense. It is packed in stretches of
// 256 documents. So it is known without unpacking whether and how often a document is in
// the list, and which documents several lists share:
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
//	    gaps between positions    packed, for pairs; restart at each document
//
// A tier holds the documents with the highest frequency/norm: one in eight, and one in
// 64. With saturation, many parts of a common list have about the same bound; the tiers
// tell which few documents reach it.
const (
	denseShare  = 12
	leastDense  = 32
	stretchBits = 8
	stretchSize = 1 << stretchBits
	denseHead   = 6
	tierCount   = 2
	tierHead    = 10
)

// tierShares returns the shares of the tiers: one document in so many.
func tierShares() [tierCount]int { return [...]int{8, 64} }

func isDense(df int, documents uint32) bool {
	return df >= leastDense && df >= int(documents/denseShare)
}

// tier holds the documents of a list with the highest scores.
type tier struct {
	bound float64 // of the documents that are not in it
	n     int
	data  []byte
}

func stretchesOf(documents uint32) int { return int((documents + stretchSize - 1) >> stretchBits) }

// newDense locates the parts of a dense list.
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

// word returns the bits of 64 documents of a dense list.
func (l *list) word(w int) uint64 {
	b := binary.LittleEndian.Uint64(l.bits[8*w:])
	if extra := l.documents & 63; extra != 0 && w == int(l.documents>>6) {
		b &= 1<<extra - 1 // ignore bits after the last document, which only damage can set
	}
	return b
}

// orList adds the documents of a dense list.
func (b bitmap) orList(l *list) {
	from := l.bits[:8*len(b)]
	for w := range b {
		b[w] |= binary.LittleEndian.Uint64(from[8*w:])
	}
	b.end(l.documents)
}

// andList removes the documents that a dense list does not have.
func (b bitmap) andList(l *list) {
	from := l.bits[:8*len(b)]
	for w := range b {
		b[w] &= binary.LittleEndian.Uint64(from[8*w:])
	}
	b.end(l.documents)
}

// end removes documents after the last one, which only damage can add.
func (b bitmap) end(documents uint32) {
	if extra := documents & 63; extra != 0 {
		b[documents>>6] &= 1<<extra - 1
	}
}

// span returns the bytes of a block.
func (l *list) span(block int) ([]byte, bool) {
	from, to := 0, l.ends(block)
	if block > 0 {
		from = l.ends(block - 1)
	}
	if from > to || to > len(l.data) {
		return nil, false
	}
	// The result includes the bytes after the block, because reading them makes unpacking
	// faster.
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

// at returns the value of a document, if it is in the list. It unpacks nothing of a dense
// list.
func (c *cursor) at(doc uint32) (uint32, bool) {
	l := c.l
	if !l.dense {
		if c.seek(doc) != doc {
			return 0, false
		}
		return c.val(), true
	}
	i, ok := l.rank(doc)
	if !ok {
		return 0, false
	}
	block := int(doc >> stretchBits)
	src, ok := l.span(block)
	if !ok || len(src) == 0 {
		return 0, false
	}
	n := 0 // the count of documents; only needed if there are exceptions
	if src[0]&exceptions != 0 {
		n = l.inStretch(block)
	}
	return pick(src, i, n)
}

// rank returns the index of a document among those of its stretch, if it is in a dense
// list.
func (l *list) rank(doc uint32) (int, bool) {
	at := int(doc >> 6)
	word := l.word(at)
	if word>>(doc&63)&1 == 0 {
		return 0, false
	}
	i := bits.OnesCount64(word & (1<<(doc&63) - 1))
	for w := at &^ (stretchSize/64 - 1); w < at; w++ {
		i += bits.OnesCount64(l.word(w))
	}
	return i, true
}

// inStretch counts the documents of a stretch.
func (l *list) inStretch(block int) int {
	n, from := 0, block<<(stretchBits-6)
	for w := from; w < min(from+stretchSize/64, len(l.bits)/8); w++ {
		n += bits.OnesCount64(l.word(w))
	}
	return n
}

// stand moves to a document, if the list has it. It does not list the documents of a
// dense list, so the cursor of such a list cannot seek afterwards.
func (c *cursor) stand(doc uint32) bool {
	if !c.l.dense {
		// Usually both lists have the same documents, so try the next one first.
		if c.i+1 < c.n && c.docs[c.i+1] == doc {
			c.i++
			return true
		}
		return c.seek(doc) == doc
	}
	i, ok := c.l.rank(doc)
	if !ok {
		return false
	}
	if block := int(doc >> stretchBits); block != c.block {
		c.block, c.n, c.docs = block, 0, nil
		c.haveValues, c.haveWhere, c.asked = false, false, 0
		if c.rest, ok = c.l.span(block); ok {
			c.n = c.l.inStretch(block)
		}
	}
	c.i = i
	return i < c.n
}

// mark adds the documents of a tier to a set.
func (t *tier) mark(into bitmap, documents uint32) {
	var buffer [blockSize]uint32
	next, rest := uint64(0), t.data
	for left := t.n; left > 0; left -= blockSize {
		gaps := buffer[:min(left, blockSize)]
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
