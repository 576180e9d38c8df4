package api

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/lang"
)

// eventMedia is the media type of server-sent events.
const eventMedia = "text/event-stream"

const (
	// heartbeat is the time between comments on a stream without events.
	heartbeat = 15 * time.Second
	// eventBatch is about how many bytes of events are written at once.
	eventBatch = 64 << 10
	// eventWriteTime is how long a client may take to read a batch.
	eventWriteTime = 30 * time.Second
	// mostEventStreams is how many streams of events a client may have open. One is
	// enough for all topics.
	mostEventStreams = 16
	// retryField asks clients to reconnect after a second.
	retryField = "retry: 1000\n"
)

// eventStreams counts the open streams of events.
type eventStreams struct {
	mu       sync.Mutex
	byClient map[string]int
	drain    chan struct{}
	draining bool
}

// open counts a stream of a client until closeStream is called.
func (s *eventStreams) open(id string) (closeStream func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return nil, &gateway.Error{
			Code: gateway.CodeUnavailable, RetryAfter: time.Second,
			Message: "genkan is going down: no stream can be opened",
		}
	case s.byClient[id] >= mostEventStreams:
		return nil, &gateway.Error{
			Code: gateway.CodeLimited, RetryAfter: time.Minute,
			Message: "client %s has %d streams of events open, which is as many as it may have; close some, and follow several topics on one stream: /v1/events?topics=calls,servers",
			Values:  []any{id, mostEventStreams},
		}
	}
	s.byClient[id]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.byClient[id]--; s.byClient[id] == 0 {
			delete(s.byClient, id)
		}
	}, nil
}

// Drain ends the streams of events, which would stay open for ever. Other requests
// go on.
func (a *API) Drain() {
	s := a.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		s.draining = true
		close(s.drain)
	}
}

func (a *API) eventsRoute() route {
	return route{
		method: "GET", path: "/v1/events", who: forCallers, id: "events", summary: "Follow what happens",
		about: "Server-sent events: the stream stays open, and each event is an Event in its data. Its id and name are also the fields id and event. " +
			"A client resumes with the header Last-Event-ID, or after. If events are gone by then, or the client reads too slowly, it gets the event dropped, whose data says how many it missed (-1: unknown), and goes on with the newest. " +
			"Events of other clients, and what only administrators may know, are left out.",
		query: []query{
			{name: "topics", kind: "string", about: "Topics with commas between them: " + topicNames() + ". All unless said.", repeats: true},
			{name: "after", kind: "string", about: "The id of the last event that was received. The header Last-Event-ID comes first."},
			{name: "lang", kind: "string", about: "The language of messages, en or ja, for pages: EventSource sends the browser's Accept-Language, which need not be the page's."},
		},
		answer: client.Event{}, media: eventMedia, upkeep: true, serve: a.followEvents,
	}
}

func topicNames() string {
	var names []string
	for _, t := range events.Topics() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// parseTopics returns the topics of a query; all if it names none.
func parseTopics(values []string) ([]events.Topic, *gateway.Error) {
	var topics []events.Topic
	for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
		topic := events.Topic(strings.TrimSpace(name))
		switch {
		case topic == "":
		case !slices.Contains(events.Topics(), topic):
			return nil, refused(breaks("topics", "enum", map[string]any{"allowedValues": events.Topics()},
				gateway.Textf("there is no topic %q; the topics are %s", gateway.Short(string(topic)), topicNames())))
		default:
			topics = append(topics, topic)
		}
	}
	if topics == nil {
		topics = events.Topics()
	}
	return topics, nil
}

// followEvents serves a stream of events until the client leaves or does not read,
// its token is revoked, or the process shuts down.
func (a *API) followEvents(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	asked := r.URL.Query()
	topics, wrong := parseTopics(asked["topics"])
	if wrong != nil {
		a.fail(w, wrong)
		return
	}
	language := a.language()
	if name := asked.Get("lang"); name != "" {
		var ok bool
		if language, ok = lang.Parse(name); !ok {
			a.fail(w, refused(breaks("lang", "enum", map[string]any{"allowedValues": []string{lang.English.String(), lang.Japanese.String()}},
				gateway.Textf("lang must be en or ja, is %q", gateway.Short(name)))))
			return
		}
	}
	closeStream, err := a.streams.open(id.ClientID)
	if err != nil {
		a.fail(w, err)
		return
	}
	defer closeStream()
	h := w.Header()
	h.Set("Content-Type", eventMedia)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no") // nginx must pass events on at once
	if r.Method == http.MethodHead {
		return
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = asked.Get("after")
	}
	from := a.opt.Events.Subscribe(id, topics, after).In(language.String()).Only(func(server string) bool {
		return a.mayUse(id, server)
	})
	w.WriteHeader(http.StatusOK)
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	batch, quiet := []byte(retryField+"\n"), true
	for {
		for _, m := range from.Next(eventBatch) {
			batch = appendEvent(batch, m)
			quiet = false
		}
		if quiet {
			// An id without data is no event, but the client resumes from it.
			batch = append(append(append(batch, "id: "...), from.Position()...), "\n\n"...)
		}
		if a.opt.Recognizes != nil && !a.opt.Recognizes(r) || writeEvents(w, batch) != nil {
			return
		}
		batch, quiet = batch[:0], false
		select {
		case <-from.Ready():
		case <-alive.C:
			batch, quiet = append(batch, ": alive\n"...), true
		case <-a.streams.drain:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func appendEvent(batch []byte, m events.Message) []byte {
	batch = append(append(batch, "id: "...), m.ID...)
	batch = append(append(batch, "\nevent: "...), m.Name...)
	batch = append(append(batch, "\ndata: "...), m.Data...)
	return append(batch, "\n\n"...)
}

// writeEvents writes to a stream with a deadline, so that a client that does not read
// is disconnected.
func writeEvents(w http.ResponseWriter, batch []byte) error {
	if len(batch) == 0 { // all that was ready is hidden from this client
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(eventWriteTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if _, err := w.Write(batch); err != nil {
		return err
	}
	return control.Flush()
}
