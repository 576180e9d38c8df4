package upstream

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// protocol is the result of the handshake with a server.
type protocol struct {
	era     gateway.Era
	version string
	// both is set if a modern server says that it supports a legacy version, too.
	both bool
	// offers and announces are the kinds that the server has, and those whose
	// changes it announces. watches is set if resources can be subscribed to.
	offers, announces    [gateway.KindCount]bool
	watches, logs, tasks bool
	// about is the server's description of itself.
	about About
	self  self
}

// announcesAny reports whether the server announces changes of any kind.
func (p protocol) announcesAny() bool {
	for _, kind := range gateway.Kinds() {
		if p.announces[kind] {
			return true
		}
	}
	return false
}

// announcesAll reports whether the server announces changes of every kind that it
// has.
func (p protocol) announcesAll() bool {
	for _, kind := range gateway.Kinds() {
		if p.offers[kind] && !p.announces[kind] {
			return false
		}
	}
	return true
}

// listenFilter returns the filter of subscriptions/listen for the server's lists.
func (p protocol) listenFilter() string {
	filter := ""
	add := func(kind gateway.Kind, word string) {
		if p.announces[kind] {
			filter += `,"` + word + `":true`
		}
	}
	add(gateway.KindTool, "toolsListChanged")
	add(gateway.KindPrompt, "promptsListChanged")
	add(gateway.KindResource, "resourcesListChanged")
	return `"notifications":{` + strings.TrimPrefix(filter, ",") + `}`
}

// self is how genkan introduces itself.
type self struct {
	version string
	// capabilities is the JSON object that a legacy server is sent: the
	// capabilities of the one client, or all capabilities on a shared connection.
	capabilities string
}

func (u self) info() string {
	return `{"name":"genkan","title":"Genkan","version":` + string(jsonrpc.AppendQuoted(nil, u.version)) + `}`
}

// meta returns the _meta members of genkan's own requests to a modern server.
func (u self) meta() string {
	return `"` + jsonrpc.MetaVersion + `":"` + gateway.ModernVersion + `","` +
		jsonrpc.MetaClientInfo + `":` + u.info() + `,"` + jsonrpc.MetaClientCapabilities + `":{}`
}

func (u self) discoverParams() []byte { return []byte(`{"_meta":{` + u.meta() + `}}`) }

func (u self) initializeParams() []byte {
	return []byte(`{"protocolVersion":"` + gateway.LegacyVersion + `","capabilities":` + cmp.Or(u.capabilities, "{}") + `,"clientInfo":` + u.info() + `}`)
}

// ownParams returns the params of a request of genkan's own, with extra members.
func (p protocol) ownParams(extra string) []byte {
	switch {
	case p.era != gateway.EraModern:
		return []byte("{" + extra + "}")
	case extra == "":
		return p.self.discoverParams()
	default:
		return []byte(`{` + extra + `,"_meta":{` + p.self.meta() + `}}`)
	}
}

// listenParams returns the params of subscriptions/listen. They announce the
// tasks extension, without which servers send no task states.
func (p protocol) listenParams(filter string) []byte {
	meta := strings.TrimSuffix(p.self.meta(), "{}") + `{"extensions":{"` + tasksExtension + `":{}}}`
	return []byte(`{` + filter + `,"_meta":{` + meta + `}}`)
}

// fromDiscover reads the answer to server/discover. It reports false if the
// server supports no modern version that genkan does.
func fromDiscover(result []byte, u self) (protocol, bool) {
	p := protocol{era: gateway.EraModern, version: gateway.ModernVersion, self: u}
	p.introduce(result, jsonrpc.Lookup(jsonrpc.Lookup(result, "_meta"), jsonrpc.MetaServerInfo))
	found := false
	err := jsonrpc.Elements(jsonrpc.Lookup(result, "supportedVersions"), func(v []byte) bool {
		found = found || string(v) == `"`+gateway.ModernVersion+`"`
		p.both = p.both || slices.Contains(gateway.LegacyVersions(), strings.Trim(string(v), `"`))
		return true
	})
	return p, found && err == nil
}

func fromInitialize(result []byte, u self) (protocol, error) {
	p := protocol{era: gateway.EraLegacy, version: jsonrpc.LookupText(result, "protocolVersion"), self: u}
	p.introduce(result, jsonrpc.Lookup(result, "serverInfo"))
	if slices.Contains(gateway.LegacyVersions(), p.version) {
		return p, nil
	}
	return p, gateway.Errorf(gateway.CodeUnavailable,
		"it speaks MCP %q, which genkan does not; update the server or genkan", p.version)
}

// introduce records the server's description of itself.
func (p *protocol) introduce(result, info []byte) {
	raw := jsonrpc.Lookup(result, "capabilities")
	p.offer(raw)
	p.about = About{
		Capabilities: bytes.Clone(raw), Info: bytes.Clone(info),
		Instructions: jsonrpc.LookupText(result, "instructions"),
	}.bounded()
}

// offer reads a server's capabilities.
func (p *protocol) offer(raw []byte) {
	has := func(object []byte, key string) bool { return string(jsonrpc.Lookup(object, key)) == "true" }
	for kind, word := range map[gateway.Kind]string{
		gateway.KindTool: "tools", gateway.KindPrompt: "prompts",
		gateway.KindResource: "resources", gateway.KindTemplate: "resources",
	} {
		capability := jsonrpc.Lookup(raw, word)
		p.offers[kind] = capability != nil
		p.announces[kind] = has(capability, "listChanged")
	}
	p.watches = has(jsonrpc.Lookup(raw, "resources"), "subscribe")
	p.logs = jsonrpc.Lookup(raw, "logging") != nil
	p.tasks = jsonrpc.Lookup(raw, "tasks") != nil || jsonrpc.Lookup(jsonrpc.Lookup(raw, "extensions"), tasksExtension) != nil
}

// isModernError reports whether only a modern server sends this error.
func isModernError(object []byte) bool {
	switch string(jsonrpc.Lookup(object, "code")) {
	case "-32020", "-32021", "-32022":
		return true
	default:
		return false
	}
}

// appendParams appends a call's params for this server: with its own name of the
// tool, genkan's progress token, and the _meta of its era. Everything else is
// copied byte for byte.
func (p protocol) appendParams(dst []byte, call *gateway.Call, in *gateway.Params, token uint64) []byte {
	if len(in.Raw) == 0 {
		return append(append(append(dst, `{"_meta":`...), p.freshMeta(call, token)...), '}')
	}
	var scratch [160]byte
	name := jsonrpc.Edit{}
	buf := scratch[:0]
	if in.Name.Present() && call.Tool.Name != call.Name {
		buf = jsonrpc.AppendQuoted(buf, call.Tool.Name)
		name = jsonrpc.Edit{At: in.Name, With: buf}
	}
	meta := p.metaEdit(buf[len(buf):], call, in, token)
	first, second := name, meta
	if first.At.Start > second.At.Start {
		first, second = second, first
	}
	if !name.At.Present() {
		return jsonrpc.Splice(dst, in.Raw, meta)
	}
	return jsonrpc.Splice(dst, in.Raw, first, second)
}

// metaEdit returns the edit of _meta. It always sets a progress token, also when
// the client wants no progress: progress keeps a long call from timing out.
func (p protocol) metaEdit(buf []byte, call *gateway.Call, in *gateway.Params, token uint64) jsonrpc.Edit {
	sameEra := (p.era == gateway.EraModern) == (call.Era == gateway.EraModern)
	if sameEra && (p.tasks || !offersTasks(in)) {
		if in.ProgressToken.Present() {
			return jsonrpc.Edit{At: in.ProgressToken, With: strconv.AppendUint(buf, token, 10)}
		}
		if in.Meta.Present() {
			return jsonrpc.Edit{At: lastByte(in.Meta), With: appendToken(buf, token, isEmptyObject(in.Get(in.Meta)))}
		}
	}
	if !in.Meta.Present() {
		if !isEmptyObject(in.Raw) {
			buf = append(buf, ',')
		}
		buf = append(append(buf, `"_meta":`...), p.freshMeta(call, token)...)
		end := uint32(len(in.Raw)) //nolint:gosec // at most MaxMessage
		return jsonrpc.Edit{At: lastByte(gateway.Span{End: end}), With: buf}
	}
	return jsonrpc.Edit{At: in.Meta, With: p.rebuildMeta(call, in, token)}
}

// freshMeta returns the _meta of a call that has none.
func (p protocol) freshMeta(call *gateway.Call, token uint64) []byte {
	out := appendToken([]byte{'{'}, token, true)
	if p.era == gateway.EraModern {
		out = append(append(out, ','), p.metaFor(call)...)
	}
	return append(out, '}')
}

// metaFor returns the _meta members that a modern server needs about a legacy
// caller: its capabilities and its log level.
func (p protocol) metaFor(call *gateway.Call) string {
	capabilities := call.Capabilities()
	level, _ := call.LogLevel()
	if capabilities == nil && level == "" {
		return p.self.meta()
	}
	meta := `"` + jsonrpc.MetaVersion + `":"` + gateway.ModernVersion + `","` + jsonrpc.MetaClientInfo + `":` + p.self.info()
	meta += `,"` + jsonrpc.MetaClientCapabilities + `":` + cmp.Or(string(withoutTasks(capabilities)), "{}")
	if level != "" {
		meta += `,"` + jsonrpc.MetaLogLevel + `":` + string(jsonrpc.AppendQuoted(nil, level))
	}
	return meta
}

func lastByte(s gateway.Span) gateway.Span { return gateway.Span{Start: s.End - 1, End: s.End - 1} }

func appendToken(buf []byte, token uint64, first bool) []byte {
	if !first {
		buf = append(buf, ',')
	}
	buf = append(buf, `"progressToken":`...)
	return strconv.AppendUint(buf, token, 10)
}

func isEmptyObject(object []byte) bool {
	return len(object) >= 2 && len(bytes.TrimSpace(object[1:len(object)-1])) == 0
}

// rebuildMeta returns a new _meta where an edit is not enough: for a caller of
// the other era, or one that offers an extension that the server does not have.
func (p protocol) rebuildMeta(call *gateway.Call, in *gateway.Params, token uint64) []byte {
	out := appendToken([]byte{'{'}, token, true)
	callerModern := in.Version.Present()
	err := jsonrpc.Members(in.Get(in.Meta), func(key, value []byte) bool {
		switch string(key) {
		case "progressToken":
			return true
		case jsonrpc.MetaVersion, jsonrpc.MetaClientInfo, jsonrpc.MetaLogLevel, jsonrpc.MetaClientCapabilities:
			if p.era != gateway.EraModern {
				return true
			}
			if string(key) == jsonrpc.MetaClientCapabilities && !p.tasks {
				value = withoutTasks(value)
			}
		}
		out = jsonrpc.AppendQuoted(append(out, ','), string(key))
		out = append(append(out, ':'), value...)
		return true
	})
	if err != nil { // scanned before, so this cannot be
		return append(appendToken([]byte{'{'}, token, true), '}')
	}
	if p.era == gateway.EraModern && !callerModern {
		out = append(append(out, ','), p.metaFor(call)...)
	}
	return append(out, '}')
}

// answer returns the result in the form of the caller's era.
func (p protocol) answer(msg *jsonrpc.Message, call *gateway.Call) (*gateway.Result, error) {
	if msg.Kind == jsonrpc.ErrorResponse {
		return nil, rpcError(msg.Error)
	}
	result := msg.Result
	if call.Era == gateway.EraModern && p.era != gateway.EraModern && result.Type == gateway.ResultUntyped {
		// A modern client must be told the type, and how long it may keep what
		// it has read.
		head := []byte(`{"resultType":"complete"`)
		if call.Method == "resources/read" {
			head = append(head, `,"ttlMs":0,"cacheScope":"private"`...)
		}
		if !isEmptyObject(result.Raw) {
			head = append(head, ',')
		}
		result.Raw = append(head, result.Raw[1:]...)
		result.Type = gateway.ResultComplete
	}
	if call.Era != gateway.EraModern && result.Type == gateway.ResultOther {
		return nil, unusable("%s answered in a way that this client's protocol version cannot carry", call.Tool.Exposed)
	}
	return &result, nil
}

// reserve reserves memory for an answer. Its error says that the call was carried
// out: sending the call again would repeat it.
func reserve(call *gateway.Call, n int) error {
	err := call.Reserve(n)
	if err == nil {
		return nil
	}
	e := *gateway.AsError(err)
	e.Message, e.Values = "the call was carried out, but its answer was too large to be kept just now: too many large calls of this client are under way", nil
	return &e
}

// unusable is the error for an answer that arrived and cannot be forwarded.
func unusable(format string, values ...any) error {
	e := gateway.Errorf(gateway.CodeUnavailable, format, values...)
	e.Answered = true
	return e
}

func tooLarge(server string) error {
	return unusable("an answer of server %s is larger than %d MiB, which is the most that passes", server, gateway.MaxResult>>20)
}

// invalidAnswer is the error of a call whose answer cannot be parsed. Of the
// answer the reason shows at most a key.
func invalidAnswer(server string, data []byte, reason error) error {
	if !utf8.Valid(data) {
		return unusable("server %s sent an answer that is not valid UTF-8, so it cannot be read; the call may have been carried out, so check before you repeat it. The server must write UTF-8: update it, or if it is a Python program, set PYTHONUTF8=1 in its env", server)
	}
	return unusable("server %s sent an answer that is not valid: %s; the call may have been carried out, so check before you repeat it. Update the server, or report this to its maker", server, reason)
}

// rpcError returns a server's error response as an error. Edges forward it
// unchanged.
func rpcError(object []byte) error {
	code := gateway.CodeUnavailable
	switch string(jsonrpc.Lookup(object, "code")) {
	case "-32602", "-32600":
		code = gateway.CodeInvalid
	case "-32601":
		code = gateway.CodeNotFound
	}
	e := gateway.Errorf(code, "the server answered with an error")
	if message := jsonrpc.LookupText(object, "message"); message != "" {
		e = gateway.Errorf(code, "%s", message)
	}
	e.RPC = object
	return e
}

// forwardProgress forwards a server's progress with the caller's own token, and
// extends the call's timeout.
func forwardProgress(call *gateway.Call, params []byte) {
	call.SignOfLife()
	call.Progressed(params)
	own := call.ProgressToken()
	if call.Peer == nil || own == nil {
		return
	}
	at := jsonrpc.LookupSpan(params, "progressToken")
	if !at.Present() {
		return
	}
	call.Peer.Notify("notifications/progress", jsonrpc.Splice(nil, params, jsonrpc.Edit{At: at, With: own}))
}

// asker sends a request of genkan's own and returns the answer.
type asker func(ctx context.Context, method string, params []byte) (jsonrpc.Message, error)

// listed is a complete list as one JSON array.
type listed struct {
	raw []byte
	// fresh is how long the list may be cached, in milliseconds; -1 if the server
	// does not say.
	fresh int64
}

// listAll reads all pages of a list.
func listAll(ctx context.Context, p protocol, kind gateway.Kind, ask asker) (listed, error) {
	if !p.offers[kind] {
		return listed{[]byte("[]"), -1}, nil
	}
	const mostPages = 1000
	all := []byte{'['}
	fresh := int64(-1)
	extra := ""
	for range mostPages {
		msg, err := ask(ctx, kind.ListMethod(), p.ownParams(extra))
		if err != nil {
			return listed{}, err
		}
		if msg.Kind == jsonrpc.ErrorResponse {
			if kind != gateway.KindTool && string(jsonrpc.Lookup(msg.Error, "code")) == "-32601" {
				// Many servers have resources and know nothing of templates.
				return listed{[]byte("[]"), -1}, nil
			}
			return listed{}, rpcError(msg.Error)
		}
		err = jsonrpc.Elements(jsonrpc.Lookup(msg.Result.Raw, kind.ListKey()), func(tool []byte) bool {
			if len(all) > 1 {
				all = append(all, ',')
			}
			all = append(all, tool...)
			return true
		})
		if err != nil {
			e := gateway.Errorf(gateway.CodeUnavailable, "its answer to %s has no list of %s", kind.ListMethod(), kind.String())
			e.Err = err
			return listed{}, e
		}
		if len(all) > gateway.MaxResult {
			return listed{}, gateway.Errorf(gateway.CodeUnavailable, "its list of %s is larger than %d MiB", kind.String(), gateway.MaxResult>>20)
		}
		if ttl, err := strconv.ParseInt(string(jsonrpc.Lookup(msg.Result.Raw, "ttlMs")), 10, 64); err == nil && ttl >= 0 && (fresh < 0 || ttl < fresh) {
			fresh = ttl
		}
		next := jsonrpc.Lookup(msg.Result.Raw, "nextCursor")
		if next == nil || string(next) == "null" {
			return listed{append(all, ']'), fresh}, nil
		}
		if again := `"cursor":` + string(next); again == extra {
			return listed{}, gateway.Errorf(gateway.CodeUnavailable, "its list of %s has no end: it gives the same cursor again", kind.String())
		} else { //nolint:revive // again is only needed here
			extra = again
		}
	}
	return listed{}, gateway.Errorf(gateway.CodeUnavailable, "its list of %s has more than %d pages", kind.String(), mostPages)
}

// canceledParams returns the params of notifications/cancelled.
func canceledParams(id uint64, cause error) []byte {
	reason := "the caller no longer waits"
	if cause != nil && gateway.AsError(cause).Code == gateway.CodeTimeout {
		reason = "the call took too long"
	}
	return fmt.Appendf(nil, `{"requestId":%d,"reason":%q}`, id, reason)
}

func parseID(raw []byte) (uint64, bool) {
	if len(raw) == 0 || len(raw) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}
