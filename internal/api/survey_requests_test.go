package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maker makes requests of one operation. The same seed makes the same requests.
type maker struct {
	*surveyor
	*operation
	rng *rand.Rand
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// Values that are right somewhere and wrong elsewhere. They are raw, because
// some of them no encoder would write.
var oddValues = []string{
	`null`, `true`, `0`, `-1`, `1`, `1.5`, `1e400`, `9223372036854775807`, `9223372036854775808`,
	`""`, `" "`, `"true"`, `"1"`, `"\u0000"`, `"\ud800"`, `"a\nb"`, `"e\u0301 \u202etxet\u202c 🏠 \ufeff"`, "\"\xff\"", "\"" + strings.Repeat("長", 20_000) + "\"",
	`[]`, `[null]`, `[1,"a"]`, `["a","a"]`, `[[[[]]]]`, `{}`, `{"":{}}`, `{"a":1,"a":2}`,
}

var oddTexts = []string{
	"", " ", "0", "-1", "1", "100", "101", "1.5", "1e3", "0x10", "99999999999999999999", "true", "TRUE", "yes", "a,b", "a\nb", "\x00", "\xff\xfe",
	"../../etc/passwd", "<script>", "%", "長い名前", "e\u0301\u202e", strings.Repeat("x", 8_000),
}

// Path segments, as they are written in a request.
var oddSegments = []string{
	"", ".", "..", "%2e%2e", "%2F", "a%2Fb", "%2e%2e%2f%2e%2e%2fetc", "%00", "%ff", "%20", "+", "%25", "{name}", "%7Bname%7D", "call", "search",
	"nobody__nothing", "%E9%95%B7", "%F0%9F%8F%A0", ";a=b", "a;b", "*", "%0d%0aSet-Cookie:a", strings.Repeat("x", 8_000),
}

var badBodies = []string{
	"", " ", "null", "true", "1", `"text"`, "[]", "[{}]", "{", "}", `{"name":`, `{"name":"a",}`, "{}{}", "{} x", "// a\n{}", "{'name':'a'}",
	"\xef\xbb\xbf{}", "{\"name\":\"\xff\"}", `{"name":"a","name":"b"}`, `{"NAME":"a"}`, `{"":1}`,
	strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000),
	`{"name":"` + strings.Repeat("x", 2<<20) + `"}`,
}

var badMedia = []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=utf-16", "json", ";;;", "application/jsonp"}

// collection is what the names in a path are of: tools in /v1/tools/{name}.
func (m *maker) collection() string {
	parts := strings.Split(m.path, "/")
	if len(parts) > 2 {
		return parts[2]
	}
	return ""
}

// name is one that is there, if any is.
func (m *maker) name() string {
	if names := m.names[m.collection()]; len(names) > 0 {
		return pick(m.rng, names)
	}
	return "something"
}

// target fills the template with something that is there.
func (m *maker) target() string {
	parts := strings.Split(m.path, "/")
	for i := range parts {
		if strings.HasPrefix(parts[i], "{") {
			parts[i] = url.PathEscape(m.name())
		}
	}
	return strings.Join(parts, "/")
}

// resolved follows references, and decides between alternatives.
func (m *maker) resolved(schema map[string]any) map[string]any {
	for range 10 {
		if ref, ok := schema["$ref"].(string); ok {
			schema = object(m.document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			continue
		}
		var choices []any
		for _, key := range []string{"oneOf", "anyOf"} {
			some, _ := schema[key].([]any)
			for _, one := range some {
				if asObject(one)["type"] != "null" {
					choices = append(choices, one)
				}
			}
		}
		if len(choices) == 0 {
			break
		}
		schema = asObject(pick(m.rng, choices))
	}
	return schema
}

func typeOf(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if one != "null" {
				return fmt.Sprint(one)
			}
		}
	}
	return ""
}

// value is one that fits a schema, as far as schemas go here.
func (m *maker) value(schema map[string]any, key string) any {
	schema = m.resolved(schema)
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return pick(m.rng, values)
	}
	if value, ok := schema["const"]; ok {
		return value
	}
	switch typeOf(schema) {
	case "object":
		return m.members(schema)
	case "array":
		list := []any{}
		for range m.rng.IntN(3) {
			list = append(list, m.value(asObject(schema["items"]), key))
		}
		return list
	case "boolean":
		return m.rng.IntN(2) == 0
	case "integer", "number":
		return 1 + m.rng.IntN(9)
	case "string":
		if schema["format"] == "date-time" {
			return "2026-01-02T03:04:05Z"
		}
		if slices.Contains([]string{"name", "from", "to"}, key) && m.rng.IntN(4) > 0 {
			return m.name()
		}
		return pick(m.rng, []string{"word", "two words", "言葉", "v1.2.3"})
	default: // anything: what a call's parameters may be
		return json.RawMessage(pick(m.rng, []string{`{"text":"hello"}`, `{"text":"hello"}`, `{"text":"日本"}`, `{}`, `{"a":[1,{"b":null}]}`}))
	}
}

// members is an object with all that is required and some of the rest.
func (m *maker) members(schema map[string]any) map[string]any {
	out := map[string]any{}
	required, _ := schema["required"].([]any)
	properties := object(schema, "properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || m.rng.IntN(2) == 0 {
			out[name] = m.value(asObject(properties[name]), name)
		}
	}
	if more := asObject(schema["additionalProperties"]); more != nil {
		out["another"] = m.value(more, "another")
	}
	return out
}

// right is a request as it is described.
func (m *maker) right(method string) wire {
	w := wire{what: "right", method: method, target: m.target(), header: http.Header{}}
	query := url.Values{}
	for _, name := range slices.Sorted(maps.Keys(m.query)) {
		if m.rng.IntN(3) == 0 {
			query.Set(name, fmt.Sprint(m.value(m.query[name], name)))
		}
	}
	if len(query) > 0 {
		w.target += "?" + query.Encode()
	}
	if m.body != nil {
		m.put(&w, m.value(m.body, ""))
	}
	return w
}

func (m *maker) put(w *wire, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.body = raw
	w.header.Set("Content-Type", "application/json")
}

// wish is a request that is not made yet.
type wish struct {
	what   string
	change func(*wire)
}

// make makes the request: a right one with one change.
func (m *maker) make(one wish) wire {
	w := m.right(m.method)
	w.what = one.what
	one.change(&w)
	return w
}

// wrong are requests with one thing wrong, or odd, all of them.
func (m *maker) wrong() (all []wish) {
	add := func(what string, change func(*wire)) { all = append(all, wish{what, change}) }
	for _, segment := range oddSegments {
		if strings.Contains(m.path, "{") {
			add("an odd name in the path", func(w *wire) {
				open, end := strings.Index(m.path, "{"), strings.Index(m.path, "}")
				w.target = m.path[:open] + segment + m.path[end+1:]
			})
		}
	}
	for _, name := range append(slices.Sorted(maps.Keys(m.query)), "unknown") {
		for _, text := range oddTexts {
			add("an odd query "+name, func(w *wire) { w.target = m.target() + "?" + url.Values{name: {text}}.Encode() })
		}
		add("a query twice "+name, func(w *wire) { w.target = m.target() + "?" + name + "=1&" + name + "=2" })
		add("a broken query", func(w *wire) { w.target = m.target() + "?" + name + "=%zz;a&=&%" })
	}
	add("a foreign host", func(w *wire) { w.host = foreignHost })
	add("no host", func(w *wire) { w.host = "[" })
	add("a foreign origin", func(w *wire) { w.header.Set("Origin", foreignOrigin) })
	add("a page's request", func(w *wire) { w.header.Set("Sec-Fetch-Site", "cross-site") })
	add("two tokens", func(w *wire) { w.header["Authorization"] = []string{"Bearer a", "Bearer b"} })
	add("no bearer", func(w *wire) { w.header.Set("Authorization", "Basic YTpi") })
	add("a browser", func(w *wire) { w.header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8") })
	if m.body == nil {
		add("a body that nobody asked for", func(w *wire) { m.put(w, map[string]any{"name": "x"}) })
		return all
	}
	for _, raw := range badBodies {
		add("a bad body", func(w *wire) { w.body = []byte(raw) })
	}
	for _, media := range badMedia {
		add("a wrong content type", func(w *wire) { w.header.Set("Content-Type", media) })
	}
	m.wrongInside(m.body, 0, func(what string, edit func(root map[string]any) map[string]any) {
		add(what, func(w *wire) {
			if root, ok := m.value(m.body, "").(map[string]any); ok {
				m.put(w, edit(root))
			}
		})
	})
	return all
}

// wrongInside changes one place of a body after the other.
func (m *maker) wrongInside(
	schema map[string]any, depth int, add func(what string, edit func(map[string]any) map[string]any),
) {
	schema = m.resolved(schema)
	if depth > 4 {
		return
	}
	add("an unknown field", func(in map[string]any) map[string]any {
		in["unknownField"] = 1
		return in
	})
	properties := object(schema, "properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		add("without "+name, func(in map[string]any) map[string]any {
			delete(in, name)
			return in
		})
		add("another case of "+name, func(in map[string]any) map[string]any {
			in[strings.ToUpper(name)] = m.value(asObject(properties[name]), name)
			delete(in, name)
			return in
		})
		for _, odd := range oddValues {
			add("an odd "+name, func(in map[string]any) map[string]any {
				in[name] = json.RawMessage(odd)
				return in
			})
		}
		inner, isList := m.resolved(asObject(properties[name])), false
		if typeOf(inner) == "array" {
			inner, isList = m.resolved(asObject(inner["items"])), true
		}
		if typeOf(inner) != "object" {
			continue
		}
		m.wrongInside(inner, depth+1, func(what string, edit func(map[string]any) map[string]any) {
			add(what+" in "+name, func(in map[string]any) map[string]any {
				var changed any = edit(m.members(inner))
				if isList {
					changed = []any{changed}
				}
				in[name] = changed
				return in
			})
		})
	}
}
