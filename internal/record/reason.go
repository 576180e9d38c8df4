package record

import (
	"cmp"
	"slices"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

const (
	// maxReason bounds the text of servers and callers in a log line, in bytes.
	maxReason = 300
	// maxRead bounds how much of such a text is read, and maxArguments the arguments
	// that are searched for in it.
	maxRead, maxArguments = 4 << 10, 64 << 10
	// leastMasked is the length of the shortest argument that is masked, in bytes.
	// Shorter ones are in every text.
	leastMasked = 4
	// mask replaces what must not be logged.
	mask = "***"
)

// reason returns why a call failed, in English. lang.Language.Kept translates it for those
// who read the history.
func (r *Recorder) reason(call *gateway.Call, server string, result *gateway.Result, err error) string {
	e := gateway.AsError(err)
	switch {
	case e == nil:
		if own := ownFailure(call.Tool, result.Raw); own != "" {
			return own
		}
		if text := withoutArguments(firstText(result.Raw), call); text != "" {
			return r.clean(server, text)
		}
		return gateway.Textf("the tool reported an error").String()
	case e.RPC != nil:
		code := gateway.Short(string(jsonrpc.Lookup(e.RPC, "code")))
		if text := withoutArguments(jsonrpc.LookupText(e.RPC, "message"), call); text != "" {
			return gateway.Textf("the server answered with error %s: %s", code, r.clean(server, text)).String()
		}
		return gateway.Textf("the server answered with error %s", code).String()
	// The messages of these two codes repeat names that the caller has written. Those
	// of resources are addresses, which can contain secrets.
	case e.Code == gateway.CodeNotFound && call.Kind != gateway.KindTool:
		return gateway.Textf("not found").String()
	case e.Code == gateway.CodeInvalid && call.Kind != gateway.KindTool:
		return gateway.Textf("the call is not valid").String()
	case e.Code == gateway.CodeInvalid && len(e.Problems) > 0:
		return r.clean(server, rules(e.Problems))
	case e.Code == gateway.CodeNotFound, e.Code == gateway.CodeInvalid:
		return r.clean(server, e.Text())
	case e.Code == gateway.CodeDenied:
		return refusal(e, call)
	default:
		return e.Text()
	}
}

// refusal returns why a call was refused. What the script of a workflow gives as the reason may
// repeat arguments.
func refusal(e *gateway.Error, call *gateway.Call) string {
	said := gateway.Text{Format: e.Message, Values: slices.Clone(e.Values)}
	for i, value := range said.Values {
		text, ok := value.(string)
		if inner, is := value.(gateway.Text); is {
			text, ok = inner.String(), true
		}
		if without := withoutArguments(text, call); ok && without != text {
			said.Values[i] = cmp.Or(without, mask)
		}
	}
	return said.String()
}

// rules returns which rules the fields of a call's input break. The values are the
// caller's, and so are the names of unknown fields.
func rules(problems []gateway.Problem) string {
	all := gateway.Texts{Between: gateway.Apart}
	for _, p := range problems {
		field := cmp.Or(p.Field, "arguments")
		text := gateway.Textf("%s breaks the rule %s of the schema", field, p.Keyword)
		switch p.Keyword {
		case "required":
			text = gateway.Textf("%s is required", field)
		case "type":
			text = gateway.Textf("%s has the wrong type", field)
		case "enum":
			text = gateway.Textf("%s is none of the allowed values", field)
		case "additionalProperties":
			text = gateway.Textf("there is an unknown field")
		}
		all.Each = append(all.Each, text)
	}
	return gateway.Textf("the input is not valid: %s", all).String()
}

// ownFailure returns the kind of an error that a built-in source reported, and the
// field if the tool has one of that name. The message is left out: it repeats values
// of the caller, and to mask them would mask the same words of the message.
func ownFailure(tool *gateway.Tool, raw []byte) string {
	if tool == nil || gateway.IsExternal(tool.Source) || gateway.IsForwarder(tool.Source) {
		return ""
	}
	data := jsonrpc.Lookup(jsonrpc.Lookup(raw, "structuredContent"), "data")
	kind, field := jsonrpc.LookupText(data, "type"), jsonrpc.LookupText(jsonrpc.Lookup(data, "details"), "field")
	name, _, _ := strings.Cut(field, "[") // tags[1]
	if kind != "" && name != "" && jsonrpc.Lookup(jsonrpc.Lookup(jsonrpc.Lookup(tool.Definition, "inputSchema"), "properties"), name) != nil {
		kind += ": " + name
	}
	return kind
}

// firstText returns the first text of a result's content.
func firstText(raw []byte) (text string) {
	_ = jsonrpc.Elements(jsonrpc.Lookup(raw, "content"), func(item []byte) bool {
		if jsonrpc.LookupText(item, "type") == "text" {
			text = jsonrpc.LookupText(item, "text")
		}
		return text == ""
	})
	return text
}

// clean returns the text of a server or caller as it is logged: on one line, short,
// and without what may be secret.
func (r *Recorder) clean(server, text string) string {
	return cut(gateway.Printable(strings.TrimSpace(r.redact(server, text))), maxReason)
}

// withoutArguments returns the beginning of a server's text without the texts of the
// call's arguments. It returns nothing if the arguments are too large or too deep to be
// searched for.
func withoutArguments(text string, call *gateway.Call) string {
	arguments := call.Params.Get(call.Params.Arguments)
	if len(arguments) > maxArguments {
		return ""
	}
	text, _ = gateway.Cut(text, maxRead)
	if !eachText(arguments, 0, func(argument string) {
		if len(argument) >= leastMasked {
			text = withoutArgument(text, argument)
		}
	}) {
		return ""
	}
	return text
}

// eachText visits the texts and numbers of a JSON value, without the keys of objects. It reports
// false if the value is too deep.
func eachText(value []byte, depth int, visit func(string)) bool {
	const deepest = 32
	if depth > deepest || len(value) == 0 {
		return depth <= deepest
	}
	ok := true
	inside := func(value []byte) bool {
		ok = eachText(value, depth+1, visit)
		return ok
	}
	switch value[0] {
	case '"':
		if text, quoted := jsonrpc.Unquote(value); quoted {
			visit(string(text))
		}
	case '{':
		_ = jsonrpc.Members(value, func(_, member []byte) bool { return inside(member) })
	case '[':
		_ = jsonrpc.Elements(value, inside)
	case 't', 'f', 'n':
	default: // a number, such as that of a card
		visit(string(value))
	}
	return ok
}

// shownOfLong is how much of a long argument must be repeated for the repetition to
// be masked. Servers cut what they repeat.
const shownOfLong = 16

func withoutArgument(text, argument string) string {
	begin := argument[:min(len(argument), shownOfLong)]
	var out strings.Builder
	for {
		at := strings.Index(text, begin)
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at] + mask)
		text = text[at:]
		same := len(begin)
		for same < min(len(text), len(argument)) && text[same] == argument[same] {
			same++
		}
		text = text[same:]
	}
}
