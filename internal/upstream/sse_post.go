package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"genkan/internal/gateway"
)

// The beginnings of genkan's own messages, as package jsonrpc writes them.
const (
	beginsInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"`
	beginsWithID      = `{"jsonrpc":"2.0","id":`
	methodFollows     = `,"method":"`
)

// write posts the first message of a batch in the background: a server may take
// long to accept it.
func (w *sseWire) write(batch []byte) (int, error) {
	line, _, _ := bytes.Cut(batch, []byte{'\n'})
	message := bytes.Clone(line) // the batch is written over
	switch id, isCall := requestID(message); {
	case isCall:
		w.postCall(id, message)
	case bytes.HasPrefix(message, []byte(beginsInitialized)):
		// No other message may overtake this one.
		if err := w.postAside(message); err != nil {
			return 0, err
		}
	case !w.beside(w.asides, func() {
		if err := w.postAside(message); err != nil {
			w.conn.log.Debug("a message was not accepted", "error", err)
		}
	}):
		w.conn.log.Debug("a message was left out: too many are waiting to be accepted")
	}
	return len(line) + 1, nil
}

// beside runs post in a goroutine that end waits for. It reports false if too
// many posts are in flight.
func (w *sseWire) beside(places chan struct{}, post func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return true // whoever waits is told that the connection has ended
	}
	select {
	case places <- struct{}{}:
	default:
		return false
	}
	w.posts.Go(func() {
		defer func() { <-places }()
		post()
	})
	return true
}

// requestID returns the id of one of genkan's requests. It reports false for
// answers, which have the server's id.
func requestID(message []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(message, []byte(beginsWithID))
	if !ok {
		return 0, false
	}
	end := bytes.IndexByte(rest, ',')
	if end < 0 || !bytes.HasPrefix(rest[end:], []byte(methodFollows)) {
		return 0, false
	}
	return parseID(rest[:end])
}

// postCall posts a request. If the server does not accept it, the request fails.
func (w *sseWire) postCall(id uint64, message []byte) {
	waiting := w.conn.waiter(id)
	if waiting == nil {
		return // given up before it was sent
	}
	begun := w.beside(w.calls, func() {
		ctx, cancel := context.WithCancel(w.life)
		defer cancel()
		defer context.AfterFunc(waiting, func() { time.AfterFunc(lateAccept, cancel) })()
		if err := w.post(ctx, message); err != nil && ctx.Err() == nil {
			w.conn.fail(id, err)
			w.endIfLost(err)
		}
	})
	if !begun {
		w.conn.fail(id, &gateway.Error{
			Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second,
			Message: "server %s does not read what it is sent; `genkan servers %s` shows its last output",
			Values:  []any{w.name, w.name},
		})
	}
}

// postAside posts a notification or an answer.
func (w *sseWire) postAside(message []byte) error {
	ctx, cancel := context.WithTimeout(w.life, acceptTimeout)
	defer cancel()
	err := w.post(ctx, message)
	if err != nil {
		w.endIfLost(err)
	}
	return err
}

// endIfLost ends the connection if the server has forgotten it or cannot be
// reached, so that the supervisor reconnects.
func (w *sseWire) endIfLost(err error) {
	var signIn *signInError
	switch e := gateway.AsError(err); {
	case errors.As(err, &signIn): // the connection is none the worse
	case errors.Is(err, errSessionLost) && w.trusted.Load():
		w.conn.die(&gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "it has forgotten the connection, as servers do that were restarted",
		})
	case e.Unsent && e.Code == gateway.CodeUnavailable:
		w.conn.die(err)
	}
}

// post sends a message. Its answer comes on the stream.
func (w *sseWire) post(ctx context.Context, message []byte) error {
	resp, err := w.transport.RoundTrip(w.request(ctx, http.MethodPost, w.endpoint, message)) //nolint:bodyclose // drain closes it
	if err != nil {
		return wireError(w.name, w.endpoint, err)
	}
	defer drain(resp.Body)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		w.trusted.Store(true)
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	err = statusOf(w.name, resp, true, text)
	if !errors.Is(err, errSessionLost) && resp.StatusCode != http.StatusGone {
		return err
	}
	if !w.trusted.Load() {
		return sessionForgotten(w.name)
	}
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: errSessionLost, Unsent: true,
		Message: "server %s has forgotten the connection, as servers do that were restarted; the call was not sent",
		Values:  []any{w.name},
	}
}
