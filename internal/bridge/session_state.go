package bridge

import (
	"cmp"
	"slices"
	"strconv"

	"genkan/internal/jsonrpc"
)

const (
	methodInitialize  = "initialize"
	methodSetLevel    = "logging/setLevel"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodListen      = "subscriptions/listen"
)

// sessionState is what an owner knows of a client beyond its calls, so that it can
// be replayed to another owner: the granted requests of a legacy client, and the
// open streams of a modern one.
type sessionState struct {
	// initialize and level are the params of the granted requests; nil if there was
	// none.
	initialize, level []byte
	// initialized is the client's notification, unchanged.
	initialized []byte
	// subscriptions are the params of the granted subscriptions, by their uri as
	// JSON.
	subscriptions numbered[[]byte]
	// listens are the open streams by the id of their requests.
	listens numbered[*listen]
	// replays numbers the ids of replayed requests.
	replays uint64
}

// listen is an open subscriptions/listen.
type listen struct {
	line []byte
	// acknowledged is set if the client knows that the stream is open. repeated is
	// set if the stream was replayed, so that its acknowledgement is not forwarded.
	acknowledged, repeated bool
}

// note records a request that was granted.
func (m *sessionState) note(r *request) {
	switch r.method {
	case methodInitialize:
		m.initialize = r.params
	case methodSetLevel:
		m.level = r.params
	case methodSubscribe:
		m.subscriptions.put(string(jsonrpc.Lookup(r.params, "uri")), r.params)
	case methodUnsubscribe:
		m.subscriptions.remove(string(jsonrpc.Lookup(r.params, "uri")))
	}
}

func (m *sessionState) listen(id string, line []byte) { m.listens.put(id, &listen{line: line}) }

// replay sends an owner the state that its predecessor had. The answers are not
// forwarded to the client, but it is notified of everything that may have changed
// while no owner watched.
func (m *sessionState) replay(l *link) {
	repeat := func(method string, params []byte, then func(*jsonrpc.Message) [][]byte) {
		m.replays++
		id := `"genkan-replay-` + strconv.FormatUint(m.replays, 10) + `"`
		l.replayed[id] = then
		l.out.putLine(appendRequest([]byte(id), method, params))
	}
	nothing := func(*jsonrpc.Message) [][]byte { return nil }
	if m.initialize != nil {
		repeat(methodInitialize, m.initialize, m.initializedAnew)
	}
	if m.initialized != nil {
		l.out.putLine(m.initialized)
	}
	if m.level != nil {
		repeat(methodSetLevel, m.level, nothing)
	}
	for uri, params := range m.subscriptions.all() {
		repeat(methodSubscribe, params, func(answer *jsonrpc.Message) [][]byte {
			if answer.Kind != jsonrpc.Response {
				return nil // the resource does not exist at the moment
			}
			return [][]byte{updated(uri, nil)}
		})
	}
	for _, s := range m.listens.all() {
		s.repeated = s.acknowledged
		l.out.putLine(s.line)
	}
}

// initializedAnew returns notifications for the lists that may have changed, if the
// owner announces changes of them.
func (m *sessionState) initializedAnew(answer *jsonrpc.Message) [][]byte {
	if m.initialized == nil {
		return nil // the client is not initialized yet
	}
	capabilities := jsonrpc.Lookup(answer.Result.Raw, "capabilities")
	var messages [][]byte
	for _, list := range []string{"tools", "prompts", "resources"} {
		if isTrue(jsonrpc.Lookup(jsonrpc.Lookup(capabilities, list), "listChanged")) {
			messages = append(messages, jsonrpc.AppendNotification(nil, "notifications/"+list+"/list_changed", nil))
		}
	}
	return messages
}

// acknowledged returns the messages for the client when a stream is open. A stream
// that was open before continues, with notifications of what may have changed
// meanwhile.
func (m *sessionState) acknowledged(msg *jsonrpc.Message, line []byte) [][]byte {
	id := jsonrpc.Lookup(msg.Params.Get(msg.Params.Meta), jsonrpc.MetaSubscriptionID)
	s, ok := m.listens.get(string(id))
	if !ok || !s.repeated {
		if ok {
			s.acknowledged = true
		}
		return [][]byte{line}
	}
	s.repeated = false
	meta := append([]byte(`"_meta":{"`+jsonrpc.MetaSubscriptionID+`":`), id...)
	meta = append(meta, '}')
	granted := jsonrpc.Lookup(msg.Params.Raw, "notifications")
	var messages [][]byte
	for _, list := range []string{"tools", "prompts", "resources"} {
		if isTrue(jsonrpc.Lookup(granted, list+"ListChanged")) {
			params := append(append([]byte{'{'}, meta...), '}')
			messages = append(messages, jsonrpc.AppendNotification(nil, "notifications/"+list+"/list_changed", params))
		}
	}
	_ = jsonrpc.Elements(jsonrpc.Lookup(granted, "resourceSubscriptions"), func(uri []byte) bool {
		messages = append(messages, updated(string(uri), meta))
		return true
	}) // without an array there are no resources
	return messages
}

// updated returns the notification that a resource, given by its uri as JSON, may
// have changed.
func updated(uri string, meta []byte) []byte {
	params := append([]byte(`{"uri":`), uri...)
	if meta != nil {
		params = append(append(params, ','), meta...)
	}
	return jsonrpc.AppendNotification(nil, "notifications/resources/updated", append(params, '}'))
}

func isTrue(value []byte) bool { return string(value) == "true" }

// appendRequest encodes a request whose id cannot be a client's.
func appendRequest(id []byte, method string, params []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"method":`...)
	b = jsonrpc.AppendQuoted(b, method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// numbered is a map that keeps the order in which its keys were added.
type numbered[V any] struct {
	entries map[string]entry[V]
	last    uint64
}

type entry[V any] struct {
	value  V
	number uint64
}

func (n *numbered[V]) put(key string, value V) {
	if n.entries == nil {
		n.entries = map[string]entry[V]{}
	}
	n.last++
	n.entries[key] = entry[V]{value, n.last}
}

func (n *numbered[V]) get(key string) (V, bool) {
	e, ok := n.entries[key]
	return e.value, ok
}

func (n *numbered[V]) has(key string) bool {
	_, ok := n.entries[key]
	return ok
}

func (n *numbered[V]) remove(key string) { delete(n.entries, key) }

// all iterates over the entries in order.
func (n *numbered[V]) all() func(yield func(string, V) bool) {
	keys := make([]string, 0, len(n.entries))
	for key := range n.entries {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(n.entries[a].number, n.entries[b].number) })
	return func(yield func(string, V) bool) {
		for _, key := range keys {
			if !yield(key, n.entries[key].value) {
				return
			}
		}
	}
}
