package registry

import (
	"bytes"
	"encoding/json"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/gateway"
)

// definition is the definition of a server as it was written: a JSON object with
// the keys of the configuration file. Its values are not checked here; package
// config does that.
type definition map[string]any

// clientSecret is the key below oauth that holds the secret of an OAuth client.
const clientSecret = "clientSecret"

func parseDefinition(raw []byte) (definition, error) {
	var d definition
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // numbers stay as they were written
	if err := decoder.Decode(&d); err != nil || d == nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Err: err, Message: "a server is described by a JSON object"}
	}
	d.restoreOptionOrder(raw)
	return d, nil
}

func (d definition) json() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(d) != nil {
		return []byte("{}") // unreachable: a definition comes from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

func (d definition) clone() definition {
	copied, err := parseDefinition(d.json())
	if err != nil {
		return definition{} // unreachable, as in json
	}
	return copied
}

// text returns the string at a key; empty if there is none.
func (d definition) text(key string) string {
	text, _ := d[key].(string)
	return text
}

// texts returns the strings of the object at a key.
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

// clientServer returns the fields that may hold secrets, in the form that package
// clients searches for literal secrets.
func (d definition) clientServer(name string) clients.Server {
	s := clients.Server{Name: name, Command: d.text("command"), URL: d.text("url"), Env: d.texts("env"), Headers: d.texts("headers")}
	args, _ := d["args"].([]any)
	for _, arg := range args {
		text, _ := arg.(string)
		s.Args = append(s.Args, text)
	}
	return s
}

// setClientServer writes the fields of clientServer back.
func (d definition) setClientServer(s clients.Server) {
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

// moveUserToHeader moves the user name and password of the URL into the
// Authorization header, as importing does: URLs are shown, headers are masked.
func (d definition) moveUserToHeader() {
	bare, authorization, ok := clients.WithoutUser(d.text("url"))
	if !ok {
		return
	}
	headers, isMap := d["headers"].(map[string]any)
	if !isMap && d["headers"] != nil {
		return // config refuses such headers
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

// replaceSecrets replaces each literal secret with what replace returns for it.
// Literal.Variable is the name to store the secret under.
func (d definition) replaceSecrets(name string, replace func(l clients.Literal) (string, error)) error {
	s := d.clientServer(name)
	for _, l := range clients.Literals(s) {
		replacement, err := replace(l)
		if err != nil {
			return err
		}
		s.Refer(l, replacement)
	}
	d.setClientServer(s)
	oauth, _ := d["oauth"].(map[string]any)
	text, _ := oauth[clientSecret].(string)
	if strings.Contains(text, "${") { // the text around a reference may be literal
		part := clients.Server{Name: name, Env: map[string]gateway.Secret{clientSecret: gateway.Secret(text)}}
		for _, l := range clients.Literals(part) {
			replacement, err := replace(l)
			if err != nil {
				return err
			}
			part.Refer(l, replacement)
		}
		oauth[clientSecret] = part.Env[clientSecret].Reveal()
	} else if text != "" && text != mask {
		replacement, err := replace(clients.Literal{Key: clientSecret, Value: gateway.Secret(text), Variable: name + "." + clientSecret})
		if err != nil {
			return err
		}
		oauth[clientSecret] = replacement
	}
	return nil
}

// merge applies a JSON Merge Patch (RFC 7396): null removes a key, an object is
// merged into the object at its key, and any other value replaces what is there.
func (d definition) merge(patch definition) {
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		there, wasObject := d[key].(map[string]any)
		if given, ok := value.(*toolOptions); ok {
			options, ok := d[key].(*toolOptions)
			if !ok {
				options = &toolOptions{byName: map[string]any{}}
			}
			options.merge(given)
			d[key] = options
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

// RefersToSecret reports whether the text of a definition refers to a secret of
// the vault.
func RefersToSecret(definition, secret string) bool {
	return strings.Contains(definition, "${secret:"+secret+"}") || strings.Contains(definition, "${input:"+secret+"}")
}
