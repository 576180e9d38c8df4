package fault

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// The causes for which a request's context ends.
var (
	errCancelled = errors.New("the client cancelled the request")
	errShutdown  = errors.New("the server ends")
)

// server is everything that does not depend on the transport: the tools, the
// methods, and who wants to hear about changes.
type server struct {
	stalled atomic.Bool
	opts    *options
	record  *recorder
	counter *counter
	stderr  io.Writer
	// lifetime ends with the server.
	lifetime context.Context
	// answered counts tools/call, for -crash-after.
	answered atomic.Int64

	mu        sync.Mutex
	tools     []tool
	offers    offers
	changes   int
	tasks     []*task
	learnt    map[string]assignment // by the client's task
	listeners map[listener]struct{}
}

func newServer(ctx context.Context, opts *options, record *recorder, stderr io.Writer) *server {
	s := &server{
		opts:      opts,
		record:    record,
		counter:   &counter{path: opts.counter},
		stderr:    stderr,
		lifetime:  ctx,
		listeners: make(map[listener]struct{}),
		learnt:    make(map[string]assignment),
	}
	s.tools = append(baseTools(opts), generatedTools(opts.tools)...)
	if opts.everything {
		s.offers = newOffers(opts)
	}
	return s
}

// request is one request on its way, with what its era says about it.
type request struct {
	*message
	conn *conn
	out  outlet
	// modern requests stand alone; legacy ones belong to their conn.
	modern       bool
	token        json.RawMessage
	capabilities *clientCapabilities
	logLevel     string      // how loud a modern client wants it
	headerParams http.Header // HTTP only
	// note records the request. Set on HTTP only; stdio records what it reads.
	note func()
	// settle frees the request's id, before its answer is written.
	settle func()
	// opened says that a subscription is in place. Set on stdio only.
	opened func()
}

// answer sends the one message that ends the request.
func (r *request) answer(status int, msg []byte) {
	if r.note != nil {
		r.note()
	}
	if r.settle != nil {
		r.settle()
	}
	// A client that is gone needs no answer.
	_ = send(r.out, status, msg)
}

func (r *request) succeed(result any) {
	r.answer(http.StatusOK, response(r.ID, resultBody(encode(result))))
}

func (r *request) fail(err *rpcError) {
	r.answer(err.httpStatus(), response(r.ID, errorBody(encode(err))))
}

// serve answers one request. It returns when the answer has been written, or
// without one when the request was cancelled.
func (s *server) serve(ctx context.Context, req *request) {
	if s.stalled.Load() {
		<-ctx.Done()
		return
	}
	switch {
	case req.Method == "tools/list" && s.opts.on(modeHangList):
		<-ctx.Done()
	case req.Method == "tools/list":
		s.list(req, "tools", s.definitions())
	case req.Method == "tools/call":
		s.callTool(ctx, req)
	case req.Method == "server/discover" && req.modern:
		s.discover(ctx, req)
	case req.Method == "subscriptions/listen" && req.modern:
		s.subscribe(ctx, req)
	case req.Method == "initialize" && !req.modern:
		s.initialize(ctx, req)
	case req.Method == "ping" && !req.modern:
		req.succeed(struct{}{})
	case s.opts.everything && s.serveOffer(ctx, req):
	case s.opts.tasks && s.serveTask(ctx, req):
	default:
		err := &rpcError{Code: codeMethodNotFound, Message: "method not found: " + req.Method}
		if req.modern {
			err.status = http.StatusNotFound
		}
		req.fail(err)
	}
}

// admit decides a request's era and checks what that era demands of every
// request. The transport has already decided what only headers can say.
func (s *server) admit(req *request, initialized bool) *rpcError {
	// Before the next request is read, which may be a ping.
	if s.opts.on(modeStall) && req.Method == "tools/call" && bytes.Contains(req.Params, []byte(`"stall"`)) {
		s.stalled.Store(true)
	}
	m, err := parseMeta(req.Params)
	if err != nil {
		return err
	}
	req.token = m.progressToken
	if !s.opts.speaksModern() || (m.version == nil && s.opts.speaksLegacy() && (initialized || req.Method == "initialize")) {
		if req.Method != "initialize" && req.Method != "ping" && req.Method != "server/discover" && !initialized {
			return badRequest(codeInvalidRequest, "initialize first")
		}
		req.capabilities = req.conn.clientCapabilities()
		return nil
	}
	req.modern = true
	if req.Method == "initialize" {
		var params struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(req.Params, &params)
		return unsupportedVersion(params.ProtocolVersion, modernVersions())
	}
	if m.version == nil {
		return badRequest(codeInvalidParams, "_meta lacks %s", metaVersion)
	}
	if m.capabilities == nil {
		return badRequest(codeInvalidParams, "_meta lacks %s", metaCapabilities)
	}
	if !slices.Contains(modernVersions(), *m.version) {
		return unsupportedVersion(*m.version, s.supportedVersions())
	}
	req.capabilities, req.logLevel = m.capabilities, m.logLevel
	return nil
}

func unsupportedVersion(requested string, supported []string) *rpcError {
	err := badRequest(codeUnsupportedVersion, "Unsupported protocol version; this server speaks %v", supported)
	err.Data = map[string]any{"supported": supported, "requested": requested}
	return err
}

func (s *server) supportedVersions() []string {
	var versions []string
	if s.opts.speaksModern() {
		versions = append(versions, modernVersions()...)
	}
	if s.opts.speaksLegacy() {
		versions = append(versions, legacyVersions()...)
	}
	return versions
}

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func serverInfo() implementation { return implementation{Name: "faultserver", Version: "1.0.0"} }

// modernFields are what every complete modern result carries.
type modernFields struct {
	ResultType string         `json:"resultType,omitempty"`
	Meta       map[string]any `json:"_meta,omitempty"`
}

func (r *request) fields() modernFields {
	if !r.modern {
		return modernFields{}
	}
	return modernFields{ResultType: "complete", Meta: map[string]any{metaServerInfo: serverInfo()}}
}

func (s *server) capabilities(modern bool) any {
	listChanged := map[string]any{"listChanged": true}
	offered := map[string]any{"tools": listChanged}
	if s.opts.everything {
		offered["prompts"] = listChanged
		offered["resources"] = map[string]any{"listChanged": true, "subscribe": true}
		offered["completions"] = struct{}{}
		offered["logging"] = struct{}{}
	}
	switch {
	case s.opts.tasks && modern:
		offered["extensions"] = map[string]any{tasksExtension: struct{}{}}
	case s.opts.tasks:
		offered["tasks"] = json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	return offered
}

const instructions = "A server for tests. What it does wrong, it does on purpose."

func (s *server) initialize(ctx context.Context, req *request) {
	var params struct {
		ProtocolVersion string              `json:"protocolVersion"`
		Capabilities    *clientCapabilities `json:"capabilities"`
		ClientInfo      *implementation     `json:"clientInfo"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil {
		req.fail(invalidParams("params: %v", err))
		return
	}
	if params.ProtocolVersion == "" || params.Capabilities == nil || params.ClientInfo == nil {
		req.fail(invalidParams("initialize needs protocolVersion, capabilities and clientInfo"))
		return
	}
	if s.opts.on(modeHangInit) {
		<-ctx.Done()
		return
	}
	version := params.ProtocolVersion
	if !slices.Contains(legacyVersions(), version) {
		version = legacyVersions()[0]
	}
	req.conn.open(params.Capabilities)
	if x, ok := req.out.(*exchange); ok {
		x.setSession(req.conn.id)
	}
	// Registered before the answer: from here on the client may rely on being
	// told.
	s.listen(req.conn)
	req.succeed(struct {
		ProtocolVersion string         `json:"protocolVersion"`
		Capabilities    any            `json:"capabilities"`
		ServerInfo      implementation `json:"serverInfo"`
		Instructions    string         `json:"instructions"`
	}{version, s.capabilities(false), serverInfo(), instructions})
}

func (s *server) discover(ctx context.Context, req *request) {
	if s.opts.on(modeHangInit) {
		<-ctx.Done()
		return
	}
	req.succeed(struct {
		modernFields
		SupportedVersions []string `json:"supportedVersions"`
		Capabilities      any      `json:"capabilities"`
		Instructions      string   `json:"instructions"`
		TTLMs             int      `json:"ttlMs"`
		CacheScope        string   `json:"cacheScope"`
	}{req.fields(), s.supportedVersions(), s.capabilities(true), instructions, s.opts.ttlMs, "public"})
}

// list answers with a page of a list.
func (s *server) list(req *request, key string, definitions []json.RawMessage) {
	var params struct {
		Cursor *string `json:"cursor"`
	}
	if len(req.Params) > 0 {
		if err := json.Unmarshal(req.Params, &params); err != nil {
			req.fail(invalidParams("params: %v", err))
			return
		}
	}
	from, to, next := 0, len(definitions), ""
	if params.Cursor != nil {
		var ok bool
		if from, ok = parseCursor(*params.Cursor); !ok || from > len(definitions) || s.opts.page == 0 {
			req.fail(invalidParams("invalid cursor"))
			return
		}
	}
	if s.opts.page > 0 && from+s.opts.page < len(definitions) {
		to = from + s.opts.page
		next = cursor(to)
	}
	result := map[string]any{key: definitions[from:to]}
	if next != "" {
		result["nextCursor"] = next
	}
	if req.modern {
		result["ttlMs"], result["cacheScope"] = s.opts.ttlMs, "public"
		result["resultType"], result["_meta"] = "complete", req.fields().Meta
	}
	req.succeed(result)
}

func cursor(offset int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "offset=%d", offset))
}

func parseCursor(text string) (offset int, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, false
	}
	const prefix = "offset="
	if len(raw) < len(prefix) || string(raw[:len(prefix)]) != prefix {
		return 0, false
	}
	offset, err = strconv.Atoi(string(raw[len(prefix):]))
	return offset, err == nil && offset >= 0
}

func (s *server) definitions() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	definitions := make([]json.RawMessage, len(s.tools))
	for i := range s.tools {
		definitions[i] = s.tools[i].definition
	}
	return definitions
}

func (s *server) findTool(name string) (tool, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tools {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}

// changeTools lets change edit the list and tells everybody when it did.
func (s *server) changeTools(change func([]tool) ([]tool, bool)) bool {
	s.mu.Lock()
	tools, changed := change(slices.Clone(s.tools))
	if changed {
		s.tools = tools
	}
	s.mu.Unlock()
	if changed {
		s.tellAll(func(l listener) { l.changed("tools") })
	}
	return changed
}

// crash ends the process as a crash would: nothing is closed, nothing is said.
func (s *server) crash() { os.Exit(exitCrash) }
