package script

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The pipes between genkan and a worker carry frames: the length of what follows in
// four bytes, the kind in one, and fields, each with its length in four bytes.

// protocol is the version of the frames. A worker says it in its hello: where a
// worker is started from a file, the file may have been replaced since.
const protocol = "genkan-worker 2"

// The kinds of frames that genkan sends.
const (
	frameJob     = 'j' // program's id, its code (nothing if known), context, vars, params, limits
	frameCompile = 'c' // source, limits, onlyCheck or nothing
	frameAnswer  = 'a' // id of the request, its error's text, its value
)

// The kinds of frames that a worker sends.
const (
	frameHello    = 'h' // protocol
	frameAsk      = 'q' // id of the request, operation, two arguments
	frameWait     = 'w' // how many answers it has read
	frameDone     = 'd' // returned, context, console, parts of the given context in both
	frameFailed   = 'f' // kind, message, line, column, console
	frameCompiled = 'p' // code
)

// maxFields is the number of fields of the longest frame.
const maxFields = 6

var errFrame = errors.New("a malformed frame")

type frame struct {
	kind   byte
	fields [maxFields][]byte
}

// number reads a field that holds a number.
func (f *frame) number(i int) int {
	if len(f.fields[i]) != 8 {
		return 0
	}
	return int(binary.LittleEndian.Uint64(f.fields[i])) //nolint:gosec // written by number
}

func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) } //nolint:gosec // read by number

// writeFrame writes a frame into a buffer, which the caller flushes.
func writeFrame(w *bufio.Writer, kind byte, fields ...[]byte) error {
	size := 1
	for _, field := range fields {
		size += 4 + len(field)
	}
	var head [5]byte
	binary.LittleEndian.PutUint32(head[:], uint32(size))
	head[4] = kind
	_, _ = w.Write(head[:])
	for _, field := range fields {
		binary.LittleEndian.PutUint32(head[:], uint32(len(field))) //nolint:gosec // payloads are bounded
		_, _ = w.Write(head[:4])
		if _, err := w.Write(field); err != nil {
			return err
		}
	}
	return nil
}

// readFrame reads a frame of at most limit bytes. The fields are not overwritten by
// the next one.
func readFrame(r *bufio.Reader, limit int) (frame, error) {
	var f frame
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	if size == 0 {
		return f, errFrame
	}
	if size > limit {
		return f, fmt.Errorf("a frame of %d bytes, which is more than %d", size, limit)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return f, io.ErrUnexpectedEOF
	}
	f.kind, body = body[0], body[1:]
	for i := 0; len(body) > 0; i++ {
		if i == maxFields || len(body) < 4 {
			return f, errFrame
		}
		n := int(binary.LittleEndian.Uint32(body))
		if n > len(body)-4 {
			return f, errFrame
		}
		f.fields[i], body = body[4:4+n:4+n], body[4+n:]
	}
	return f, nil
}

// tooDeep reports whether arrays and objects of a JSON text nest deeper than limit. It
// does not check the text.
func tooDeep(text []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}
