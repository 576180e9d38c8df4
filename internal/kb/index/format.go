package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

// The base is one file. A header of 512 bytes says what it is:
//
//	"genkanKB"                        8 bytes
//	version of format and tokeniser   4
//	number of sections                4
//	sequence that it covers           8
//	documents                         8
//	terms                             8
//	sum of the documents' lengths     8
//	for each section: offset 8, length 8, CRC-32C 4, nothing 4
//	CRC-32C of the header up to here  4, at the very end of the 512
//
// and the sections follow one another without a gap: the columns (columns.go),
// the names of types and of statuses, the titles with where each begins and the
// two orders of suggestions (suggest.go), the common runs of characters (grams.go),
// the dictionary (dictionary.go) and the lists of postings (postings.go). All numbers are little-endian.
const (
	magic      = "genkanKB"
	version    = 3
	headerLen  = 512
	maxRecords = 1 << 31
)

type section int

const (
	idSection section = iota
	updatedSection
	lengthSection
	headSection
	typeSection
	statusSection
	typeNameSection
	statusNameSection
	titleSection      // the titles
	titleStartSection // where each begins, 8 bytes; the highest bit: it is folded already
	titleOrderSection // documents by folded title, 4 bytes
	titleMarkSection  // the beginnings of some folded titles in this order
	typeOrderSection  // documents by type and folded title, 4 bytes
	typeMarkSection   // the same for this order
	typeStartSection  // where each type begins in it, 4 bytes
	gramSection       // common runs of characters
	groupSection
	directorySection
	listSection
	sections
)

// ErrDamaged says that a file is not a base, is of another version, or is incomplete. A
// base is derived from documents: build it again.
var ErrDamaged = errors.New("the search index is damaged or of another version")

func damaged(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, values...))
}

// header is the first 512 bytes.
type header struct {
	sequence         int64
	documents, terms uint64
	length           uint64
	offsets, sizes   [sections]uint64
	sums             [sections]uint32
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func (h *header) encode() []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, headerLen), magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(sections))
	b = le.AppendUint64(b, uint64(h.sequence))
	b = le.AppendUint64(b, h.documents)
	b = le.AppendUint64(b, h.terms)
	b = le.AppendUint64(b, h.length)
	for i := range h.offsets {
		b = le.AppendUint64(b, h.offsets[i])
		b = le.AppendUint64(b, h.sizes[i])
		b = le.AppendUint32(b, h.sums[i])
		b = le.AppendUint32(b, 0)
	}
	b = append(b, make([]byte, headerLen-4-len(b))...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

// decode reads a header and checks that the sections fit the file.
func (h *header) decode(file []byte) error {
	le := binary.LittleEndian
	switch {
	case len(file) < headerLen:
		return damaged("it is too short")
	case string(file[:8]) != magic:
		return damaged("it is another kind of file")
	case crc32.Checksum(file[:headerLen-4], castagnoli()) != le.Uint32(file[headerLen-4:]):
		return damaged("its header is damaged")
	case le.Uint32(file[8:]) != version || le.Uint32(file[12:]) != uint32(sections):
		return damaged("it is of version %d", le.Uint32(file[8:]))
	}
	h.sequence = int64(le.Uint64(file[16:]))
	h.documents, h.terms, h.length = le.Uint64(file[24:]), le.Uint64(file[32:]), le.Uint64(file[40:])
	end := uint64(headerLen)
	for i := range h.offsets {
		b := file[48+24*i:]
		h.offsets[i], h.sizes[i], h.sums[i] = le.Uint64(b), le.Uint64(b[8:]), le.Uint32(b[16:])
		if h.offsets[i] != end || h.sizes[i] > math.MaxInt64-end {
			return damaged("its sections are not in order")
		}
		end += h.sizes[i]
	}
	if end != uint64(len(file)) {
		return damaged("it should have %d bytes and has %d", end, len(file))
	}
	return h.check()
}

// check verifies that the sections have the sizes that the counts require.
func (h *header) check() error {
	if h.documents >= maxRecords || h.terms >= math.MaxInt32*groupSize {
		return damaged("it says that it has %d documents", h.documents)
	}
	groups := (h.terms + groupSize - 1) / groupSize
	for s, size := range map[section]uint64{
		idSection: 8 * h.documents, updatedSection: 8 * h.documents, lengthSection: 4 * h.documents,
		headSection: 2 * h.documents, typeSection: 4 * h.documents, statusSection: 4 * h.documents,
		titleStartSection: 8 * (h.documents + 1), titleOrderSection: 4 * h.documents, typeOrderSection: 4 * h.documents,
		titleMarkSection: markSize * marksOf(h.documents), typeMarkSection: markSize * marksOf(h.documents),
		directorySection: 8 * groups,
	} {
		if h.sizes[s] != size {
			return damaged("its section %d has %d bytes and should have %d", s, h.sizes[s], size)
		}
	}
	return nil
}

// sectionWriter writes sections one after the other, with their checksums.
type sectionWriter struct {
	w      io.Writer
	header header
	at     uint64
	open   section
	err    error
}

// begin starts the next section. Sections are written in order.
func (w *sectionWriter) begin(s section) {
	w.open = s
	w.header.offsets[s] = w.at
}

func (w *sectionWriter) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(b)
	w.err = err
	w.at += uint64(n)
	w.header.sizes[w.open] += uint64(n)
	w.header.sums[w.open] = crc32.Update(w.header.sums[w.open], castagnoli(), b[:n])
	return n, err
}

// section writes a complete section.
func (w *sectionWriter) section(s section, b []byte) {
	w.begin(s)
	_, _ = w.Write(b) // the first error is kept
}

// copy writes a section from a temporary file.
func (w *sectionWriter) copy(s section, buffered *bufio.Writer, file *os.File) error {
	if err := buffered.Flush(); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	w.begin(s)
	_, err := io.Copy(w, file)
	return err
}

// appendNames encodes names: the length and the bytes of each.
func appendNames(dst []byte, list []string) []byte {
	for _, s := range list {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	return dst
}

func readNames(b []byte) ([]string, bool) {
	var list []string
	for len(b) > 0 {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return nil, false
		}
		list = append(list, string(b[used:used+int(n)]))
		b = b[used+int(n):]
	}
	return list, true
}
