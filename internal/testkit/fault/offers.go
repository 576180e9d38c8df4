package fault

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// offers is what the server has beside tools, with -everything.
type offers struct {
	prompts, resources, templates []offer
	// versions counts how often each resource was touched.
	versions map[string]int
}

// offer is an entry of a list.
type offer struct {
	name       string // or the URI, or its template
	definition json.RawMessage
}

// uri is where a resource of this server is: -scheme lets several servers have
// resources beside one another.
func (o *options) uri(path string) string { return o.scheme + "://" + path }

func newOffers(opts *options) offers {
	o := offers{
		prompts: []offer{
			newPrompt("greet", `[{"name":"name","description":"Whom to greet.","required":true},{"name":"style"}]`),
			newPrompt("interview", `[{"name":"what"}]`),
		},
		resources: []offer{
			newResource(opts.uri("text"), "text/plain"),
			newResource(opts.uri("blob"), "application/octet-stream"),
			newResource(opts.uri("asked"), "text/plain"),
		},
		templates: []offer{newTemplate(opts.uri("note/{id}"))},
		versions:  map[string]int{},
	}
	for i := range opts.entries {
		o.prompts = append(o.prompts, newPrompt(fmt.Sprint("prompt_", i), `[]`))
		o.resources = append(o.resources, newResource(opts.uri(fmt.Sprint("generated/", i)), "text/plain"))
		o.templates = append(o.templates, newTemplate(opts.uri(fmt.Sprintf("series/%d/{id}", i))))
	}
	return o
}

func newPrompt(name, arguments string) offer {
	return offer{name, encode(map[string]any{"name": name, "description": "A prompt for tests.", "arguments": json.RawMessage(arguments)})}
}

func newResource(uri, mime string) offer {
	return offer{uri, encode(map[string]any{"uri": uri, "name": path.Base(uri), "mimeType": mime})}
}

func newTemplate(uri string) offer {
	return offer{uri, encode(map[string]any{"uriTemplate": uri, "name": path.Base(uri), "mimeType": "text/plain"})}
}

// serveOffer answers a request for what is beside tools. It reports false for
// one that it does not know.
func (s *server) serveOffer(ctx context.Context, req *request) bool {
	switch {
	case req.Method == "prompts/list":
		s.list(req, "prompts", s.offered(func(o *offers) []offer { return o.prompts }))
	case req.Method == "resources/list":
		s.list(req, "resources", s.offered(func(o *offers) []offer { return o.resources }))
	case req.Method == "resources/templates/list":
		s.list(req, "resourceTemplates", s.offered(func(o *offers) []offer { return o.templates }))
	case req.Method == "prompts/get":
		s.interruptible(ctx, req, s.getPrompt)
	case req.Method == "resources/read":
		s.interruptible(ctx, req, s.readResource)
	case req.Method == "completion/complete":
		s.complete(req)
	case req.Method == "logging/setLevel" && !req.modern:
		s.setLevel(req)
	case req.Method == "resources/subscribe" && !req.modern:
		s.watch(req, true)
	case req.Method == "resources/unsubscribe" && !req.modern:
		s.watch(req, false)
	default:
		return false
	}
	return true
}

func (s *server) offered(which func(*offers) []offer) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	definitions := []json.RawMessage{}
	for _, o := range which(&s.offers) {
		definitions = append(definitions, o.definition)
	}
	return definitions
}

func (s *server) offersOf(which func(*offers) []offer, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(which(&s.offers), func(o offer) bool { return o.name == name })
}

// interruptible runs what may ask the client before it answers.
func (s *server) interruptible(ctx context.Context, req *request, run func(ctx context.Context, c *toolCall) []byte) {
	var params struct {
		Name           string                     `json:"name"`
		URI            string                     `json:"uri"`
		Arguments      json.RawMessage            `json:"arguments"`
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
		RequestState   string                     `json:"requestState"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil {
		req.fail(invalidParams("params: %v", err))
		return
	}
	body := run(ctx, &toolCall{
		request: req, name: params.Name + params.URI, arguments: params.Arguments,
		inputResponses: params.InputResponses, requestState: params.RequestState,
	})
	if s.gaveUp(ctx) {
		s.record.cancelled(req.ID)
		return
	}
	if body != nil {
		status := http.StatusOK
		if rest, isError := strings.CutPrefix(string(body), `"error":`); isError && req.modern {
			status = statusOfError([]byte(rest))
		}
		req.answer(status, response(req.ID, body))
	}
}

// complete puts what every result of its era carries around the members.
func (c *toolCall) complete(members map[string]any) []byte {
	if c.modern {
		members = maps.Clone(members)
		members["resultType"], members["_meta"] = "complete", c.fields().Meta
	}
	return resultBody(encode(members))
}

func (s *server) getPrompt(ctx context.Context, c *toolCall) []byte {
	if !s.offersOf(func(o *offers) []offer { return o.prompts }, c.name) {
		return errorBody(encode(invalidParams("Unknown prompt: %s", c.name)))
	}
	arguments := map[string]string{}
	if err := c.decode(&arguments); err != nil {
		return errorBody(encode(invalidParams("arguments: %v", err)))
	}
	text := fmt.Sprintf("%s %s", c.name, encode(arguments))
	switch c.name {
	case "greet":
		if arguments["name"] == "" {
			return errorBody(encode(invalidParams("greet needs a name")))
		}
		text = "Greet " + arguments["name"] + " " + arguments["style"]
	case "interview":
		answers, refusal := s.interrogate(ctx, c, &questionnaire{What: arguments["what"]})
		if refusal != nil {
			return refusal
		}
		text = string(encode(answers))
	}
	return c.complete(map[string]any{
		"description": "A prompt for tests.",
		"messages":    []any{map[string]any{"role": "user", "content": textContent{"text", text}}},
	})
}

func (s *server) readResource(ctx context.Context, c *toolCall) []byte {
	contents := map[string]any{"uri": c.name, "mimeType": "text/plain"}
	note, isNote := strings.CutPrefix(c.name, s.opts.uri("note/"))
	s.mu.Lock()
	version := s.offers.versions[c.name]
	s.mu.Unlock()
	switch {
	case c.name == s.opts.uri("blob"):
		contents["mimeType"] = "application/octet-stream"
		contents["blob"] = base64.StdEncoding.EncodeToString([]byte{0, 1, 2, 0xff})
	case c.name == s.opts.uri("asked"):
		answers, refusal := s.interrogate(ctx, c, &questionnaire{})
		if refusal != nil {
			return refusal
		}
		contents["text"] = string(encode(answers))
	case isNote:
		contents["text"] = "note " + note
	case s.offersOf(func(o *offers) []offer { return o.resources }, c.name):
		contents["text"] = fmt.Sprintf("%s version %d", c.name, version)
	default:
		err := invalidParams("Resource not found: %s", c.name)
		if !c.modern {
			err.Code = codeResourceNotFound
		}
		err.Data = map[string]any{"uri": c.name}
		return errorBody(encode(err))
	}
	members := map[string]any{"contents": []any{contents}}
	if c.modern {
		members["ttlMs"], members["cacheScope"] = s.opts.ttlMs, "public"
	}
	return c.complete(members)
}

// complete proposes values for an argument of a prompt or of a template.
func (s *server) complete(req *request) {
	var params struct {
		Ref struct {
			Type string `json:"type"`
			Name string `json:"name"`
			URI  string `json:"uri"`
		} `json:"ref"`
		Argument struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"argument"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil {
		req.fail(invalidParams("params: %v", err))
		return
	}
	known := params.Ref.Type == "ref/prompt" && s.offersOf(func(o *offers) []offer { return o.prompts }, params.Ref.Name) ||
		params.Ref.Type == "ref/resource" && s.offersOf(func(o *offers) []offer { return o.templates }, params.Ref.URI)
	if !known {
		req.fail(invalidParams("unknown ref %s %s%s", params.Ref.Type, params.Ref.Name, params.Ref.URI))
		return
	}
	values := []string{}
	for _, value := range []string{"alpha", "beta", "better"} {
		if strings.HasPrefix(value, params.Argument.Value) {
			values = append(values, value)
		}
	}
	c := &toolCall{request: req}
	req.answer(http.StatusOK, response(req.ID, c.complete(map[string]any{
		"completion": map[string]any{"values": values, "total": len(values), "hasMore": false},
	})))
}

// watch takes a legacy client's wish to hear, or not to hear, of a resource.
func (s *server) watch(req *request, wanted bool) {
	var params struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil || params.URI == "" {
		req.fail(invalidParams("a uri is needed"))
		return
	}
	c := req.conn
	c.mu.Lock()
	if c.subscribed == nil {
		c.subscribed = map[string]bool{}
	}
	c.subscribed[params.URI] = wanted
	c.mu.Unlock()
	req.succeed(struct{}{})
}

// levels are the log levels, from the loudest setting to the quietest.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

func loudness(level string) int { return slices.Index(levels(), level) }

func (s *server) setLevel(req *request) {
	var params struct {
		Level string `json:"level"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil || loudness(params.Level) < 0 {
		req.fail(invalidParams("unknown level %q", params.Level))
		return
	}
	req.conn.mu.Lock()
	req.conn.logLevel = params.Level
	req.conn.mu.Unlock()
	req.succeed(struct{}{})
}

// wantsLog reports whether the client of a request wants a message of a level.
// A legacy client that did not say gets those from info on; a modern one none.
func (r *request) wantsLog(level string) bool {
	wanted := r.logLevel
	if !r.modern {
		r.conn.mu.Lock()
		wanted = r.conn.logLevel
		r.conn.mu.Unlock()
		if wanted == "" {
			wanted = "info"
		}
	}
	return wanted != "" && loudness(level) >= loudness(wanted)
}
