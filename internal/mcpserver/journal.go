package mcpserver

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// A legacy client whose connection breaks has not canceled its call, and may come
// back for the messages that it missed. So the messages of a call's stream are
// written into a journal, and a connection only reads the journal: first the POST
// that made the call, then each GET that names the last event it has seen.

const (
	// resumePatience is how long a stream waits for its client to come back. After
	// that, a call that is still in flight is canceled, because no client wants its
	// answer.
	resumePatience = 5 * time.Minute
	// deliveredFor is how long a stream is kept after it was written to its end. A
	// network that breaks silently may lose data that was already written.
	deliveredFor = time.Minute
	// mostOrphans is how many streams of a session may have no reader.
	mostOrphans = 32
	// mostKept and maxBacklog bound the droppable events that a stream keeps: their
	// number and their bytes.
	mostKept = 2000
	// undeliveredBytes and deliveredBytes bound the bytes that the streams of ended
	// calls keep in all. Delivered streams are kept only as a precaution.
	undeliveredBytes, deliveredBytes = 64 << 20, 8 << 20
	// journalCost is counted for the memory of a journal beside its messages.
	journalCost = 1 << 10
)

// journal holds the messages of a call's stream. The session's mu guards its
// fields.
type journal struct {
	server *Server
	sess   *session
	number int
	cancel context.CancelCauseFunc
	// posted is closed when the connection that made the call is no longer written
	// to.
	posted chan struct{}
	// stored is closed when the answer is in the journal and no connection reads it.
	// From then on its bytes are counted here; before that they count with its call.
	stored chan struct{}

	events []journalEvent
	last   int // number of the last event
	// droppable is the number of events that may be dropped when there are too many,
	// and size is their bytes.
	droppable, size int
	ended           bool // the answer is the last event
	// reader is the connection that reads; nil if there is none. Then the stream is
	// an orphan.
	reader *reader
	// waiting is set while the stream waits for its client, until expiry. round
	// numbers these waits. delivered reports whether the client may have received
	// everything.
	waiting, delivered bool
	expiry             *time.Timer
	round              int
	// counted are the bytes of events that count against the client's memory for
	// calls. When the call has ended, all taken bytes count against kept instead.
	counted int
	kept    *gateway.Shares
	taken   int64
}

// journalEvent is one event of a stream.
type journalEvent struct {
	number  int
	message []byte
	// required events must not be dropped: open questions, and the answer.
	required bool
}

// reader is the connection that a stream is written to.
type reader struct {
	wake  chan struct{}
	taken chan struct{} // closed when a new reader takes over
}

func newReader() *reader { return &reader{wake: make(chan struct{}, 1), taken: make(chan struct{})} }

// primes reports whether the client expects a stream to begin with an empty event
// that carries the stream's id. Clients of older versions treat an event without
// data as a broken message.
func (s *session) primes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version == primingVersion
}

const primingVersion = "2025-11-25"

// newJournal begins the stream of a call and returns its first reader.
func (s *session) newJournal(server *Server, cancel context.CancelCauseFunc) (*journal, *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastJournal++
	j := &journal{
		server: server, sess: s, number: s.lastJournal, cancel: cancel,
		posted: make(chan struct{}), stored: make(chan struct{}), reader: newReader(),
	}
	if s.journals == nil {
		s.journals = map[int]*journal{}
	}
	s.journals[j.number] = j
	return j, j.reader
}

// eventID returns the id of a position in the stream. It contains the session's
// internal name, which changes with a restart, so that events of a former process
// are not mistaken for events of this one.
func (j *journal) eventID(number int) string {
	return j.sess.known.Load().ID + "-" + strconv.Itoa(j.number) + "-" + strconv.Itoa(number)
}

// resume takes over the stream of an event. It reports false if this session has no
// such stream, even if another session has it.
func (s *session) resume(eventID string) (_ *journal, _ *reader, number int, ok bool) {
	parts := strings.Split(eventID, "-")
	if len(parts) != 3 || parts[0] != s.known.Load().ID {
		return nil, nil, 0, false
	}
	stream, err := strconv.Atoi(parts[1])
	number, err2 := strconv.Atoi(parts[2])
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.journals[stream]
	if err != nil || err2 != nil || j == nil || number < 0 || number > j.last {
		return nil, nil, 0, false
	}
	if j.reader != nil {
		close(j.reader.taken) // the client knows best which connection is broken
	}
	j.adopt()
	j.reader = newReader()
	return j, j.reader, number, true
}

// hasEvents reports whether the stream has an event with an id.
func (j *journal) hasEvents() bool {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	return j.last > 0
}

// add appends a message to the stream. It reports false if no client can read it
// any more.
func (j *journal) add(message []byte, required bool) (number int, ok bool) {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	if j.ended || !j.listed() || !j.sess.bytes.take(len(message)) {
		return 0, false
	}
	j.counted += len(message)
	j.put(message, required)
	if !required {
		j.trim(len(message))
	}
	return j.last, true
}

// end appends the answer to the stream. It reports false if no client can read it
// any more.
func (j *journal) end(answer []byte) bool {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	if !j.listed() {
		return false
	}
	j.put(answer, true)
	j.ended = true
	if j.reader == nil {
		close(j.stored)
		if !j.keep(j.server.undelivered) {
			j.drop()
		}
	}
	return true
}

func (j *journal) put(message []byte, required bool) {
	j.last++
	j.events = append(j.events, journalEvent{j.last, message, required})
	if j.reader != nil {
		signal(j.reader.wake)
	}
}

// closeQuestion lets an answered question be dropped like any other event.
func (j *journal) closeQuestion(number int) {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	for i := range j.events {
		if e := &j.events[i]; e.number == number && e.required {
			e.required = false
			j.trim(len(e.message))
		}
	}
}

// trim counts a droppable event. If there are too many, it drops the oldest quarter
// at once, so that not every event costs a pass.
func (j *journal) trim(size int) {
	j.droppable++
	j.size += size
	if j.droppable <= mostKept && j.size <= maxBacklog {
		return
	}
	j.events = slices.DeleteFunc(j.events, func(e journalEvent) bool {
		if e.required || e.number == j.last || j.droppable <= mostKept*3/4 && j.size <= maxBacklog*3/4 {
			return false
		}
		j.droppable--
		j.size -= len(e.message)
		j.releaseBytes(len(e.message))
		return true
	})
}

// releaseBytes gives back the memory of events.
func (j *journal) releaseBytes(n int) {
	j.sess.bytes.give(min(n, j.counted))
	j.counted -= min(n, j.counted)
}

// after returns the events after a number, and whether the stream has ended.
func (j *journal) after(number int) (events []journalEvent, ended bool) {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	first, _ := slices.BinarySearchFunc(j.events, number+1, func(e journalEvent, n int) int { return e.number - n })
	return slices.Clone(j.events[first:]), j.ended
}

// leave detaches a reader. Another reader has taken its place, the stream is
// delivered, or the connection is broken and the client may come back.
func (j *journal) leave(r *reader, delivered bool) {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	if j.reader != r {
		return
	}
	j.reader = nil
	if j.ended && j.kept == nil { // for the first time
		close(j.stored)
	}
	if j.last == 0 && j.sess.version != primingVersion {
		j.drop() // the client has no id to come back with
		return
	}
	j.orphan(delivered)
}

// abandon ends a stream that will have no answer.
func (j *journal) abandon() {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	if j.ended || !j.listed() {
		return
	}
	if j.reader != nil {
		close(j.reader.taken)
		j.reader = nil
	}
	j.drop()
}

// The following methods are called with mu held.

// listed reports whether the stream can still be read.
func (j *journal) listed() bool { return j.sess.journals[j.number] == j }

// orphan makes the stream wait for its client to come back.
func (j *journal) orphan(delivered bool) {
	j.delivered = delivered
	patience, shares := resumePatience, j.server.undelivered
	if delivered {
		patience, shares = deliveredFor, j.server.delivered
	}
	if j.sess.ended || j.ended && !j.keep(shares) {
		j.drop()
		return
	}
	j.waiting = true
	j.server.orphans.Add(1)
	round := j.round
	j.expiry = time.AfterFunc(patience, func() { j.expire(round) })
	if least := j.sess.leastOrphan(); least != nil {
		least.giveUp(gateway.Errorf(gateway.CodeLimited,
			"the client did not come back for the answer, and more than %d others wait for it", mostOrphans))
	}
}

// leastOrphan returns the stream to drop when too many wait: the oldest delivered
// one, or else the oldest. It returns nil if not too many wait.
func (s *session) leastOrphan() (least *journal) {
	count := 0
	for _, j := range s.journals {
		if !j.waiting {
			continue
		}
		count++
		if least == nil || j.delivered && !least.delivered || j.delivered == least.delivered && j.number < least.number {
			least = j
		}
	}
	if count <= mostOrphans {
		return nil
	}
	return least
}

func (j *journal) expire(round int) {
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	if j.waiting && j.round == round {
		j.giveUp(gateway.Errorf(gateway.CodeTimeout, "the client did not come back for the answer within %s", resumePatience))
	}
}

// giveUp drops an orphan and cancels its call.
func (j *journal) giveUp(why *gateway.Error) {
	if !j.ended {
		why.Answered = true // the server is not at fault
		j.cancel(why)
	}
	j.drop()
}

// adopt ends the wait of an orphan.
func (j *journal) adopt() {
	if j.waiting {
		j.waiting = false
		j.round++
		j.expiry.Stop()
		j.server.orphans.Add(-1)
	}
}

// keep counts the bytes of a stream whose call has ended.
func (j *journal) keep(shares *gateway.Shares) bool {
	if j.kept != nil {
		return true
	}
	size := int64(journalCost)
	for _, e := range j.events {
		size += int64(len(e.message))
	}
	if shares == j.server.delivered && size > maxBacklog || !shares.Take(j.sess.owner, size) {
		return false
	}
	j.kept, j.taken = shares, size
	j.releaseBytes(j.counted)
	return true
}

// drop removes the stream.
func (j *journal) drop() {
	j.adopt()
	delete(j.sess.journals, j.number)
	if len(j.sess.journals) == 0 {
		j.sess.journals = nil
	}
	if j.kept != nil {
		j.kept.Give(j.sess.owner, j.taken)
		j.kept = nil
	}
	j.releaseBytes(j.counted)
	j.events = nil
}
