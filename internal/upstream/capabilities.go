package upstream

import (
	"bytes"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// allCapabilities are announced on shared connections. Each request of the server
// is then checked against the capabilities of its client.
const allCapabilities = `{` + askable + `,"tasks":{"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}`

const askable = `"roots":{},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}`

const tasksExtension = "io.modelcontextprotocol/tasks"

// capabilitiesFor returns the capabilities that a legacy server is sent on a
// pooled connection. With IsolationSession they are those of the client.
// Otherwise they are everything that servers may ask for, and tasks if the client
// makes any.
func capabilitiesFor(call *gateway.Call, mode string, key poolKey) string {
	own := call.Capabilities()
	switch {
	case key.session == "":
		return allCapabilities
	case mode == IsolationSession && own != nil:
		if call.Era == gateway.EraModern {
			return string(withoutTasks(own))
		}
		return string(without(own, map[string]func([]byte) []byte{"tasks": followed, "extensions": withoutExtension}))
	case call.Era == gateway.EraLegacy && jsonrpc.Lookup(own, "tasks") != nil:
		return `{` + askable + `,"tasks":` + string(followed(jsonrpc.Lookup(own, "tasks"))) + `}`
	default:
		return `{` + askable + `}`
	}
}

// followed returns a client's task capability for the server. Clients' tasks can
// be followed by id but not listed.
func followed(tasks []byte) []byte {
	return without(tasks, map[string]func([]byte) []byte{"list": nil})
}

// offersTasks reports whether capabilities may contain tasks. Escapes count,
// because a key may be written with them.
func offersTasks(in *gateway.Params) bool {
	capabilities := in.Get(in.ClientCapabilities)
	return bytes.Contains(capabilities, []byte("tasks")) || bytes.IndexByte(capabilities, '\\') >= 0
}

// withoutTasks removes the tasks extension from capabilities: a server must
// not answer with a task that its client could not follow.
func withoutTasks(capabilities []byte) []byte {
	return without(capabilities, map[string]func([]byte) []byte{
		"tasks":      nil,
		"extensions": withoutExtension,
	})
}

func withoutExtension(extensions []byte) []byte {
	return without(extensions, map[string]func([]byte) []byte{tasksExtension: nil})
}

// without copies an object, dropping keys that map to nil and changing others.
func without(object []byte, changes map[string]func([]byte) []byte) []byte {
	out := []byte{'{'}
	err := jsonrpc.Members(object, func(key, value []byte) bool {
		if change, ok := changes[string(key)]; ok {
			if change == nil {
				return true
			}
			value = change(value)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = jsonrpc.AppendQuoted(out, string(key))
		out = append(append(out, ':'), value...)
		return true
	})
	if err != nil {
		return object
	}
	return append(out, '}')
}
