package client

import (
	"encoding/json"
	"time"
)

// The bodies of the API. The tag doc is what the API's description says about a
// field.

// Tool is a tool as the API shows it.
type Tool struct {
	Name        string          `json:"name" doc:"The name that clients use."`
	Server      string          `json:"server" doc:"The server that the tool is of."`
	OwnName     string          `json:"ownName,omitempty" doc:"For admins: the server's own name of the tool. Workflows match the tool as server__ownName."`
	Description string          `json:"description" doc:"The server's description, or the better one that was set."`
	Parameters  []Parameter     `json:"parameters" doc:"The first level of the input schema, as a list."`
	InputSchema json.RawMessage `json:"inputSchema,omitempty" doc:"The input schema as modern MCP clients see it: a JSON Schema."`
	Annotations json.RawMessage `json:"annotations,omitempty" doc:"What the server says of the tool: title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint."`
	Version     string          `json:"version" doc:"1.0.0 unless another one was set."`
	Enabled     bool            `json:"enabled" doc:"A disabled tool is not listed to MCP clients and cannot be called."`
	Tags        []string        `json:"tags"`
	Category    string          `json:"category,omitempty"`
	Author      string          `json:"author,omitempty"`
	Examples    []Example       `json:"examples"`
	// Dependencies are the tools that this one is of no use without.
	Dependencies []string  `json:"dependencies,omitempty" doc:"The tools that this one is of no use without, of those that the caller sees."`
	RegisteredAt time.Time `json:"registeredAt" doc:"When this process saw the tool first."`
	// Replaces are the servers whose tools of this name it stands in the place of.
	Replaces []string `json:"replaces,omitempty" doc:"The servers whose tools of this name it stands in the place of, because its own may overwrite."`
}

// Parameter is one argument of a tool.
type Parameter struct {
	Name        string            `json:"name"`
	Type        string            `json:"type" doc:"string, number, boolean, object or array; any where the schema leaves it open."`
	Description string            `json:"description"`
	Required    bool              `json:"required"`
	Default     json.RawMessage   `json:"default,omitempty" doc:"Filled in when the argument is missing, unless it is null."`
	Enum        []json.RawMessage `json:"enum,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	Minimum     json.RawMessage   `json:"minimum,omitempty"`
	Maximum     json.RawMessage   `json:"maximum,omitempty"`
}

// Example shows how a tool is used.
type Example struct {
	Description    string          `json:"description"`
	Parameters     json.RawMessage `json:"parameters,omitempty" doc:"An object; empty unless said."`
	ExpectedResult json.RawMessage `json:"expectedResult,omitempty"`
}

// ToolList is a page of tools.
type ToolList struct {
	Tools      []Tool     `json:"tools"`
	Pagination Pagination `json:"pagination"`
}

// Pagination says which part of a list a page is.
type Pagination struct {
	Page       int `json:"page"`
	Limit      int `json:"limit"`
	Total      int `json:"total"`
	TotalPages int `json:"totalPages"`
}

// ToolChange is what is to be changed about a tool; what is nil stays. An empty
// value gives the word back to the server.
type ToolChange struct {
	Enabled      *bool      `json:"enabled,omitempty"`
	Description  *string    `json:"description,omitempty" doc:"Shown in place of the server's. An empty one gives the word back to the server; so it is with every field."`
	Category     *string    `json:"category,omitempty"`
	Tags         *[]string  `json:"tags,omitempty" doc:"They replace all that there are."`
	AddTags      []string   `json:"addTags,omitempty" doc:"The other tags stay."`
	RemoveTags   []string   `json:"removeTags,omitempty"`
	Author       *string    `json:"author,omitempty"`
	Version      *string    `json:"version,omitempty"`
	Examples     *[]Example `json:"examples,omitempty"`
	Dependencies *[]string  `json:"dependencies,omitempty" doc:"The names of tools that this one is of no use without."`
}

// ToolSwitched is the answer to enabling or disabling a tool.
type ToolSwitched struct {
	Success    bool     `json:"success"`
	Tool       Tool     `json:"tool"`
	Dependants []string `json:"dependants,omitempty" doc:"Tools that were said to be of no use without this one."`
	Warning    string   `json:"warning,omitempty"`
}

// CallRequest asks for a call of a tool.
type CallRequest struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters,omitempty" doc:"An object; checked against the tool's input schema and completed with its defaults."`
	Options    CallOptions     `json:"options,omitzero"`
}

// CallCheck asks whether a tool takes parameters.
type CallCheck struct {
	Parameters json.RawMessage `json:"parameters,omitempty" doc:"As those of a call."`
}

// CallOptions say how a call is to be carried out.
type CallOptions struct {
	Timeout    int64 `json:"timeout,omitempty" doc:"Milliseconds that the whole call may take; at most 600000. Without it, a call ends when there is no progress for as long as the configuration says for the tool, or for 30000."`
	Retry      *int  `json:"retry,omitempty" doc:"How often a call that did no harm is sent again. Unless said, what the configuration says for the tool, or 0; at most 10."`
	RetryDelay int64 `json:"retryDelay,omitempty" doc:"Milliseconds before the first of them. Unless said, what the configuration says for the tool, or 1000. It doubles, up to 60000."`
	Budget     int   `json:"budget,omitempty" doc:"How many tokens the answer may have, 500 or more. A larger one is stored for an hour, and its outline is returned with an id for the tool read_result. Unless said, the whole answer is returned."`
	// Folder is for servers that work in their client's.
	Folder string `json:"folder,omitempty" doc:"Where the caller works, an absolute path, for servers that work in their client's folder. Servers that ask for roots are told it. With a token other than the admin's it must be below the home directory of genkan's user and not hidden, or in one of the folders of the configuration; the home directory itself, the root of a file system and what contains genkan's own data are not used."`
	// Cwd is the folder that the caller happens to work in.
	Cwd string `json:"cwd,omitempty" doc:"The working directory of the caller, an absolute path, where no folder is given. It fills ${workspaceFolder} and is told as a root only to servers with isolation: root. The rules for folder apply."`
	// Query is for callers with whom a call need not follow from the search before it.
	Query string `json:"query,omitempty" doc:"The search by which the tool was found. Searches learn from it if the call succeeds. Callers other than browsers need not say it: a call counts as led to by one of their last searches."`
}

// CallResult is the answer to a call.
type CallResult struct {
	Success       bool            `json:"success"`
	Result        json.RawMessage `json:"result,omitempty" doc:"The result of MCP's tools/call, as the tool's server sent it."`
	Error         string          `json:"error,omitempty"`
	Code          string          `json:"code,omitempty"`
	Notice        string          `json:"notice,omitempty" doc:"What genkan has to say about the call beside the tool's answer, such as why the server was not told of the folder."`
	Call          string          `json:"call,omitempty" doc:"The id of the call in the call history, if that is on."`
	ExecutionTime float64         `json:"executionTime" doc:"Milliseconds."`
	Timestamp     string          `json:"timestamp"`
}

// Failure is the body of every answer that is none.
type Failure struct {
	Success       bool            `json:"success"`
	Error         string          `json:"error" doc:"What happened and what to do next, in the language of the configuration."`
	Code          string          `json:"code"`
	Field         string          `json:"field,omitempty" doc:"What is wrong in the request, where that is one thing."`
	Details       json.RawMessage `json:"details,omitempty" doc:"An array with an entry for each thing that is wrong in the request: field, instancePath, keyword, params and message, at most ten. Of the knowledge base an object, as its tools answer it."`
	Data          json.RawMessage `json:"data,omitempty" doc:"What a tool of the knowledge base says of its error: type, details and timestamp; of calls only."`
	ExecutionTime *float64        `json:"executionTime,omitempty" doc:"Milliseconds; of calls only."`
	Timestamp     string          `json:"timestamp"`
}

// InputProblem is an entry of a Failure's details: one thing that is wrong in the
// request, in the form of ajv.
type InputProblem struct {
	Field        string         `json:"field"`
	InstancePath string         `json:"instancePath"`
	Keyword      string         `json:"keyword"`
	Params       map[string]any `json:"params,omitempty"`
	Message      string         `json:"message"`
}

// ServerList is all servers.
type ServerList struct {
	Servers []Server `json:"servers"`
}

// Server is a server as the API shows it.
type Server struct {
	Name  string `json:"name"`
	State string `json:"state" doc:"starting, ready, not responding, down or disabled."`
	// Source is one of the Source constants.
	Source          string `json:"source" doc:"Where the server is declared: file or database; built-in for a part of Genkan, such as the knowledge base."`
	Editable        bool   `json:"editable" doc:"Whether it can be changed and removed here: not a part of Genkan, nor a server of a configuration file that is read-only or was given with --config from elsewhere."`
	Era             string `json:"era,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	// OtherProtocolVersion is set while clients of the other era have a connection
	// of their own.
	OtherProtocolVersion string `json:"otherProtocolVersion,omitempty" doc:"The protocol version of a second connection, while clients of the other era have one."`
	Transport            string `json:"transport,omitempty"`
	// Tools counts those that clients see.
	Tools     int       `json:"tools" doc:"How many tools of it clients see."`
	ProcessID int       `json:"processId,omitempty"`
	Starts    int       `json:"starts"`
	Since     time.Time `json:"since,omitzero"`
	// StartMillis is how long the last start took until the server was ready.
	StartMillis int64 `json:"startMs,omitempty" doc:"How long the last start took, in milliseconds."`
	// FirstStart says that the last start was the first one here.
	FirstStart bool       `json:"firstStart,omitempty" doc:"The last start was the first one here, which may have included a download."`
	Problem    string     `json:"problem,omitempty"`
	Cause      string     `json:"cause,omitempty" doc:"Why a server with a url cannot be reached, for programs: no_such_host, refused, refused_here, no_route, timeout, certificate_expired, certificate_authority, certificate_name, tls, not_tls, not_http, closed or http_status."`
	NextTry    *time.Time `json:"nextTry,omitempty"`
	// SignIn is "needed", "signed in", or empty where none is needed or known.
	SignIn        string     `json:"signIn,omitempty" doc:"needed, signed in, or nothing where none is needed or known."`
	SignInExpires *time.Time `json:"signInExpires,omitempty"`
	Note          string     `json:"note,omitempty" doc:"Something to know about how it is declared."`
	// What follows is for admins.
	Definition *ServerDefinition `json:"definition,omitempty" doc:"What it is, as it is written: references stay, literal secrets are ***. Of a single server, for admins."`
	// DeclaredIn and Fixed are about a server of the configuration file.
	DeclaredIn string `json:"declaredIn,omitempty" doc:"The configuration file and the line that declare it. Of a single server, for admins."`
	Fixed      string `json:"fixed,omitempty" doc:"Why it can only be changed in that file; for admins."`
	Output     string `json:"output,omitempty" doc:"What the server printed last; for admins."`
	// ListProblems are the lists of a server that is ready which could not be read.
	ListProblems []ListProblem `json:"listProblems,omitempty" doc:"Lists of a server that is ready which could not be read, or have not come yet. What it listed before stays in use; for admins."`
	// Hidden are the tools that a filter of the configuration hides.
	Hidden   []string  `json:"hidden,omitempty" doc:"Tools that the configuration hides; for admins."`
	Findings []Finding `json:"findings,omitempty" doc:"What clients do not see as the server sent it, and what may mislead them; for admins."`
	// Changes are the definitions of tools that the server changed.
	Changes []DefinitionChange `json:"changes,omitempty" doc:"Tools whose definitions the server changed in the last seven days, the oldest first; for admins."`
}

// ListProblem says why a list of a server is missing or old.
type ListProblem struct {
	List    string `json:"list" doc:"tools, prompts, resources or resourceTemplates."`
	Problem string `json:"problem"`
}

// DefinitionChange says that a server changed the definition of a tool.
type DefinitionChange struct {
	// Tool is the server's own name.
	Tool  string           `json:"tool"`
	Parts []string         `json:"parts" doc:"The members that changed: title, description, inputSchema, outputSchema, annotations."`
	Diffs []DefinitionDiff `json:"diffs,omitempty" doc:"Excerpts of these members, where they changed."`
	At    time.Time        `json:"at" doc:"When it last changed."`
	Times int              `json:"times" doc:"How often it changed."`
}

// DefinitionDiff is an excerpt of a member of a definition before and after a change.
type DefinitionDiff struct {
	Part   string `json:"part"`
	Before string `json:"before,omitempty" doc:"As it was: a text, or JSON with sorted keys. Not there if the member was not."`
	After  string `json:"after,omitempty" doc:"As it is, at the same place."`
}

// Where a server is declared.
const (
	SourceFile     = "file"
	SourceDatabase = "database"
	// SourceBuiltIn is a part of genkan, such as the knowledge base.
	SourceBuiltIn = "built-in"
)

// The states of a server.
const (
	StateStarting = "starting"
	StateReady    = "ready"
	StateDown     = "down"
	// StateNotResponding: it was ready, and nothing comes from it any more.
	StateNotResponding = "not responding"
	StateDisabled      = "disabled"
)

// Finding is something that clients do not see as its server sent it, or that may
// mislead them.
type Finding struct {
	// Kind is tools, prompts, resources, resourceTemplates or instructions; Name is
	// the server's own.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// LeftOut says that clients do not see it at all, TakenBy that it is so
	// because another server has its name.
	LeftOut bool   `json:"leftOut,omitempty"`
	TakenBy string `json:"takenBy,omitempty"`
	// Suspect says that clients see it, and that it may mislead them or people.
	Suspect bool `json:"suspect,omitempty"`
	// Replaced: the configuration says so (overwrite).
	Replaced bool     `json:"replaced,omitempty" doc:"takenBy has the name because the configuration says so (overwrite)."`
	Notes    []string `json:"notes"`
}

// Done says that something was done.
type Done struct {
	Success bool `json:"success"`
}

// HealthMessage is the message of a genkan that serves; it is public.
const HealthMessage = "MCP Server is running"

// Health is what everybody may know.
type Health struct {
	Status    string  `json:"status"`
	Message   string  `json:"message"`
	Version   string  `json:"version"`
	Uptime    float64 `json:"uptime" doc:"Seconds."`
	Timestamp string  `json:"timestamp"`
}

// SearchRequest is what is looked for.
type SearchRequest struct {
	Query   string        `json:"query" doc:"What the tool should do, in English or Japanese."`
	Filters SearchFilters `json:"filters,omitzero"`
	Limit   int           `json:"limit,omitempty" doc:"How many hits: 1 to 100, 20 unless said."`
}

// SearchFilters leave tools out.
type SearchFilters struct {
	Category string   `json:"category,omitempty"`
	Tags     []string `json:"tags,omitempty" doc:"All of them must be there."`
	Server   string   `json:"server,omitempty"`
}

// FoundTool is a hit.
type FoundTool struct {
	Tool
	Score      float32  `json:"score" doc:"Higher is better; of one search only."`
	Matched    []string `json:"matched,omitempty" doc:"The words of the query that the tool has, or what stands for them."`
	Deprecated bool     `json:"deprecated,omitempty" doc:"The tool's description says that it should not be used any more. Such a tool ranks lower."`
}

// SearchResult is what was found, the best first.
type SearchResult struct {
	Query   string      `json:"query"`
	Results []FoundTool `json:"results"`
	Total   int         `json:"total" doc:"How many tools have any word of the query."`
	// Confidence is how much of the query the best hit answers.
	Confidence float32 `json:"confidence" doc:"How much of the query the best hit answers, about 0 to 1."`
	NoMatch    bool    `json:"noMatch" doc:"Whether nothing fits: the confidence is too low. An agent that searches is given no results then."`
}

// LearnedList is what searches have taught.
type LearnedList struct {
	Enabled bool     `json:"enabled" doc:"Whether searches learn; learn in the configuration."`
	Lessons []Lesson `json:"lessons"`
}

// Lesson says that searches were followed by successful calls of a tool.
type Lesson struct {
	Client string `json:"client" doc:"Whose searches they were; * counts for everybody."`
	Server string `json:"server"`
	Tool   string `json:"tool" doc:"The server's own name for the tool."`
	Name   string `json:"name,omitempty" doc:"The name that clients use, if the tool is there now."`
	// Terms are the stems of the words of a query, never the query.
	Terms  []string  `json:"terms" doc:"The stems of the words, in the order of the alphabet."`
	Times  int       `json:"times" doc:"How often it happened."`
	LastAt time.Time `json:"lastAt" doc:"When it happened last. Lessons fade."`
}

// Forgotten tells how many lessons were forgotten.
type Forgotten struct {
	Forgotten int `json:"forgotten"`
}

// ShareRequest says whose lessons are to be shared.
type ShareRequest struct {
	Client string `json:"client" doc:"The name of the client's token, or local."`
}

// SharedLessons tells how many lessons were shared.
type SharedLessons struct {
	Shared int `json:"shared"`
}
