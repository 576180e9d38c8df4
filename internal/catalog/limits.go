package catalog

import (
	"fmt"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Limits of what one definition of a server may bring into the lists, in bytes.
// All of a list goes into the context of a model. Descriptions of real servers
// have up to a few thousand bytes, and whole definitions some ten thousand.
const (
	maxDefinition = 256 << 10
	maxName       = 256     // of a tool or a prompt; the specification has 128
	maxURI        = 8 << 10 // of a resource or a template
	maxTitle      = 512
)

// MaxInstructions is how many bytes of a server's instructions a client is shown
// that sees other servers, too.
const MaxInstructions = 8 << 10

// Instructions finds what is remarkable about the instructions of a server.
func Instructions(server, text string) (found []Finding) {
	if len(text) > MaxInstructions {
		note := gateway.Textf("they have %d bytes, and only the first %d are shown to clients that see other servers too", len(text), MaxInstructions)
		found = append(found, Finding{Server: server, Name: "instructions", Notes: []gateway.Text{note}})
	}
	if note, hidden := invisible(jsonrpc.AppendQuoted(nil, text)); hidden {
		found = append(found, Finding{Server: server, Name: "instructions", Suspect: true, Notes: []gateway.Text{note}})
	}
	return found
}

func maxNameOf(kind gateway.Kind) int {
	if kind == gateway.KindResource || kind == gateway.KindTemplate {
		return maxURI
	}
	return maxName
}

// textLimit is the limit of a member of a definition that holds a text for
// people and models; zero for other members.
func textLimit(kind gateway.Kind, key string) int {
	switch {
	case key == "description":
		return longestDescription
	case key == "title", key == "name" && kind.NameKey() != "name":
		return maxTitle
	default:
		return 0
	}
}

// cutTexts shortens the texts of a definition that are too long. Each ends with
// the number of bytes that are missing. A definition within the limits keeps
// its bytes.
func cutTexts(definition []byte, kind gateway.Kind) (cut []byte, notes []gateway.Text) {
	whole, changed := &fields{at: map[string]int{}}, false
	err := jsonrpc.Members(definition, func(key, value []byte) bool {
		name := string(key)
		switch limit := textLimit(kind, name); {
		case name == "annotations":
			// Tools may have their title here.
			shorter, more := cutTexts(value, kind)
			value, changed, notes = shorter, changed || len(more) > 0, append(notes, more...)
		case limit > 0 && len(value) > limit:
			text, _ := jsonrpc.Unquote(value)
			if head, missing := gateway.Cut(string(text), limit); missing > 0 {
				value = jsonrpc.AppendQuoted(nil, head+fmt.Sprintf("… [cut: %d more bytes]", missing))
				notes = append(notes, gateway.Textf("its %s has %d bytes, and only the first %d are shown", name, len(text), len(head)))
				changed = true
			}
		}
		whole.set(name, value)
		return true
	})
	if err != nil || !changed {
		return definition, nil
	}
	return whole.encode(), notes
}

// contradicts reports whether the annotations of a tool say that it only reads,
// and also that it does not.
func contradicts(definition []byte) bool {
	var reads, changes bool
	_ = jsonrpc.Members(definition, func(key, value []byte) bool {
		if string(key) != "annotations" {
			return true
		}
		_ = jsonrpc.Members(value, func(hint, value []byte) bool {
			switch said := string(value) == "true"; string(hint) {
			case "readOnlyHint":
				reads, changes = reads || said, changes || !said
			case "destructiveHint":
				changes = changes || said
			}
			return true
		})
		return true
	})
	return reads && changes
}

// notReadOnly takes the claim that a tool only reads out of its definition.
func notReadOnly(definition []byte) []byte {
	whole, ok := parseFields(definition)
	annotations, said := parseFields(whole.get("annotations"))
	if !ok || !said {
		return definition
	}
	annotations.set("readOnlyHint", []byte("false"))
	whole.set("annotations", annotations.encode())
	return whole.encode()
}
