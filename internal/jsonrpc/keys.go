package jsonrpc

import "bytes"

// The _meta keys of the protocol that the house reads.
const (
	MetaVersion            = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	MetaRelatedTask        = "io.modelcontextprotocol/related-task"
)

// Keys that somebody decides by, here or behind us. A key that is one of them
// but for its case is refused: some parsers take it for the real one.
var (
	envelopeKeys = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramsKeys   = []string{"name", "arguments", "uri", "cursor", "ref", "_meta", "inputResponses", "requestState", "task", "taskId"}
	metaKeys     = []string{"progressToken", MetaVersion, MetaClientInfo, MetaClientCapabilities, MetaLogLevel}
)

// maxKeys is how many keys an inspected object may have: the envelope, the params
// and _meta.
const maxKeys = 1000

// keySet finds keys that stand twice in one object. Inspected objects have a
// handful of keys; the map is for arguments.
type keySet struct {
	few  [12][]byte
	n    int
	many map[string]struct{}
}

func (k *keySet) add(s *scanner, key []byte, at int, known []string) error {
	if err := k.once(s, key, at); err != nil {
		return err
	}
	if len(k.few)+len(k.many) > maxKeys {
		return s.refuse(at, "an object has more than %d keys here", maxKeys)
	}
	for _, name := range known {
		if string(key) == name {
			return nil
		}
	}
	for _, name := range known {
		if len(key) >= len(name) && bytes.EqualFold(key, []byte(name)) {
			return s.refuse(at, "%s differs from \"%s\" only in case", quoteForMessage(key), name)
		}
	}
	return nil
}

// once refuses a key that was added before.
func (k *keySet) once(s *scanner, key []byte, at int) error {
	if k.has(key) {
		return s.refuse(at, "a key stands twice: %s", quoteForMessage(key))
	}
	return nil
}

// has reports whether the key was added before, and adds it.
func (k *keySet) has(key []byte) bool {
	for _, old := range k.few[:k.n] {
		if bytes.Equal(old, key) {
			return true
		}
	}
	if k.n < len(k.few) {
		k.few[k.n] = key
		k.n++
		return false
	}
	if _, ok := k.many[string(key)]; ok {
		return true
	}
	if k.many == nil {
		k.many = map[string]struct{}{}
	}
	k.many[string(key)] = struct{}{}
	return false
}

// quoteForMessage shows a key in an error, cut short.
func quoteForMessage(key []byte) string {
	const most = 64
	if len(key) > most {
		key = append(bytes.Clone(key[:most]), "…"...)
	}
	return string(AppendQuoted(nil, string(key)))
}

// methodName turns the bytes of a method into a string without allocating for
// those that are common.
func methodName(name []byte) string {
	switch string(name) {
	case "tools/call":
		return "tools/call"
	case "tools/list":
		return "tools/list"
	case "ping":
		return "ping"
	case "notifications/progress":
		return "notifications/progress"
	case "notifications/cancelled":
		return "notifications/cancelled"
	default:
		return string(name)
	}
}
