package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// The methods that workflows are for.
const (
	ToolsList     = "tools/list"
	ToolsCall     = "tools/call"
	PromptsGet    = "prompts/get"
	ResourcesRead = "resources/read"
)

// Definition is a workflow as people write, export and import it. Keys that are not
// known here survive reading and writing, in nodes and edges too: editors keep their
// own there.
type Definition struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Type is the method of the calls that the workflow is for.
	Type      string `json:"workflowType"`
	Nodes     []Node `json:"nodes"`
	Edges     []Edge `json:"edges"`
	Enabled   bool   `json:"enabled"`
	CreatedAt Millis `json:"createdAt"`
	UpdatedAt Millis `json:"updatedAt"`

	// Version counts the changes. The store sets it.
	Version int `json:"version,omitempty"`
	// Order and then ID say which of several workflows is the outer one: the one with
	// the lowest sees a call first and its answer last.
	Order int `json:"order,omitempty"`
	// Mode is enforce or shadow; empty for enforce.
	Mode  string `json:"mode,omitempty"`
	Match Match  `json:"match,omitzero"`
	// FailMode says what happens to a call if the workflow fails: closed refuses it,
	// open lets it pass. Empty is closed.
	FailMode string `json:"failMode,omitempty"`
	// Always says that it runs also while all workflows are turned off, because something
	// else relies on it.
	Always bool   `json:"always,omitempty"`
	Limits Limits `json:"limits,omitzero"`
	// Vars are the values that scripts see as vars.
	Vars  map[string]json.RawMessage `json:"vars,omitempty"`
	State State                      `json:"state,omitzero"`
	// Notifications is pass if texts of progress and log messages may overtake the
	// nodes behind the call; empty if they may not.
	Notifications string `json:"notifications,omitempty"`
	// MadeFrom is the template that the workflow was made from, if one was used.
	MadeFrom Origin `json:"madeFrom,omitzero"`

	rest members
}

// Origin is a template as it was when a workflow was made from it.
type Origin struct {
	Template string `json:"template"`
	// Scripts identifies the scripts that the template had; empty if it had none.
	Scripts string `json:"scripts,omitempty"`
}

// Node is a step of a workflow.
type Node struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	// Data has the settings of the node's type.
	Data json.RawMessage `json:"data,omitempty"`

	rest members
}

// Edge leads from a node to the next. SourceHandle names the way out of the source.
type Edge struct {
	ID           string  `json:"id,omitempty"`
	Source       string  `json:"source"`
	Target       string  `json:"target"`
	SourceHandle *string `json:"sourceHandle,omitempty"`

	rest members
}

// Match says which calls a workflow is for. An empty list matches everything. A
// pattern may have * and ?; a pattern that begins with ! excludes.
type Match struct {
	Servers []string `json:"servers,omitempty"`
	// Tools matches server__tool, by the server's own names, whatever clients see.
	Tools   []string `json:"tools,omitempty"`
	Clients []string `json:"clients,omitempty"`
	// Annotations are hints that the tool must have. A tool that says nothing has the
	// defaults of MCP.
	Annotations map[string]bool `json:"annotations,omitempty"`
	// When is a CEL expression over the request.
	When string `json:"when,omitempty"`

	rest members
}

// Limits bound a run. Zero means the default.
type Limits struct {
	// TotalMs is how long the nodes of a run may take together, without the call and
	// without the time in which a person is asked.
	TotalMs   int `json:"totalMs,omitempty"`
	HookMs    int `json:"hookMs,omitempty"`
	HookMemMB int `json:"hookMemMB,omitempty"`
	PayloadKB int `json:"payloadKB,omitempty"`
	// Depth is how deep calls that workflows make may nest.
	Depth int `json:"depth,omitempty"`
	LogKB int `json:"logKB,omitempty"`
	// DetachedMax is how many fire-and-forget hooks of the workflow may wait.
	DetachedMax int `json:"detachedMax,omitempty"`
	// FetchHosts are the hosts that scripts may reach, as patterns.
	FetchHosts []string `json:"fetchHosts,omitempty"`

	rest members
}

// State says where scripts keep values.
type State struct {
	// Scope is run, session or workflow; empty for run.
	Scope string `json:"scope,omitempty"`
	TTLS  int    `json:"ttlS,omitempty"`
	MaxKB int    `json:"maxKB,omitempty"`

	rest members
}

// The defaults of limits.
const (
	defaultTotal       = 30 * time.Second
	defaultDepth       = 4
	defaultDetached    = 64
	defaultPayload     = 1 << 20
	defaultApproval    = 5 * time.Minute
	defaultStateSize   = 64 << 10
	defaultStateTTL    = time.Hour
	shadow             = "shadow"
	pass               = "pass"
	open               = "open"
	handleOut          = "out"
	handleError        = "error"
	handleElse         = "else"
	handleDenied       = "denied"
	onErrorFail        = "fail"
	onErrorContinue    = "continue"
	onErrorBranch      = "branch"
	scopeSession       = "session"
	scopeWorkflow      = "workflow"
	largestDefinition  = 4 << 20
	mostNodes          = 1000
	kilobyte, megabyte = 1 << 10, 1 << 20
)

// Millis is a time in milliseconds since 1970.
type Millis int64

// UnmarshalJSON reads a number, also one with a fraction.
func (m *Millis) UnmarshalJSON(raw []byte) error {
	var n float64
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	if math.Abs(n) > 1<<53 {
		return errNoTime
	}
	*m = Millis(n)
	return nil
}

var errNoTime = errors.New("it is no time in milliseconds")

// Time is the point in time.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)) }

// Same reports whether two versions of a workflow are the same but for when they were made and
// what editors keep in nodes and edges, such as where they are drawn.
func (d *Definition) Same(other *Definition) bool {
	plain := func(d Definition) []byte {
		d.Version, d.Enabled, d.CreatedAt, d.UpdatedAt = 0, false, 0, 0
		d.Mode, d.FailMode = strings.TrimPrefix(d.Mode, "enforce"), strings.TrimPrefix(d.FailMode, "closed")
		d.Nodes, d.Edges = slices.Clone(d.Nodes), slices.Clone(d.Edges)
		for i := range d.Nodes {
			d.Nodes[i].rest = nil
		}
		for i := range d.Edges {
			e := &d.Edges[i]
			handle := e.handle()
			e.ID, e.SourceHandle, e.rest = "", &handle, nil
		}
		raw, _ := json.Marshal(&d)
		return raw
	}
	return sameJSON(plain(*d), plain(*other))
}

// handle is the way out of the source that an edge takes.
func (e *Edge) handle() string {
	if e.SourceHandle == nil || *e.SourceHandle == "" {
		return handleOut
	}
	return *e.SourceHandle
}

// Parse reads a definition. It refuses only what is no definition at all: Validate
// tells whether it can be enabled.
func Parse(raw []byte) (*Definition, error) {
	if len(raw)-len(jsonrpc.Lookup(raw, testsKey)) > largestDefinition {
		return nil, gateway.Errorf(gateway.CodeInvalid, "the workflow is larger than %d MB, which is the largest that can be kept", largestDefinition/megabyte)
	}
	d := &Definition{}
	err := json.Unmarshal(raw, d)
	if json.Valid(raw) && isN8n(raw) {
		return nil, gateway.Errorf(gateway.CodeInvalid, "this is a workflow of n8n, not of genkan. Import it in n8n; if that is connected to genkan, its tools run it")
	}
	var why any
	switch wrong := wrongField(raw, err); {
	case !utf8.Valid(raw):
		why = gateway.Textf("it is not a text file in UTF-8")
	case err == nil:
		return d, nil
	case wrong != nil && (jsonrpc.Lookup(raw, "nodes") != nil || jsonrpc.Lookup(raw, "workflowType") != nil):
		return nil, gateway.InvalidInput([]gateway.Problem{*wrong}, 1)
	case wrong != nil:
		why = wrong.Text
	default:
		why = unreadable(raw, err)
	}
	return nil, &gateway.Error{Code: gateway.CodeInvalid, Message: "this is not a workflow: %s. A workflow is a JSON object with id, name, workflowType, nodes and edges", Values: []any{why}}
}

// isN8n reports whether a JSON value is a workflow of n8n, which has nodes like those here
// and connections in place of edges.
func isN8n(raw []byte) (found bool) {
	if !bytes.HasPrefix(jsonrpc.Lookup(raw, "connections"), []byte("{")) {
		return false
	}
	_ = jsonrpc.Elements(jsonrpc.Lookup(raw, "nodes"), func(node []byte) bool {
		found = strings.Contains(jsonrpc.LookupText(node, "type"), "n8n") || jsonrpc.Lookup(node, "typeVersion") != nil
		return !found
	})
	return found
}

// unreadable says why JSON is no definition, by the names of JSON.
func unreadable(raw []byte, err error) any {
	if json.Valid(raw) {
		if is := jsonrpc.TypeOf(bytes.TrimSpace(raw)); is != "object" {
			return gateway.Textf("it is %s", gateway.TypeName(is))
		}
	}
	return err
}

// wrongField is the problem of a definition with a field of another type; nil if err is about
// none.
func wrongField(raw []byte, err error) *gateway.Problem {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) || kind.Field == "" {
		return nil
	}
	is, _, _ := strings.Cut(kind.Value, " ") // of a number, the number follows
	if is == "bool" {
		is = "boolean"
	}
	path := strings.Split(kind.Field, ".")
	want := jsonTypes[kind.Type.Kind()]
	p := gateway.WrongType(path, []string{want}, gateway.TypeName(is))
	value := raw
	for _, name := range path {
		if bytes.HasPrefix(value, []byte("[")) { // the path does not say which entry
			p.Pointer = ""
			return &p
		}
		value = jsonrpc.Lookup(value, name)
	}
	if len(value) > 0 && strings.ContainsRune("[{", rune(value[0])) && jsonrpc.TypeOf(value) != is {
		p.Text = gateway.Textf("each entry of %s must be %s", p.Field, gateway.TypeName(want))
	}
	return &p
}

// jsonTypes are the types of JSON Schema of what definitions are made of.
var jsonTypes = map[reflect.Kind]string{
	reflect.Map: "object", reflect.Struct: "object", reflect.Slice: "array", reflect.String: "string",
	reflect.Bool: "boolean", reflect.Int: "integer", reflect.Float64: "number",
}

// UnmarshalJSON reads a definition and keeps unknown keys.
func (d *Definition) UnmarshalJSON(raw []byte) error {
	type plain Definition
	err := decodeOpen(raw, (*plain)(d), &d.rest)
	if d.Nodes == nil { // editors take a list that is not there for a mistake
		d.Nodes = []Node{}
	}
	if d.Edges == nil {
		d.Edges = []Edge{}
	}
	return err
}

// MarshalJSON writes a definition with its unknown keys.
func (d Definition) MarshalJSON() ([]byte, error) {
	type plain Definition
	return encodeOpen(plain(d), d.rest)
}

// UnmarshalJSON reads a node and keeps unknown keys.
func (n *Node) UnmarshalJSON(raw []byte) error {
	type plain Node
	return decodeOpen(raw, (*plain)(n), &n.rest)
}

// MarshalJSON writes a node with its unknown keys.
func (n Node) MarshalJSON() ([]byte, error) {
	type plain Node
	return encodeOpen(plain(n), n.rest)
}

// UnmarshalJSON reads an edge and keeps unknown keys.
func (e *Edge) UnmarshalJSON(raw []byte) error {
	type plain Edge
	return decodeOpen(raw, (*plain)(e), &e.rest)
}

// MarshalJSON writes an edge with its unknown keys.
func (e Edge) MarshalJSON() ([]byte, error) {
	type plain Edge
	return encodeOpen(plain(e), e.rest)
}

// UnmarshalJSON reads what a workflow is for and keeps unknown keys, which are problems.
func (m *Match) UnmarshalJSON(raw []byte) error {
	type plain Match
	return decodeOpen(raw, (*plain)(m), &m.rest)
}

// MarshalJSON writes what a workflow is for with its unknown keys.
func (m Match) MarshalJSON() ([]byte, error) {
	type plain Match
	return encodeOpen(plain(m), m.rest)
}

// UnmarshalJSON reads limits and keeps unknown keys, which are problems.
func (l *Limits) UnmarshalJSON(raw []byte) error {
	type plain Limits
	return decodeOpen(raw, (*plain)(l), &l.rest)
}

// MarshalJSON writes limits with their unknown keys.
func (l Limits) MarshalJSON() ([]byte, error) {
	type plain Limits
	return encodeOpen(plain(l), l.rest)
}

// UnmarshalJSON reads where values are kept and keeps unknown keys, which are problems.
func (s *State) UnmarshalJSON(raw []byte) error {
	type plain State
	return decodeOpen(raw, (*plain)(s), &s.rest)
}

// MarshalJSON writes where values are kept with its unknown keys.
func (s State) MarshalJSON() ([]byte, error) {
	type plain State
	return encodeOpen(plain(s), s.rest)
}

// Check returns an error if there is a key that Match does not have. A workflow that
// ignored it could be for more calls than it should.
func (m *Match) Check() error { return unknownKey("match", m.rest, reflect.TypeOf(*m)) }

// unknownKey returns an error for the first of the keys that a part of a definition does
// not have.
func unknownKey(part string, rest members, t reflect.Type) error {
	if len(rest) == 0 {
		return nil
	}
	return gateway.Errorf(gateway.CodeInvalid, "%s has no key %q; its keys are %s", settingName(part), gateway.Short(rest[0].key), gateway.Names(keysOf(t)))
}

// members are the unknown keys of an object with their values, in their order.
type members []member

type member struct {
	key   string
	value json.RawMessage
}

// decodeOpen reads an object into a struct, and the keys that the struct does not have into
// rest.
func decodeOpen(raw []byte, into any, rest *members) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return err
	}
	known := keysOf(reflect.TypeOf(into).Elem())
	*rest = nil
	return jsonrpc.Members(raw, func(key, value []byte) bool {
		// encoding/json takes keys that differ in case for known ones.
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, string(key)) }) {
			*rest = append(*rest, member{string(key), bytes.Clone(value)})
		}
		return true
	})
}

// keysOf lists the keys that a struct has.
func keysOf(t reflect.Type) (keys []string) {
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("json"); tag != "" {
			name, _, _ := strings.Cut(tag, ",")
			keys = append(keys, name)
		}
	}
	return keys
}

// encodeOpen writes a struct and the keys that it does not have.
func encodeOpen(from any, rest members) ([]byte, error) {
	raw, err := encode(from)
	if err != nil {
		return nil, err
	}
	raw = raw[:len(raw)-1]
	for _, m := range rest {
		if raw[len(raw)-1] != '{' {
			raw = append(raw, ',')
		}
		raw = append(append(jsonrpc.AppendQuoted(raw, m.key), ':'), m.value...)
	}
	return append(raw, '}'), nil
}

// encode writes JSON with <, > and & as they are.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
