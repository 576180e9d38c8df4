package history

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A segment is a header and frames. The header is segmentMagic, a salt, and the ID of
// the key that bodies are encrypted with (zeros if there is none). A frame is
// frameMagic, the length and the checksum of its payload, and the payload: an entry,
// and the sealed bodies if there are any.
//
// When the history is full, a new segment takes over the file of the oldest one, which
// costs a third of making a new file. Checksums begin with the salt, so what is left of
// the old frames is no part of the new segment.
const (
	segmentMagic = "GENKANC1"
	saltSize     = 16
	keyIDSize    = 8
	headerSize   = len(segmentMagic) + saltSize + keyIDSize

	frameMagic = "\xf5GKC" // no byte of UTF-8 text is 0xf5
	frameHead  = len(frameMagic) + 8
	// maxFrame is more than an entry with its bodies needs.
	maxFrame = 1 << 20

	// A segment ends at maxSegment bytes or maxEntries entries. An index refers to
	// texts with 16 bits, and an entry has four of them.
	maxSegment = 4 << 20
	maxEntries = 16_000
)

const (
	segmentSuffix = ".calls"
	indexSuffix   = ".index"
	lockSuffix    = ".lock"
)

//nolint:gochecknoglobals // a table
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// segmentName returns the file name of a run's segment. Names sort by time.
func segmentName(began time.Time, run string, number int) string {
	return fmt.Sprintf("%013d-%s-%d%s", began.UnixMilli(), run, number, segmentSuffix)
}

// parseSegmentName returns the run and the number of a segment.
func parseSegmentName(name string) (run string, number int, ok bool) {
	base, found := strings.CutSuffix(name, segmentSuffix)
	parts := strings.Split(base, "-")
	if !found || len(parts) != 3 {
		return "", 0, false
	}
	number, err := strconv.Atoi(parts[2])
	return parts[1], number, err == nil
}

// segment is a segment that is being written.
type segment struct {
	file    *os.File
	path    string
	sum     uint32 // that checksums begin with
	size    int64
	entries int
	began   time.Time
	bodies  *sealer // nil if there is no key
}

// createSegment makes a segment. It takes over the file old, if there is one.
func createSegment(dir, run string, number int, now time.Time, key []byte, old string) (*segment, error) {
	header := make([]byte, 0, headerSize)
	header = append(header, segmentMagic...)
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	header = append(header, salt...)
	s := &segment{began: now, size: int64(headerSize), sum: saltSum(salt)}
	if key != nil {
		var err error
		if s.bodies, err = newSealer(key, salt); err != nil {
			return nil, err
		}
		header = append(header, keyID(key)...)
	}
	header = append(header, make([]byte, headerSize-len(header))...)
	path := filepath.Join(dir, segmentName(now, run, number))
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	first := path
	if old != "" {
		flags, first = os.O_WRONLY, old
	}
	file, err := os.OpenFile(first, flags, 0o600)
	if err != nil {
		return nil, err
	}
	// With another salt the old entries are gone, before the file has another name.
	if _, err := file.WriteAt(header, 0); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(first))
	}
	if old != "" {
		if err := os.Rename(old, path); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	s.file, s.path = file, path
	return s, nil
}

// saltSum returns what the checksums of a segment begin with.
func saltSum(salt []byte) uint32 { return crc32.Checksum(salt, castagnoli) }

// readSum returns what the checksums of a segment begin with.
func readSum(file io.ReaderAt) (uint32, error) {
	header := make([]byte, headerSize)
	if _, err := file.ReadAt(header, 0); err != nil {
		return 0, err
	}
	return saltSum(header[len(segmentMagic) : len(segmentMagic)+saltSize]), nil
}

// append writes frames. If it fails, nothing of them is in the file.
func (s *segment) append(frames []byte, entries int) error {
	if _, err := s.file.WriteAt(frames, s.size); err != nil {
		return errors.Join(err, s.file.Truncate(s.size))
	}
	s.size += int64(len(frames))
	s.entries += entries
	return nil
}

// exists reports whether the file is still where it was made.
func (s *segment) exists() bool {
	_, err := os.Lstat(s.path)
	return err == nil
}

// close ends the segment, and removes what is left of an old one.
func (s *segment) close() error {
	return errors.Join(s.file.Truncate(s.size), s.file.Close())
}

func (s *segment) isFull() bool { return s.size >= maxSegment || s.entries >= maxEntries }

// beginFrame appends the head of a frame, which endFrame completes.
func beginFrame(b []byte) []byte {
	b = append(b, frameMagic...)
	return append(b, make([]byte, frameHead-len(frameMagic))...)
}

// endFrame completes the frame that begins at a position.
func endFrame(b []byte, at int, sum uint32) []byte {
	payload := b[at+frameHead:]
	binary.LittleEndian.PutUint32(b[at+len(frameMagic):], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[at+len(frameMagic)+4:], crc32.Update(sum, castagnoli, payload))
	return b
}

// frameAt returns the payload of the frame at a position. It reports false if there is
// no whole frame.
func frameAt(b []byte, at int, begins uint32) (payload []byte, next int, ok bool) {
	if len(b)-at < frameHead || string(b[at:at+len(frameMagic)]) != frameMagic {
		return nil, 0, false
	}
	size := int(binary.LittleEndian.Uint32(b[at+len(frameMagic):]))
	sum := binary.LittleEndian.Uint32(b[at+len(frameMagic)+4:])
	if size > maxFrame || size > len(b)-at-frameHead {
		return nil, 0, false
	}
	next = at + frameHead + size
	payload = b[at+frameHead : next]
	return payload, next, crc32.Update(begins, castagnoli, payload) == sum
}

// readFrame reads one frame of a file.
func readFrame(file io.ReaderAt, at int64, sum uint32) ([]byte, error) {
	head := make([]byte, frameHead)
	if _, err := file.ReadAt(head, at); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head[len(frameMagic):])
	if size > maxFrame {
		return nil, errEntry
	}
	frame := append(head, make([]byte, size)...)
	if _, err := file.ReadAt(frame[frameHead:], at+int64(frameHead)); err != nil {
		return nil, err
	}
	payload, _, ok := frameAt(frame, 0, sum)
	if !ok {
		return nil, errEntry
	}
	return payload, nil
}

// KeySize is the size of the key that bodies are encrypted with.
const KeySize = 32

// keyID tells keys apart.
func keyID(key []byte) []byte {
	sum := sha256.Sum256(append([]byte("genkan history key id\x00"), key...))
	return sum[:keyIDSize]
}

// sealer encrypts the bodies of a segment, with a key that only this segment has. The
// nonce of a body is the position of its frame.
type sealer struct{ aead cipher.AEAD }

func newSealer(key, salt []byte) (*sealer, error) {
	derived, err := hkdf.Key(sha256.New, key, salt, "genkan history bodies", KeySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead}, err
}

func nonce(at int64) []byte {
	n := make([]byte, 12) //nolint:mnd // the nonce of GCM
	binary.LittleEndian.PutUint64(n, uint64(at))
	return n
}

// Bodies are what was sent and answered. Sent and Answered are what the server got and
// returned; they are kept for replaying a call and never shown. Trace is what workflows
// did to the call, in a form of their own.
type Bodies struct {
	Request, Response []byte
	Sent, Answered    []byte
	Trace             []byte
}

// maxBody is how much of a body is kept. A trace that is longer than MaxTrace is not kept.
const maxBody, MaxTrace = 64 << 10, 64 << 10

// The encoding of bodies is a byte that tells which of Sent and Answered equal Request
// and Response and whether there is a Trace, and the other bodies with their lengths plus
// one; zero is a body that is absent.
const (
	sameSent = 1 << iota
	sameAnswered
	hasTrace
)

func appendBodies(b []byte, bodies *Bodies) []byte {
	at := len(b)
	b = append(b, 0)
	add := func(body []byte) {
		if body == nil {
			b = append(b, 0)
			return
		}
		b = binary.AppendUvarint(b, uint64(len(body))+1)
		b = append(b, body...)
	}
	add(bodies.Request)
	add(bodies.Response)
	if bodies.Sent != nil && same(bodies.Sent, bodies.Request) {
		b[at] |= sameSent
	} else {
		add(bodies.Sent)
	}
	if bodies.Answered != nil && same(bodies.Answered, bodies.Response) {
		b[at] |= sameAnswered
	} else {
		add(bodies.Answered)
	}
	if bodies.Trace != nil {
		b[at] |= hasTrace
		add(bodies.Trace)
	}
	return b
}

// same reports whether two bodies are equal. Most of them are one and the same.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || string(a) == string(b))
}

func decodeBodies(b []byte) (bodies Bodies, err error) {
	if len(b) == 0 {
		return bodies, errEntry
	}
	flags, b := b[0], b[1:]
	next := func() []byte {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n)+1 {
			err = errEntry
			return nil
		}
		if b = b[n:]; size == 0 {
			return nil
		}
		body := b[: size-1 : size-1]
		b = b[size-1:]
		return body
	}
	bodies.Request, bodies.Response = next(), next()
	if bodies.Sent = bodies.Request; flags&sameSent == 0 {
		bodies.Sent = next()
	}
	if bodies.Answered = bodies.Response; flags&sameAnswered == 0 {
		bodies.Answered = next()
	}
	if flags&hasTrace != 0 {
		bodies.Trace = next()
	}
	return bodies, err
}
