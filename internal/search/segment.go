package search

import (
	"math"
	"slices"
	"strings"
)

// segment is one server's part of the index. It never changes.
type segment struct {
	server    string
	documents []indexed
	// words are those of the documents, each with its postings.
	words    []wordAt
	postings []posting
	totals   [fields]int
}

// indexed is what is kept of a document.
type indexed struct {
	Document
	lengths [fields]uint16
}

// wordAt is a word of a segment: its number, where its postings end, and how many
// documents they are about.
type wordAt struct{ number, end, documents uint32 }

// posting is an occurrence of a word: document, field and how often.
type posting uint32

const (
	countBits, fieldBits = 8, 3
	mostCount            = 1<<countBits - 1
)

// occurrence is a word's number before a posting: sorted, the postings of a word
// stand together, by document and field.
type occurrence uint64

func newOccurrence(word uint32, doc int, f field) occurrence {
	return occurrence(word)<<32 | occurrence(doc)<<(countBits+fieldBits) | occurrence(f)<<countBits //nolint:gosec // a server has far less than two million tools
}

func (o occurrence) word() uint32 { return uint32(o >> 32) }

func (o occurrence) posting(count int) posting {
	return posting(o) | posting(min(count, mostCount)) //nolint:gosec // the word is cut off on purpose
}

func (p posting) doc() uint32    { return uint32(p >> (countBits + fieldBits)) }
func (p posting) count() float32 { return float32(p & mostCount) }

// place is a number for document and field.
func (p posting) place() int { return int(p >> countBits) }

// mostText is how much of a document is read, in bytes, and mostServerText of what
// a server says of itself, which is read for each of its documents. Nobody says
// more about a tool who means well.
const mostText, mostServerText = 32 << 10, 2 << 10

// upTo is the beginning of a text.
func upTo(most int, text string) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") // a copy: the rest can go
}

// newSegment takes a server's documents apart.
func newSegment(s Server, words *reader) *segment {
	seg := &segment{server: s.Name, documents: make([]indexed, len(s.Documents))}
	var all []occurrence
	s.Title, s.Description = upTo(mostServerText, s.Title), upTo(mostServerText, s.Description)
	server := words.read(nil, s.Name+" "+s.Title)
	serverText := words.read(nil, s.Description)
	var hints []uint32
	each(s.Description, func(w string) { hints = append(hints, words.add(serverMark+w)) })
	var numbers []uint32
	for i, d := range s.Documents {
		at := &seg.documents[i]
		d.Description = upTo(mostText, d.Description)
		at.Document = d
		left := mostText
		add := func(f field, numbers []uint32) {
			for _, n := range numbers {
				all = append(all, newOccurrence(n, i, f))
			}
			at.lengths[f] = uint16(min(int(at.lengths[f])+len(numbers), math.MaxUint16)) //nolint:gosec // bounded here
			seg.totals[f] += len(numbers)
		}
		read := func(f field, text string) {
			text = upTo(left, text)
			left -= len(text)
			numbers = words.read(numbers[:0], text)
			add(f, numbers)
		}
		read(inName, d.Name)
		add(inServer, server)
		add(inServerText, serverText)
		for _, n := range hints {
			all = append(all, newOccurrence(n, i, inServerText))
		}
		read(inDescription, d.Description)
		for _, p := range d.Parameters {
			read(inParameters, p.Name)
			read(inParameterText, p.Text)
		}
		for _, e := range d.Examples {
			read(inExamples, e)
		}
		read(inTags, d.Category)
		read(inTags, strings.Join(d.Tags, " "))
		all = append(all, newOccurrence(words.add(nameMark+spaced(d.Name)), i, inName))
	}
	slices.Sort(all)
	seg.count(all)
	return seg
}

// count makes postings of sorted occurrences.
func (s *segment) count(all []occurrence) {
	for i := 0; i < len(all); {
		o, from := all[i], i
		for i < len(all) && all[i] == o {
			i++
		}
		p := o.posting(i - from)
		fresh := len(s.words) == 0 || s.words[len(s.words)-1].number != o.word()
		if fresh {
			s.words = append(s.words, wordAt{number: o.word()})
		}
		w := &s.words[len(s.words)-1]
		if fresh || s.postings[len(s.postings)-1].doc() != p.doc() {
			w.documents++
		}
		s.postings = append(s.postings, p)
		w.end = uint32(len(s.postings)) //nolint:gosec // memory ends before
	}
	s.words, s.postings = slices.Clip(s.words), slices.Clip(s.postings)
}
