package index

import (
	"encoding/binary"
	"math"
)

// A list of postings holds the documents of a term, the number of occurrences in each,
// and, for pairs of characters, their positions. In the base it is packed in blocks of
// 128:
//
//	for each block, if there is more than one:
//	    its last document        4 bytes
//	    its bound                2 bytes: see bound
//	    where its bytes end      4 bytes
//	for each block:
//	    gaps between documents   packed
//	    values                   packed: (count-1)·2, plus 1 if in the head
//	    gaps between positions   packed, for pairs; restart at each document
//
// The list of a very common term is dense (dense.go). Lists of the delta and of verified
// phrases are plain.
const (
	blockSize  = 128
	headerSize = 10
	// nowhere is greater than the last document.
	nowhere = math.MaxUint32
)

// list is one list of postings, packed or plain.
type list struct {
	df        int
	documents uint32 // in the segment, to refuse damaged data
	positions bool

	heads, data []byte

	dense bool
	bits  []byte
	tiers [tierCount]tier

	plain  bool
	live   int // for a plain list: the number of documents that are not dead
	docs   []uint32
	values []uint32
	starts []uint32 // where each document's positions begin in where
	where  []uint32
}

// value encodes the number of occurrences in a document, and whether one is in its head.
func value(count int, head bool) uint32 {
	v := uint32(count-1) << 1
	if head {
		v |= 1
	}
	return v
}

func countOf(value uint32) int { return int(value>>1) + 1 }

// headBonus is the number of additional occurrences that a term in the title or a tag
// counts for.
const headBonus = 3

// frequency returns the frequency of a value in the score.
func frequency(value uint32) float64 { return float64(value>>1 + 1 + headBonus*(value&1)) }

func (l *list) blocks() int {
	if l.dense {
		return stretchesOf(l.documents)
	}
	return (l.df + blockSize - 1) / blockSize
}

// last returns the last document of a block.
func (l *list) last(block int) uint32 {
	switch {
	case l.plain:
		return l.docs[min(l.df, (block+1)*blockSize)-1]
	case l.dense:
		return min(l.documents, uint32(block+1)<<stretchBits) - 1
	case len(l.heads) == 0:
		return nowhere - 1
	}
	return binary.LittleEndian.Uint32(l.heads[block*headerSize:])
}

// ends returns the offset of the end of a block.
func (l *list) ends(block int) int {
	switch {
	case l.dense:
		return int(binary.LittleEndian.Uint32(l.heads[block*denseHead+2:]))
	case len(l.heads) == 0:
		return len(l.data)
	}
	return int(binary.LittleEndian.Uint32(l.heads[block*headerSize+6:]))
}

// bound returns the largest frequency/norm of a block's postings at the base's own mean
// length, rounded up. Zero means unknown.
func (l *list) bound(block int) float64 {
	switch {
	case l.dense:
		return fromBound(binary.LittleEndian.Uint16(l.heads[block*denseHead:]))
	case l.plain || len(l.heads) == 0:
		return 0
	}
	return fromBound(binary.LittleEndian.Uint16(l.heads[block*headerSize+4:]))
}

// toBound returns the upper half of a float32 without its sign, rounded up.
func toBound(ratio float64) uint16 {
	return uint16(math.Float32bits(float32(ratio))>>15) + 1
}

func fromBound(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 15)) }

// newList locates the parts of a packed list.
func newList(raw []byte, df int, documents uint32, positions bool) (list, bool) {
	l := list{df: df, documents: documents, positions: positions, data: raw}
	if df <= 0 || uint64(df) > uint64(documents) {
		return list{}, false
	}
	if isDense(df, documents) {
		return newDense(raw, l)
	}
	if n := l.blocks(); n > 1 {
		if len(raw) < n*headerSize {
			return list{}, false
		}
		l.heads, l.data = raw[:n*headerSize], raw[n*headerSize:]
	}
	return l, true
}
