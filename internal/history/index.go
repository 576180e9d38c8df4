package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// index has a row for each entry of a segment, in the order of the segment. It is
// derived from the segment. Its file is indexMagic, the fields of the head, the texts
// with their lengths, the rows, and a checksum.
type index struct {
	indexHead
	texts []string
	rows  []byte
	ids   map[string]uint16 // while it is built
}

// indexHead is the beginning of an index.
type indexHead struct {
	// covered is how much of the segment the index covers, in bytes.
	covered int64
	// first and last are when the first and the last call ended, in milliseconds.
	first, last int64
	// sum is what the checksums of the segment begin with.
	sum int64
}

const (
	indexMagic    = "GENKANI1"
	indexHeadSize = len(indexMagic) + 4*8
)

// A row is made of these fields, in little-endian order.
const (
	rowEnded     = 0  // milliseconds after the first row; never less than in the row before
	rowNumber    = 4  // of the call in its run
	rowOffset    = 8  // of the frame
	rowTook      = 12 // tens of microseconds, without the time in which people were asked
	rowTokensIn  = 16
	rowTokensOut = 20
	rowSaved     = 24 // tokens
	rowCaller    = 28 // texts, by their number
	rowClient    = 30
	rowServer    = 32
	rowTool      = 34
	rowOutcome   = 36
	rowFlags     = 38
	rowSize      = 40

	tookUnit = 10 * time.Microsecond
)

func (x *index) len() int { return len(x.rows) / rowSize }

func (x *index) row(i int) row { return row(x.rows[i*rowSize : (i+1)*rowSize : (i+1)*rowSize]) }

// row is a row of an index.
type row []byte

func (r row) number(field int) uint32 { return binary.LittleEndian.Uint32(r[field:]) }

// saved returns TokensSaved of the entry.
func (r row) saved() int64 {
	if Flags(r[rowFlags])&readBack != 0 {
		return -int64(r.number(rowSaved))
	}
	return int64(r.number(rowSaved))
}

// unlisted reports whether the name of the tool is the caller's text.
func (r row) unlisted() bool { return Flags(r[rowFlags]).Has(Unlisted) }

func (r row) text(field int) uint16 { return binary.LittleEndian.Uint16(r[field:]) }

// ended returns when the call of a row ended, in milliseconds.
func (x *index) ended(i int) int64 { return x.first + int64(x.row(i).number(rowEnded)) }

// idsOf returns the numbers of the texts that are wanted; nil if there are none.
func (x *index) idsOf(wanted func(string) bool) []uint16 {
	var ids []uint16
	for i, t := range x.texts {
		if wanted(t) {
			ids = append(ids, uint16(i))
		}
	}
	return ids
}

// id returns the number of a text. It reports false if no row has it.
func (x *index) id(text string) (uint16, bool) {
	for i, t := range x.texts {
		if t == text {
			return uint16(i), true
		}
	}
	return 0, false
}

func (x *index) add(e *Entry, offset int64) {
	ended := e.Started.Add(e.Took).UnixMilli()
	if len(x.rows) == 0 {
		x.first, x.last = ended, ended
		x.ids = map[string]uint16{}
	}
	x.last = max(x.last, ended)
	id := func(text string) uint16 {
		n, ok := x.ids[text]
		if !ok {
			n = uint16(len(x.texts))
			text = strings.Clone(text)
			x.ids[text], x.texts = n, append(x.texts, text)
		}
		return n
	}
	_, number, _ := splitID(e.ID)
	var r [rowSize]byte
	put := func(field int, v int64) {
		binary.LittleEndian.PutUint32(r[field:], uint32(min(max(v, 0), 1<<32-1)))
	}
	put(rowEnded, x.last-x.first)
	put(rowNumber, int64(number))
	put(rowOffset, offset)
	put(rowTook, int64((e.Took-e.Timing.Asked)/tookUnit))
	put(rowTokensIn, int64(e.TokensIn))
	put(rowTokensOut, int64(e.TokensOut))
	put(rowSaved, int64(abs(e.TokensSaved)))
	for i, text := range [...]string{e.Caller, e.Client, e.Server, e.Tool, e.Outcome} {
		binary.LittleEndian.PutUint16(r[rowCaller+2*i:], id(text))
	}
	r[rowFlags] = byte(e.storedFlags())
	x.rows = append(x.rows, r[:]...)
}

// extend adds the entries that the segment has beyond what is covered. Of a segment that
// is finished, frames that are damaged are left out. In one that is being written, what
// follows the last frame may be left of an old segment, or not be whole yet.
func (x *index) extend(file *os.File, size int64, finished bool) error {
	if x.covered == 0 {
		sum, err := readSum(file)
		if err != nil {
			return err
		}
		x.covered, x.sum = int64(headerSize), int64(sum)
	}
	for x.covered < size {
		b := make([]byte, min(size-x.covered, readAtOnce))
		n, err := file.ReadAt(b, x.covered)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		done := x.addFrames(b[:n], finished)
		if x.covered += int64(done); done == 0 {
			return nil
		}
	}
	return nil
}

// readAtOnce is how much of a segment is read at once. It is more than a frame.
const readAtOnce = 2 * maxFrame

// addFrames adds the entries of whole frames. It returns how many bytes they have.
func (x *index) addFrames(b []byte, finished bool) (done int) {
	var e Entry
	for done < len(b) {
		payload, next, ok := frameAt(b, done, uint32(x.sum))
		if !ok {
			if !finished || len(b)-done < len(b)/2 && len(b) == readAtOnce {
				return done // it may go on in what is read next
			}
			if next = nextFrame(b, done+1, uint32(x.sum)); next < 0 {
				return done
			}
			done = next
			continue
		}
		if _, err := decodeEntry(payload, &e); err == nil && x.len() < maxEntries {
			x.add(&e, x.covered+int64(done))
		}
		done = next
	}
	return done
}

// nextFrame returns the position of the next whole frame, or -1.
func nextFrame(b []byte, at int, sum uint32) int {
	for at < len(b) {
		further := bytes.Index(b[at:], []byte(frameMagic))
		if further < 0 {
			return -1
		}
		at += further
		if _, _, ok := frameAt(b, at, sum); ok {
			return at
		}
		at++
	}
	return -1
}

// save writes the index beside its segment.
func (x *index) save(path string) error {
	b := make([]byte, 0, indexHeadSize+len(x.rows)+1<<12)
	b = append(b, indexMagic...)
	for _, v := range [...]int64{x.covered, x.first, x.last, x.sum} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	b = binary.AppendUvarint(b, uint64(len(x.texts)))
	for _, t := range x.texts {
		b = binary.AppendUvarint(b, uint64(len(t)))
		b = append(b, t...)
	}
	b = append(b, x.rows...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(b)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

var errIndex = errors.New("this is no index of the history")

func decodeIndexHead(b []byte) (h indexHead, err error) {
	if len(b) < indexHeadSize || string(b[:len(indexMagic)]) != indexMagic {
		return h, errIndex
	}
	for i, v := range [...]*int64{&h.covered, &h.first, &h.last, &h.sum} {
		*v = int64(binary.LittleEndian.Uint64(b[len(indexMagic)+8*i:]))
	}
	return h, nil
}

// loadIndex reads the index beside a segment.
func loadIndex(path string) (*index, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	head, err := decodeIndexHead(b)
	if err != nil || len(b) < indexHeadSize+4 {
		return nil, errIndex
	}
	b, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(b, castagnoli) != sum {
		return nil, errIndex
	}
	x := &index{indexHead: head}
	b = b[indexHeadSize:]
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err = errIndex
			return 0
		}
		b = b[n:]
		return v
	}
	count := number()
	if err != nil || count > 5*maxEntries {
		return nil, errIndex
	}
	x.texts = make([]string, count)
	for i := range x.texts {
		size := number()
		if err != nil || size > uint64(len(b)) {
			return nil, errIndex
		}
		x.texts[i], b = string(b[:size]), b[size:]
	}
	if len(b)%rowSize != 0 {
		return nil, errIndex
	}
	x.rows = b
	return x, nil
}
