package events

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

// Topic groups events. Readers choose the topics that they follow.
type Topic string

// The topics.
const (
	Calls     Topic = "calls"
	Servers   Topic = "servers"
	Tools     Topic = "tools"
	Config    Topic = "config"
	Progress  Topic = "progress"
	Workflows Topic = "workflows"
	Approvals Topic = "approvals"
	Items     Topic = "items"
)

// Topics returns all topics.
func Topics() []Topic {
	return []Topic{Calls, Servers, Tools, Config, Progress, Workflows, Approvals, Items}
}

// Dropped is the name of the event that tells a reader that it has missed events.
const Dropped = "dropped"

// Event is something that happened.
type Event struct {
	Topic Topic
	// Name says what happened, such as "server.state".
	Name string
	// Client is the client whose event this is. Only that client and administrators
	// get the event. It is empty for an event for everyone.
	Client string
	// Server is the server the event is about; empty for none. Readers that may not use
	// that server do not get the event.
	Server string
	// Data is encoded as JSON when the event is first delivered, so nothing in it may
	// change after Publish. It may implement ReaderData.
	Data any
}

// ReaderData is implemented by data that readers see differently.
type ReaderData interface {
	// ForReader returns the data for a reader; nil hides the event from it. The result
	// may depend on Admin and Language only, because readers that agree in them share
	// the encoding. It is called once for each pair of values, after Publish.
	ForReader(r Reader) any
}

// Reader is who reads events.
type Reader struct {
	gateway.Identity

	// Language is the language of messages, as lang.Parse knows it; empty means English.
	Language string
}

// ForAdmins returns data that only administrators get.
func ForAdmins(data any) ReaderData { return adminData{data} }

type adminData struct{ data any }

func (d adminData) ForReader(r Reader) any {
	if !r.Admin {
		return nil
	}
	return d.data
}

const (
	// Size is the usual number of events that a Hub keeps.
	Size = 4096
	// wakeDelay is the time between an event and the delivery to readers that wait, so
	// that the events of a burst are delivered together.
	wakeDelay = 5 * time.Millisecond
	// absence is how long nobody must have read before events may be skipped. An open
	// stream reads more often, and one that broke is opened again sooner.
	absence = time.Minute
)

// Hub keeps the latest events. All methods may be called at the same time.
type Hub struct {
	// run identifies the process in the ids of events.
	run string

	mu   sync.Mutex
	ring []entry
	// last is the number of the newest event; 0 if there is none.
	last uint64
	// wake is closed to wake the readers that wait; nil if none does. waking is set
	// while timer runs, which closes it.
	wake   chan struct{}
	waking bool
	timer  *time.Timer
	// read is when a reader was last here, in nanoseconds since 1970; 0 for never.
	read atomic.Int64

	// encoding is held while an event is encoded, so that readers do not encode the
	// same event twice. Publish never takes it.
	encoding sync.Mutex
}

// entry is an event in the ring.
type entry struct {
	Event
	at int64 // nanoseconds since 1970
	// skipped is set for an event that was not kept. Only its topic is known.
	skipped bool
	// encoded is set when the event was delivered for the first time.
	encoded encodings
}

// encodings are the JSON of an event for each audience that it was delivered to; empty
// if the event is hidden from that one. Only the holder of Hub.encoding uses them.
type encodings map[audience][]byte

// audience are the readers who get the same data.
type audience struct {
	admin    bool
	language string
}

// NewHub returns a Hub that keeps size events.
func NewHub(size int) *Hub {
	h := &Hub{run: strings.ToLower(rand.Text()[:10]), ring: make([]entry, size)}
	h.timer = time.AfterFunc(time.Hour, h.wakeReaders)
	h.timer.Stop()
	return h
}

// Publish adds an event. A nil Hub ignores it.
func (h *Hub) Publish(e Event) {
	if h == nil {
		return
	}
	at := time.Now().UnixNano()
	h.mu.Lock()
	h.last++
	*h.slot(h.last) = entry{Event: e, at: at}
	if h.wake != nil && !h.waking {
		h.waking = true
		h.timer.Reset(wakeDelay)
	}
	h.mu.Unlock()
}

// Followed reports whether anybody has read events lately. A publisher of events that
// cost something to make calls Skip if nobody has.
func (h *Hub) Followed() bool {
	return h != nil && time.Now().UnixNano()-h.read.Load() < int64(absence)
}

// Skip takes the place of an event that was not made because nobody follows. A reader
// that resumes from before it is told that it has missed events.
func (h *Hub) Skip(topic Topic) {
	if h == nil {
		return
	}
	at := time.Now().UnixNano()
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := h.slot(h.last); last.skipped && last.Topic == topic && last.at > h.read.Load() {
		return // one place is enough for many that no reader has passed
	}
	h.last++
	*h.slot(h.last) = entry{Event: Event{Topic: topic}, at: at, skipped: true}
}

func (h *Hub) wakeReaders() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.wake)
	h.wake, h.waking = nil, false
}

// slot returns the place of an event in the ring. Called with mu held.
func (h *Hub) slot(number uint64) *entry { return &h.ring[number%uint64(len(h.ring))] }

// oldest returns the number of the oldest event that is kept. Called with mu held.
func (h *Hub) oldest() uint64 {
	if size := uint64(len(h.ring)); h.last > size {
		return h.last - size + 1
	}
	return 1
}

func (h *Hub) id(number uint64) string { return h.run + "-" + strconv.FormatUint(number, 10) }

// parseID returns the number in the id of an event. It reports false for an id of
// another process. Called with mu held.
func (h *Hub) parseID(id string) (number uint64, ok bool) {
	run, rest, _ := strings.Cut(id, "-")
	number, err := strconv.ParseUint(rest, 10, 64)
	return number, err == nil && run == h.run && number <= h.last
}

// encode returns the JSON of an event for a reader; empty if the event is hidden from
// it. It reports false if the event is no longer kept.
func (h *Hub) encode(number uint64, r Reader) (data []byte, ok bool) {
	h.encoding.Lock()
	defer h.encoding.Unlock()
	h.mu.Lock()
	e, ok := *h.slot(number), number >= h.oldest()
	h.mu.Unlock()
	if !ok {
		return nil, false
	}
	value := e.Data
	special, differs := value.(ReaderData)
	var whose audience // of data that is the same for all
	if differs {
		whose = audience{r.Admin, r.Language}
	}
	if data, ok = e.encoded[whose]; ok {
		return data, true
	}
	if differs {
		value = special.ForReader(r)
	}
	if !differs || value != nil {
		data = encode(message{h.id(number), e.Topic, e.Name, time.Unix(0, e.at).UTC(), e.Client, value})
	}
	known := e.encoded
	if known == nil {
		known = encodings{}
	}
	known[whose] = data
	h.mu.Lock()
	if number >= h.oldest() {
		h.slot(number).encoded = known
	}
	h.mu.Unlock()
	return data, true
}

// message is the JSON of an event.
type message struct {
	ID     string    `json:"id"`
	Topic  Topic     `json:"topic,omitempty"`
	Name   string    `json:"name"`
	Time   time.Time `json:"time"`
	Client string    `json:"client,omitempty"`
	Data   any       `json:"data,omitempty"`
}

func encode(m message) []byte {
	m.Time = m.Time.Truncate(time.Millisecond)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(m) != nil { // only Data can fail
		m.Data = nil
		out.Reset()
		_ = encoder.Encode(m)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
