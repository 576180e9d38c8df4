package mcpserver

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// openAfter is how long a call may take before its answer becomes a stream that
	// can be resumed. Most calls are faster and get one JSON body, which is cheaper
	// for both sides. For slower calls the difference does not matter.
	openAfter = 50 * time.Millisecond
	// retryAfter is how long a client is asked to wait before it reconnects.
	retryAfter = time.Second
)

// resume continues a stream whose connection broke.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, sess *session, lastEvent string) {
	j, me, number, ok := sess.resume(lastEvent)
	if !ok {
		s.plainError(w, r, http.StatusBadRequest, invalidRequest(
			"there is no stream to resume after this Last-Event-ID: its time is over, genkan was restarted, or it is another session's. What was called may have been carried out; call again only if that does no harm"))
		return
	}
	delivered := j.follow(w, r.Context().Done(), me, number, func() bool { return s.recognizes(r) })
	j.leave(me, delivered)
}

// follow writes the events after a number, and later ones as they come, until the
// answer. It reports whether the client may have received all of them.
func (j *journal) follow(w http.ResponseWriter, gone <-chan struct{}, me *reader, number int, allowed func() bool) bool {
	startStream(w)
	alive := time.NewTicker(keepAliveEvery)
	defer alive.Stop()
	events, ended := j.after(number)
	first := ""
	switch {
	case j.sess.primes():
		// A resumed stream sends it too: the connection may break again before the
		// first event.
		first = "id: " + j.eventID(number) + "\nretry: " + strconv.FormatInt(retryAfter.Milliseconds(), 10) + "\ndata: \n\n"
	case len(events) == 0:
		first = keepAliveComment
	}
	for allowed() {
		if err := j.write(w, first, events); err != nil {
			return false
		}
		if len(events) > 0 {
			number = events[len(events)-1].number
		}
		first = ""
		select {
		case <-gone:
			return false
		case <-me.taken:
			return false
		default:
		}
		if ended {
			return true
		}
		select {
		case <-me.wake:
		case <-alive.C:
			first = keepAliveComment
		case <-gone:
		case <-me.taken:
		}
		events, ended = j.after(number)
	}
	return false
}

const keepAliveComment = ": keep-alive\n\n"

// write writes events without copying large ones. A client that does not read
// must not keep them in memory for ever.
func (j *journal) write(w http.ResponseWriter, first string, events []journalEvent) error {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if _, err := io.WriteString(w, first); err != nil {
		return err
	}
	for _, e := range events {
		if _, err := io.WriteString(w, "event: message\nid: "+j.eventID(e.number)+"\ndata: "); err != nil {
			return err
		}
		if _, err := w.Write(e.message); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n\n"); err != nil {
			return err
		}
	}
	if err := control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil // it comes all at once, then
}

// Orphans returns the number of streams that wait for their clients to come back.
func (s *Server) Orphans() int { return int(s.orphans.Load()) }
