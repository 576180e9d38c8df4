package events

import (
	"slices"
	"time"

	"genkan/internal/gateway"
)

// Message is an event as a reader gets it.
type Message struct {
	ID, Name string
	// Data is the event as a JSON object on one line. Readers share it.
	Data []byte
}

// Subscriber is a reader's position in the ring of a Hub. It holds nothing that must
// be released. Its methods must not be called at the same time.
type Subscriber struct {
	hub    *Hub
	who    Reader
	topics []Topic
	// may reports whether the reader may use a server; nil if it may use all.
	may func(server string) bool
	// next is the number of the next event to read.
	next uint64
	// foreign is set when the reader resumes from an event of another process, and has
	// not been told yet that it missed events.
	foreign bool
}

// Subscribe returns a Subscriber for the events of some topics that follow the event
// with the id after. If after is empty, it gets the events from now on.
func (h *Hub) Subscribe(who gateway.Identity, topics []Topic, after string) *Subscriber {
	h.read.Store(time.Now().UnixNano())
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Subscriber{hub: h, who: Reader{Identity: who}, topics: topics, next: h.last + 1}
	if after == "" {
		return s
	}
	if number, ok := h.parseID(after); ok {
		s.next = number + 1
	} else {
		s.foreign = true
	}
	return s
}

// In sets the language of messages, which is English unless it is set, and returns s.
func (s *Subscriber) In(language string) *Subscriber {
	s.who.Language = language
	return s
}

// Only limits the events about servers to those that the reader may use, and returns s.
// It is asked at each such event: what a reader may use can change while it reads.
func (s *Subscriber) Only(may func(server string) bool) *Subscriber {
	s.may = may
	return s
}

// Position returns the id to resume from after the last call of Next.
func (s *Subscriber) Position() string { return s.hub.id(s.next - 1) }

// Ready returns a channel that is closed when Next may have events.
func (s *Subscriber) Ready() <-chan struct{} {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.foreign || s.next <= h.last {
		ready := make(chan struct{})
		close(ready)
		return ready
	}
	if h.wake == nil {
		h.wake = make(chan struct{})
	}
	return h.wake
}

// Next returns the events that are ready, at most about limit bytes of them. It does
// not wait.
func (s *Subscriber) Next(limit int) []Message {
	s.hub.read.Store(time.Now().UnixNano())
	var all []Message
	for size := 0; size < limit; {
		m, ok := s.one()
		if !ok {
			break
		}
		if len(m.Data) > 0 {
			all = append(all, m)
			size += len(m.Data)
		}
	}
	return all
}

// one returns the next event. It reports false if there is none. The message has no
// data if the event is hidden from the reader.
func (s *Subscriber) one() (Message, bool) {
	h := s.hub
	h.mu.Lock()
	if s.foreign {
		s.foreign = false
		h.mu.Unlock()
		return s.dropped(-1), true
	}
	for s.next <= h.last {
		if s.next < h.oldest() {
			missed := h.last - s.next + 1
			s.next = h.last + 1
			h.mu.Unlock()
			return s.dropped(int64(missed)), true //nolint:gosec // a process has fewer events
		}
		number, e := s.next, h.slot(s.next)
		if !s.sees(&e.Event) {
			s.next++
			continue
		}
		if e.skipped {
			s.next = h.last + 1
			h.mu.Unlock()
			return s.dropped(-1), true
		}
		name, server := e.Name, e.Server
		h.mu.Unlock()
		if server != "" && s.may != nil && !s.may(server) {
			s.next++
			return Message{}, true
		}
		data, ok := h.encode(number, s.who)
		if ok {
			s.next++
			return Message{h.id(number), name, data}, true
		}
		h.mu.Lock() // it was lapped meanwhile
	}
	h.mu.Unlock()
	return Message{}, false
}

// sees reports whether an event is of a topic of the reader, and for the reader.
func (s *Subscriber) sees(e *Event) bool {
	return slices.Contains(s.topics, e.Topic) &&
		(e.Client == "" || e.Client == s.who.ClientID || s.who.Admin)
}

// dropped returns the event that tells a reader how many events it missed; -1 if that
// is not known. The next event is the newest.
func (s *Subscriber) dropped(missed int64) Message {
	id := s.Position()
	return Message{id, Dropped, encode(message{ID: id, Name: Dropped, Time: time.Now().UTC(), Data: struct {
		Missed int64 `json:"missed"`
	}{missed}})}
}
