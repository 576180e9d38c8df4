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
	// The params of the requests that were granted; nil if there was none.
	initialize, level []byte
	// initialized is the notification, as it came.
	initialized []byte
	// subscriptions are the params of granted ones by their uri, as JSON.
	subscriptions numbered[[]byte]
	// listens are the open streams by the id of their requests.
	listens numbered[*listen]
	// replays counts, for ids of our own.
	replays uint64
}

// listen is an open subscriptions/listen.
type listen struct {
	line []byte
	// acknowledged: the client knows that it is open. repeated: it need not be
	// told again.
	acknowledged, repeated bool
}

// note remembers a request that was granted.
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

// replay tells an owner what its predecessor knew of the client. What the
// client was told stays true: the answers go no further, but it hears of
// everything that may have changed while nobody watched.
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
				return nil // what it subscribed to is not there now
			}
			return [][]byte{updated(uri, nil)}
		})
	}
	for _, s := range m.listens.all() {
		s.repeated = s.acknowledged
		l.out.putLine(s.line)
	}
}

// initializedAnew says which lists may have changed, of those that the owner
// tells changes of.
func (m *sessionState) initializedAnew(answer *jsonrpc.Message) [][]byte {
	if m.initialized == nil {
		return nil // the client has not begun yet
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

// acknowledged returns what the client hears when a stream is open. One that
// was open before goes on, and tells what may have changed meanwhile.
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
	}) // no array, no resources
	return messages
}

// updated tells that a resource, by its uri as JSON, may have changed.
func updated(uri string, meta []byte) []byte {
	params := append([]byte(`{"uri":`), uri...)
	if meta != nil {
		params = append(append(params, ','), meta...)
	}
	return jsonrpc.AppendNotification(nil, "notifications/resources/updated", append(params, '}'))
}

func isTrue(value []byte) bool { return string(value) == "true" }

// appendRequest encodes a request with an id that is no number of ours.
func appendRequest(id []byte, method string, params []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"method":`...)
	b = jsonrpc.AppendQuoted(b, method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// numbered is a map that knows in which order its keys came.
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

// all goes through the entries in order.
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
