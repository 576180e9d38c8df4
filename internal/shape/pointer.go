package shape

import (
	"encoding/json"
	"strconv"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

//nolint:gochecknoglobals // constants
var (
	escapeToken   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")
)

// maxPointer is the length of the longest pointer, in bytes.
const maxPointer = 4096

// resolve returns the value that a JSON Pointer names in a JSON value.
func resolve(value []byte, pointer string) ([]byte, error) {
	if pointer == "" || pointer == "/" {
		return value, nil
	}
	if pointer[0] != '/' || len(pointer) > maxPointer {
		return nil, invalid("pointer", "pointer must be a JSON Pointer such as /items/0: it begins with / and has a key or an index after each /")
	}
	passed := ""
	for token := range strings.SplitSeq(pointer[1:], "/") {
		name := unescapeToken.Replace(token)
		var found []byte
		switch value[0] {
		case '{':
			found = jsonrpc.Lookup(value, name)
			if found == nil {
				return nil, invalid("pointer", "%s has no key %s. Its keys are %s", at(passed), gateway.Short(name), keysOf(value))
			}
		case '[':
			index, err := strconv.Atoi(name)
			n := 0
			_ = jsonrpc.Elements(value, func(item []byte) bool {
				if n == index && err == nil {
					found = item
				}
				n++
				return found == nil
			})
			if found == nil {
				return nil, invalid("pointer", "%s is an array of length %d, and has no item %s", at(passed), n, gateway.Short(name))
			}
		default:
			return nil, invalid("pointer", "%s is a %s, and has nothing in it", at(passed), jsonrpc.TypeOf(value))
		}
		value = found
		passed += "/" + token
	}
	return value, nil
}

func at(pointer string) any {
	if pointer == "" {
		return gateway.Textf("the result")
	}
	return gateway.Short(pointer)
}

// keysOf lists the first keys of an object.
func keysOf(object []byte) string {
	const most = 20
	var keys []string
	_ = jsonrpc.Members(object, func(key, _ []byte) bool {
		if len(keys) == most {
			keys = append(keys, "…")
			return false
		}
		keys = append(keys, gateway.Short(string(key)))
		return true
	})
	return strings.Join(keys, ", ")
}

// isJSON reports whether a text is a JSON object or array that can be outlined.
func isJSON(text []byte) bool {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || !json.Valid(text) {
		return false
	}
	// Some texts nest too deep.
	if text[0] == '{' {
		return jsonrpc.Members(text, func(_, _ []byte) bool { return false }) == nil
	}
	return jsonrpc.Elements(text, func([]byte) bool { return true }) == nil
}

// invalid is the error for an argument that the agent has to correct.
func invalid(field, format string, values ...any) error {
	e := gateway.Errorf(gateway.CodeInvalid, format, values...)
	e.Field = field
	return e
}
