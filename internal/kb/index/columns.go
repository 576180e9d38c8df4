package index

import (
	"encoding/binary"
	"math"
	"sort"
)

// columns holds the data of each document besides its words, in the format of the file.
// The delta has the same data in memory. Numbers are little-endian.
type columns struct {
	ids, updated      []byte // 8 bytes each
	lengths           []byte // 4: words, and characters of scripts without spaces
	heads             []byte // 2: positions that belong to the title
	types, statuses   []byte // 4: which of the names
	typeNames, states []string
}

func (c *columns) add(d *Document, length, head uint32, kind, status uint32) {
	le := binary.LittleEndian
	c.ids = le.AppendUint64(c.ids, uint64(d.ID))
	c.updated = le.AppendUint64(c.updated, uint64(d.Updated))
	c.lengths = le.AppendUint32(c.lengths, length)
	c.heads = le.AppendUint16(c.heads, uint16(head))
	c.types = le.AppendUint32(c.types, kind)
	c.statuses = le.AppendUint32(c.statuses, status)
}

func (c *columns) count() int               { return len(c.ids) / 8 }
func (c *columns) id(doc uint32) int64      { return int64(binary.LittleEndian.Uint64(c.ids[8*doc:])) }
func (c *columns) length(doc uint32) uint32 { return binary.LittleEndian.Uint32(c.lengths[4*doc:]) }
func (c *columns) head(doc uint32) uint32 {
	return uint32(binary.LittleEndian.Uint16(c.heads[2*doc:]))
}

func (c *columns) changed(doc uint32) int64 {
	return int64(binary.LittleEndian.Uint64(c.updated[8*doc:]))
}
func (c *columns) kind(doc uint32) uint32  { return binary.LittleEndian.Uint32(c.types[4*doc:]) }
func (c *columns) state(doc uint32) uint32 { return binary.LittleEndian.Uint32(c.statuses[4*doc:]) }

// number returns the number of the document with an id. Ids ascend.
func (c *columns) number(id int64) (uint32, bool) {
	n := c.count()
	i := sort.Search(n, func(i int) bool { return c.id(uint32(i)) >= id })
	return uint32(i), i < n && c.id(uint32(i)) == id
}

// typeStarts returns, for each type, the number of documents whose type has a lower
// number, and at the end the number of all documents.
func (c *columns) typeStarts(types int) []byte {
	counts := make([]uint32, types+1)
	for doc := range c.count() {
		counts[c.kind(uint32(doc))+1]++
	}
	var out []byte
	n := uint32(0)
	for _, more := range counts {
		n += more
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

// names numbers strings in the order of their first use.
type names struct {
	list []string
	at   map[string]uint32
}

func (n *names) number(s string) uint32 {
	if i, ok := n.at[s]; ok {
		return i
	}
	if n.at == nil {
		n.at = map[string]uint32{}
	}
	i := uint32(len(n.list))
	n.at[s] = i
	n.list = append(n.list, s)
	return i
}

// These are the parameters of BM25. A document of twice the mean length needs more
// occurrences for the same score, and each further occurrence of a word counts less.
const (
	saturation = 1.2
	lengthPart = .6
)

// norms is the part of the score that depends on lengths, at a mean length.
type norms struct{ fixed, each float64 }

func normsAt(mean float64) norms {
	return norms{saturation * (1 - lengthPart), saturation * lengthPart / max(mean, 1)}
}

// at rounds the product before the sum, so that no processor fuses the two operations and
// computes a different score.
func (n norms) at(length uint32) float64 { return n.fixed + float64(n.each*float64(length)) }

// score returns the score of a frequency and a norm. It grows with frequency/norm.
func score(frequency, norm float64) float64 {
	return (saturation + 1) * frequency / (frequency + norm)
}

// idf returns the inverse document frequency of a word.
func idf(documents, having int) float64 {
	return math.Log(1 + (float64(documents-having)+.5)/(float64(having)+.5))
}
