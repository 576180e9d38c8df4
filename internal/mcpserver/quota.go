package mcpserver

import (
	"errors"
	"io"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// account counts bytes against a client's share of the memory.
type account struct {
	shares *gateway.Shares
	client string
}

func (a account) take(n int) bool { return a.shares.Take(a.client, int64(n)) }
func (a account) give(n int)      { a.shares.Give(a.client, int64(n)) }

// account returns the account of a client.
func (s *Server) account(client string) account { return account{s.opt.Budget, client} }

// quota is the part of its client's share that a request has reserved.
type quota struct {
	account
	taken int
}

const (
	// firstQuota is reserved for a body before it is read, in bytes. Most bodies are
	// smaller. More is reserved as data arrives, regardless of the Content-Length.
	firstQuota = 64 << 10
	// bodyPatience is how long reading a body may take.
	bodyPatience = 2 * time.Minute
	// lastBodyPatience is how long the rest of a refused body is read.
	lastBodyPatience = 2 * time.Second
)

// read reads a whole body. size is its Content-Length, or -1.
func (q *quota) read(body io.Reader, size int64) ([]byte, error) {
	if size > jsonrpc.MaxMessage {
		return nil, jsonrpc.ErrTooLarge
	}
	if size >= 0 && size <= firstQuota {
		if !q.take(int(size)) {
			return nil, gateway.ErrShareUsedUp
		}
		return jsonrpc.ReadBody(body, size)
	}
	if !q.take(firstQuota) {
		return nil, gateway.ErrShareUsedUp
	}
	buf := make([]byte, 0, firstQuota)
	for {
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > jsonrpc.MaxMessage:
			return nil, jsonrpc.ErrTooLarge
		case errors.Is(err, io.EOF) && int64(len(buf)) < size:
			return nil, io.ErrUnexpectedEOF
		case errors.Is(err, io.EOF) || int64(len(buf)) == size:
			return buf, nil
		case err != nil:
			return nil, err
		}
		if len(buf) == cap(buf) {
			if buf, err = q.grow(buf, size); err != nil {
				return nil, err
			}
		}
	}
}

// grow doubles a full buffer, up to the size of the body.
func (q *quota) grow(buf []byte, size int64) ([]byte, error) {
	if size < 0 {
		size = jsonrpc.MaxMessage + 1 // one more byte shows that it is too large
	}
	larger := int(min(2*int64(cap(buf)), size))
	if !q.take(larger - cap(buf)) {
		return nil, gateway.ErrShareUsedUp
	}
	return append(make([]byte, 0, larger), buf...), nil
}

func (q *quota) take(n int) bool {
	ok := q.account.take(n)
	if ok {
		q.taken += n
	}
	return ok
}

// release gives back the reserved bytes.
func (q *quota) release() {
	q.give(q.taken)
	q.taken = 0
}
