package mcpserver

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// A session's id contains everything that is needed to resume the session after a
// restart, because many clients keep an id for ever and do not initialize again
// when it is refused. The id is signed and bound to its owner.

// sessionLife is how long an id is valid.
const sessionLife = 30 * 24 * time.Hour

const sessionPurpose = "session"

// capabilityBits are the known capabilities, by their bit in the id. Other
// capabilities of a client are lost in a restart.
var capabilityBits = []struct{ outer, inner string }{
	{"roots", ""},
	{"roots", "listChanged"},
	{"sampling", ""},
	{"sampling", "context"},
	{"sampling", "tools"},
	{"elicitation", ""},
	{"elicitation", "form"},
	{"elicitation", "url"},
}

func packCapabilities(raw []byte) byte {
	var bits byte
	for i, c := range capabilityBits {
		value := jsonrpc.Lookup(raw, c.outer)
		if c.inner != "" {
			value = jsonrpc.Lookup(value, c.inner)
		}
		if value != nil && string(value) != "false" && string(value) != "null" {
			bits |= 1 << i
		}
	}
	return bits
}

func unpackCapabilities(bits byte) []byte {
	out := []byte{'{'}
	open := ""
	for i, c := range capabilityBits {
		if bits&(1<<i) == 0 {
			continue
		}
		if c.inner == "" {
			if open != "" {
				out = append(out, "},"...)
			}
			out = append(jsonrpc.AppendQuoted(out, c.outer), ":{"...)
			open = c.outer
			continue
		}
		if c.outer != open {
			continue // an inner capability requires its outer one
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(jsonrpc.AppendQuoted(out, c.inner), ':')
		if c.inner == "listChanged" {
			out = append(out, "true"...)
		} else {
			out = append(out, "{}"...)
		}
	}
	if open != "" {
		out = append(out, '}')
	}
	return append(out, '}')
}

// sessionTicket is the content of an id.
type sessionTicket struct {
	opened       time.Time
	version      string
	capabilities []byte
	view         string // of its View
	nonce        [9]byte
}

func (t *sessionTicket) encode() []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(t.opened.Unix()))                                         //nolint:gosec // good until 2106
	b = append(b, byte(slices.Index(gateway.LegacyVersions(), t.version)), packCapabilities(t.capabilities)) //nolint:gosec // there are four versions
	b = append(b, t.nonce[:]...)
	return append(b, t.view...)
}

func decodeTicket(b []byte) (sessionTicket, bool) {
	const head = 4 + 2 + 9
	versions := gateway.LegacyVersions()
	if len(b) < head || int(b[4]) >= len(versions) {
		return sessionTicket{}, false
	}
	t := sessionTicket{
		opened:  time.Unix(int64(binary.BigEndian.Uint32(b)), 0),
		version: versions[b[4]], capabilities: unpackCapabilities(b[5]), view: string(b[head:]),
	}
	copy(t.nonce[:], b[6:head])
	return t, true
}

func newTicket(view gateway.View, version string, capabilities []byte) sessionTicket {
	t := sessionTicket{opened: time.Now(), version: version, capabilities: capabilities, view: view.String()}
	_, _ = rand.Read(t.nonce[:]) // it never fails
	return t
}
