package jsonrpc

import (
	"bytes"
	"io"
)

// pieces gathers a long text without the copies that a growing buffer makes:
// it is joined once, so a text costs at most twice its size, and one that is
// too long never more than the limit.
type pieces struct {
	list  [][]byte
	total int
	limit int
	// tail is the end of a text that is too long.
	tail []byte
}

// tailSize is how much of the end is kept: an id may stand there.
const tailSize = 64

// add copies part. It reports false when the text has become too long; the
// beginning and the end are kept.
func (p *pieces) add(part []byte) bool {
	p.total += len(part)
	if p.total <= p.limit {
		if len(part) > 0 {
			p.list = append(p.list, bytes.Clone(part))
		}
		return true
	}
	if len(p.list) > 1 {
		clear(p.list[1:])
		p.list = p.list[:1]
	}
	p.tail = append(p.tail, part[max(len(part)-tailSize, 0):]...)
	p.tail = append(p.tail[:0], p.tail[max(len(p.tail)-tailSize, 0):]...)
	return false
}

// ends are the beginning and the end of a text that was too long.
func (p *pieces) ends() []byte {
	var first []byte
	if len(p.list) > 0 {
		first = p.list[0]
	}
	return append(first[:len(first):len(first)], p.tail...)
}

func (p *pieces) join() []byte {
	if len(p.list) == 1 {
		return p.list[0]
	}
	return bytes.Join(p.list, nil)
}

// readAll reads up to limit bytes.
func readAll(r io.Reader, limit int) ([]byte, error) {
	p := pieces{limit: limit}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if !p.add(buf[:n]) {
			return nil, ErrTooLarge
		}
		switch err {
		case nil:
		case io.EOF:
			return p.join(), nil
		default:
			return nil, err
		}
	}
}
