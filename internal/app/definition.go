package app

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/gateway"
)

// definition is a server as it is written: the keys of the file, with whatever
// is in them. It is read strictly elsewhere; here it may be anything.
type definition map[string]any

// mask stands in answers where a literal secret is.
const mask = "***"

// oauthSecret is where a registered client's own secret stands.
const oauthSecret = "clientSecret"

func readDefinition(raw []byte) (definition, error) {
	var d definition
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // numbers stay as they were written
	if err := decoder.Decode(&d); err != nil || d == nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Err: err, Message: "a server is described by a JSON object"}
	}
	d.takePatterns(raw)
	return d, nil
}

func (d definition) json() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(d) != nil {
		return []byte("{}") // never: it came from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

func (d definition) clone() definition {
	again, err := readDefinition(d.json())
	if err != nil {
		return definition{} // never, as above
	}
	return again
}

func (d definition) text(key string) string {
	text, _ := d[key].(string)
	return text
}

func (d definition) texts(key string) map[string]gateway.Secret {
	values := map[string]gateway.Secret{}
	given, _ := d[key].(map[string]any)
	for name, value := range given {
		if text, ok := value.(string); ok {
			values[name] = gateway.Secret(text)
		}
	}
	return values
}

// server is the part that secrets stand in, in the words of those who find them.
func (d definition) server(name string) clients.Server {
	s := clients.Server{Name: name, Command: d.text("command"), URL: d.text("url"), Env: d.texts("env"), Headers: d.texts("headers")}
	args, _ := d["args"].([]any)
	for _, arg := range args {
		text, _ := arg.(string)
		s.Args = append(s.Args, text)
	}
	return s
}

// put takes back what server gave out.
func (d definition) put(s clients.Server) {
	if d.text("url") != "" {
		d["url"] = s.URL
	}
	if args, ok := d["args"].([]any); ok {
		for i := range args {
			if _, ok := args[i].(string); ok {
				args[i] = s.Args[i]
			}
		}
	}
	for key, values := range map[string]map[string]gateway.Secret{"env": s.Env, "headers": s.Headers} {
		if given, ok := d[key].(map[string]any); ok {
			for name, value := range values {
				given[name] = value.Reveal()
			}
		}
	}
}

// takeUser makes a header of the user name and password of a URL, as import
// does: URLs are shown, headers never are.
func (d definition) takeUser() {
	bare, authorization, ok := clients.WithoutUser(d.text("url"))
	if !ok {
		return
	}
	headers, isMap := d["headers"].(map[string]any)
	if !isMap && d["headers"] != nil {
		return // which is refused anyway
	}
	d["url"] = bare
	for name := range headers {
		if strings.EqualFold(name, "Authorization") {
			return
		}
	}
	if headers == nil {
		headers = map[string]any{}
	}
	headers["Authorization"] = authorization
	d["headers"] = headers
}

// refer puts something in the place of each literal secret; the names that it
// gets are those that the secrets would be kept under.
func (d definition) refer(name string, reference func(l clients.Literal) (string, error)) error {
	s := d.server(name)
	for _, l := range clients.Literals(s) {
		put, err := reference(l)
		if err != nil {
			return err
		}
		s.Refer(l, put)
	}
	d.put(s)
	oauth, _ := d["oauth"].(map[string]any)
	text, _ := oauth[oauthSecret].(string)
	if strings.Contains(text, "${") { // a part of it may be literal
		part := clients.Server{Name: name, Env: map[string]gateway.Secret{oauthSecret: gateway.Secret(text)}}
		for _, l := range clients.Literals(part) {
			put, err := reference(l)
			if err != nil {
				return err
			}
			part.Refer(l, put)
		}
		oauth[oauthSecret] = part.Env[oauthSecret].Reveal()
	} else if text != "" && text != mask {
		put, err := reference(clients.Literal{Key: oauthSecret, Value: gateway.Secret(text), Variable: name + "." + oauthSecret})
		if err != nil {
			return err
		}
		oauth[oauthSecret] = put
	}
	return nil
}

// masked is the definition as it may be shown. Of a kept one the secrets are in
// the vault; in the file anything in the environment and the headers may be one,
// whatever it looks like.
func (d definition) masked(name string, kept bool) definition {
	shown := d.clone()
	_ = shown.refer(name, func(clients.Literal) (string, error) { return mask, nil })
	for _, key := range []string{"env", "headers"} {
		values, _ := shown[key].(map[string]any)
		for name, value := range values {
			text, ok := value.(string)
			switch {
			case !ok || text == "":
			case kept:
				values[name] = written.ReplaceAllStringFunc(text, func(ref string) string { return maskDefault(name, ref) })
			default:
				values[name] = onlyReferences(text)
			}
		}
	}
	return shown
}

// written is a ${…} of a definition; with another $ before it, it is no reference.
var written = regexp.MustCompile(`\$?\$\{[^}]*\}`)

// maskDefault hides the default of a reference if it looks like a secret.
func maskDefault(name, ref string) string {
	before, after, _ := strings.Cut(ref, ":-")
	fallback := strings.TrimSuffix(after, "}")
	part := clients.Server{Env: map[string]gateway.Secret{name: gateway.Secret(fallback)}}
	if len(clients.Literals(part)) == 0 {
		return ref
	}
	return before + ":-" + mask + "}"
}

// onlyReferences hides everything of a text but what it refers to, and the word
// before a token.
func onlyReferences(text string) string {
	var b strings.Builder
	hidden := false
	literal := func(text string) {
		switch {
		case text == "" || hidden:
		case slices.Contains([]string{"bearer ", "basic ", "token "}, strings.ToLower(text)):
			b.WriteString(text)
		default:
			b.WriteString(mask)
			hidden = true
		}
	}
	end := 0
	for _, at := range written.FindAllStringIndex(text, -1) {
		ref := text[at[0]:at[1]]
		if strings.HasPrefix(ref, "$$") {
			continue
		}
		literal(text[end:at[0]])
		if before, _, hasDefault := strings.Cut(ref, ":-"); hasDefault {
			ref = before + ":-" + mask + "}"
		}
		b.WriteString(ref)
		end, hidden = at[1], false
	}
	literal(text[end:])
	return b.String()
}

// merge changes what a patch names: null takes a key out, an object changes the
// object that is there, anything else takes the place of what is there.
func (d definition) merge(patch definition) {
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		there, wasObject := d[key].(map[string]any)
		if given, ok := value.(*patterns); ok {
			was, ok := d[key].(*patterns)
			if !ok {
				was = &patterns{byName: map[string]any{}}
			}
			was.merge(given)
			d[key] = was
			continue
		}
		switch {
		case value == nil:
			delete(d, key)
		case isObject && wasObject:
			definition(there).merge(inner)
		case isObject:
			fresh := definition{}
			fresh.merge(inner)
			d[key] = map[string]any(fresh)
		default:
			d[key] = value
		}
	}
}

// unmask puts back what stood where a mask was given back. was is the definition
// that was shown with masks; a mask that it does not have there is refused.
func (d definition) unmask(name string, was definition, kept bool) error {
	var shown definition
	if was != nil {
		shown = was.masked(name, kept)
	}
	restored, err := unmasked("", map[string]any(d), map[string]any(shown), map[string]any(was))
	if err != nil {
		return err
	}
	for key, value := range restored.(map[string]any) { //nolint:forcetypeassert // as it went in
		d[key] = value
	}
	return nil
}

func unmasked(path string, given, shown, was any) (any, error) {
	switch given := given.(type) {
	case string:
		if !strings.Contains(given, mask) {
			return given, nil
		}
		if text, ok := shown.(string); ok && text == given {
			return was, nil
		}
		e := gateway.Errorf(gateway.CodeInvalid, "%s holds %s, which stands for a secret in answers; give the secret itself, or a reference such as ${secret:NAME}", path, mask)
		e.Field = path
		return nil, e
	case map[string]any:
		shown, _ := shown.(map[string]any)
		was, _ := was.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(given)) { // so that the same mistake is told each time
			value, inner := given[key], key
			if path != "" {
				inner = path + "." + key
			}
			restored, err := unmasked(inner, value, shown[key], was[key])
			if err != nil {
				return nil, err
			}
			given[key] = restored
		}
		return given, nil
	case *patterns: // nothing in them is ever masked
		for _, name := range given.order {
			if _, err := unmasked(path+"."+name, given.byName[name], nil, nil); err != nil {
				return nil, err
			}
		}
		return given, nil
	case []any:
		shown, _ := shown.([]any)
		was, _ := was.([]any)
		for i, value := range given {
			var shownItem, wasItem any
			if i < len(shown) && i < len(was) {
				shownItem, wasItem = shown[i], was[i]
			}
			restored, err := unmasked(path+"["+strconv.Itoa(i)+"]", value, shownItem, wasItem)
			if err != nil {
				return nil, err
			}
			given[i] = restored
		}
		return given, nil
	default:
		return given, nil
	}
}

// uses reports whether a secret is referred to.
func (d definition) uses(secret string) bool { return usesSecret(string(d.json()), secret) }

func usesSecret(written, secret string) bool {
	return strings.Contains(written, "${secret:"+secret+"}") || strings.Contains(written, "${input:"+secret+"}")
}
