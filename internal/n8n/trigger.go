package n8n

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// The types of triggers that a request can start.
const (
	webhookTrigger = "n8n-nodes-base.webhook"
	formTrigger    = "n8n-nodes-base.formTrigger"
	chatTrigger    = "@n8n/n8n-nodes-langchain.chatTrigger"
)

// isCallable reports whether a request can start a node of a type.
func isCallable(kind string) bool {
	return kind == webhookTrigger || kind == formTrigger || kind == chatTrigger
}

// trigger is a node that a request starts.
type trigger struct {
	*node
	workflow string
	// These are the fields that matter here.
	WebhookID  string `json:"webhookId"`
	Parameters struct {
		Path           string
		HTTPMethod     any
		Authentication string
		Public         bool
		Options        struct{ Path string }
		FormFields     struct{ Values []formField }
	} `json:"parameters"`
}

type formField struct {
	FieldLabel, FieldName, ElementName string
}

func (f formField) name() string { return cmp.Or(f.FieldLabel, f.FieldName, f.ElementName) }

// trigger returns the trigger of a name, or the only one there is. A published workflow
// runs its published version.
func (w *workflow) trigger(name string, test bool) (*trigger, error) {
	nodes := w.nodes
	var live struct{ Nodes json.RawMessage }
	if !test && json.Unmarshal(orNull(w.fields["activeVersion"]), &live) == nil && len(live.Nodes) > 0 {
		var err error
		if nodes, err = parseNodes(live.Nodes); err != nil {
			return nil, err
		}
	}
	callable := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return !isCallable(n.kind) || n.disabled })
	names := make([]string, len(callable))
	for i, n := range callable {
		names[i] = n.name
	}
	at := slices.Index(names, name)
	switch {
	case len(callable) == 0:
		return nil, invalid("id", "Workflow '%s' has no webhook, form or chat trigger, and n8n can start no other from outside. "+
			"Add a node of the type n8n-nodes-base.webhook with update_workflow, and publish it", w.id())
	case name == "" && len(callable) > 1:
		return nil, invalid("trigger", "Workflow '%s' has several triggers. Say which in trigger: %s", w.id(), shortList(names))
	case name == "":
		at = 0
	case at < 0:
		return nil, invalid("trigger", "'%s' is no webhook, form or chat trigger of the workflow. There are %s", gateway.Short(name), shortList(names))
	}
	t := &trigger{node: callable[at], workflow: w.id()}
	if json.Unmarshal(t.raw, t) != nil {
		return nil, invalid("trigger", "The parameters of '%s' have values of other types than n8n's. Open the workflow in n8n and save the node", t.name)
	}
	return t, nil
}

// check says why a trigger cannot be called, if that can be known before.
func (t *trigger) check(headers map[string]string) error {
	auth := t.Parameters.Authentication
	switch {
	case t.kind == chatTrigger && !t.Parameters.Public:
		return invalid("trigger", "The chat of '%s' is not public, so that only n8n's editor can start it. Set parameters.public to true with update_workflow, and publish it", t.name)
	case auth == "n8nUserAuth":
		return invalid("trigger", "'%s' is for people who are signed in to n8n. Another trigger, or another authentication, is needed to run the workflow from here", t.name)
	case auth != "" && auth != "none" && len(headers) == 0:
		return invalid("headers", "'%s' asks for authentication (%s), whose secret n8n does not give out. Send it in headers, such as "+
			`{"Authorization":"Basic …"}, or ask the user for it`, t.name, auth)
	}
	return nil
}

// method returns the HTTP method of a call: the wanted one, else POST if there is a choice.
func (t *trigger) method(wanted string) (string, error) {
	if t.kind != webhookTrigger {
		return http.MethodPost, nil
	}
	var methods []string
	switch set := t.Parameters.HTTPMethod.(type) {
	case string:
		methods = []string{set}
	case []any:
		for _, one := range set {
			if m, ok := one.(string); ok {
				methods = append(methods, m)
			}
		}
	}
	if len(methods) == 0 {
		methods = []string{http.MethodGet}
	}
	wanted = strings.ToUpper(wanted)
	switch {
	case wanted == "" && slices.Contains(methods, http.MethodPost):
		return http.MethodPost, nil
	case wanted == "":
		return methods[0], nil
	case !slices.Contains(methods, wanted):
		return "", invalid("method", "'%s' does not take %s. It takes %s", t.name, gateway.Short(wanted), strings.Join(methods, ", "))
	}
	return wanted, nil
}

// path returns the path of the trigger's URL as n8n makes it. Parts such as :id are
// taken out of data.
func (t *trigger) path(test bool, data map[string]any) (string, error) {
	endpoint, at, full := "webhook", strings.Trim(t.Parameters.Path, "/"), true
	switch t.kind {
	case formTrigger:
		endpoint, at = "form", strings.Trim(cmp.Or(at, t.Parameters.Options.Path, t.WebhookID), "/")
	case chatTrigger:
		at, full = "chat", false
	}
	if test {
		endpoint += "-test"
	}
	parts := strings.Split(at, "/")
	for i, part := range parts {
		key, dynamic := strings.CutPrefix(part, ":")
		if !dynamic {
			continue
		}
		value, ok := data[key]
		if !ok {
			return "", invalid("data", "The path of '%s' is %s, so data must have %s", t.name, at, key)
		}
		delete(data, key)
		parts[i], full = plain(value), false
	}
	switch {
	case t.WebhookID == "":
		// n8n escapes the name in the path itself.
		parts = append([]string{t.workflow, url.PathEscape(strings.ToLower(t.name))}, parts...)
	case at == "":
		parts = []string{t.WebhookID}
	case !full:
		parts = append([]string{t.WebhookID}, parts...)
	}
	return "/" + endpoint + path(parts...), nil
}

// plain returns a value as text.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return string(mustEncode(value))
}

// body returns what is sent: data as JSON, as a form, as a chat message, or as a query if
// the method has no body. mark is put where the execution shows it.
func (t *trigger) body(method string, data map[string]any, mark string) (body []byte, contentType, query string, err error) {
	switch {
	case t.kind == formTrigger:
		body, contentType, err = t.form(data)
		return body, contentType, "", err
	case t.kind == chatTrigger:
		if text, _ := data["chatInput"].(string); text == "" {
			return nil, "", "", invalid("data", `A chat needs data like {"chatInput":"Hello"}; sessionId continues a chat`)
		}
		whole := map[string]any{"action": "sendMessage", "sessionId": mark}
		maps.Copy(whole, data)
		data = whole
	case method == http.MethodGet || method == http.MethodHead || method == http.MethodDelete:
		values := url.Values{}
		for key, value := range data {
			values.Set(key, plain(value))
		}
		return nil, "", values.Encode(), nil
	}
	body, err = encodeJSON(data)
	return body, "application/json", "", err
}

// form encodes the fields of a form, which n8n numbers.
func (t *trigger) form(data map[string]any) ([]byte, string, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	fields := t.Parameters.FormFields.Values
	for _, key := range slices.Sorted(maps.Keys(data)) {
		at := slices.IndexFunc(fields, func(f formField) bool { return strings.EqualFold(f.name(), key) })
		if at < 0 {
			names := make([]string, len(fields))
			for i, f := range fields {
				names[i] = f.name()
			}
			return nil, "", invalid("data", "The form of '%s' has no field %s. Its fields: %s", t.name, gateway.Short(key), shortList(names))
		}
		if err := form.WriteField("field-"+strconv.Itoa(at), plain(data[key])); err != nil {
			return nil, "", err
		}
	}
	err := form.Close()
	return b.Bytes(), form.FormDataContentType(), err
}
