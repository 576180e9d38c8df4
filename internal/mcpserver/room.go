package mcpserver

import (
	"errors"
	"io"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// room is what a request's body takes of the bytes that may be in flight.
type room struct {
	budget *gateway.Budget
	taken  int64
}

const (
	// leastRoom is what a body gets before any of it has come, in bytes; most
	// are smaller. For more it must show that it is there: no other call may be
	// refused because of what somebody only claims to send.
	leastRoom = 64 << 10
	// bodyPatience is how long a body may take to come.
	bodyPatience = 2 * time.Minute
	// lastBodyPatience is how long one that was refused is read on.
	lastBodyPatience = 2 * time.Second
)

var errNoRoom = &gateway.Error{
	Code: gateway.CodeLimited, RetryAfter: time.Second,
	Message: "too many large calls are under way; try again in a moment",
}

// read reads a whole body. size is its Content-Length, or -1.
func (r *room) read(body io.Reader, size int64) ([]byte, error) {
	if size > jsonrpc.MaxMessage {
		return nil, jsonrpc.ErrTooLarge
	}
	if size >= 0 && size <= leastRoom {
		if !r.take(size) {
			return nil, errNoRoom
		}
		return jsonrpc.ReadBody(body, size)
	}
	if !r.take(leastRoom) {
		return nil, errNoRoom
	}
	buf := make([]byte, 0, leastRoom)
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
			if buf, err = r.grow(buf, size); err != nil {
				return nil, err
			}
		}
	}
}

// grow doubles a full buffer, up to what the body can have.
func (r *room) grow(buf []byte, size int64) ([]byte, error) {
	if size < 0 {
		size = jsonrpc.MaxMessage + 1 // one more tells that it is too large
	}
	larger := min(2*int64(cap(buf)), size)
	if !r.take(larger - int64(cap(buf))) {
		return nil, errNoRoom
	}
	return append(make([]byte, 0, larger), buf...), nil
}

func (r *room) take(n int64) bool {
	ok := r.budget.Take(n)
	if ok {
		r.taken += n
	}
	return ok
}

func (r *room) leave() { r.budget.Give(r.taken) }
