package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/lang"
	"genkan/internal/learn"
	"genkan/internal/registry"
	"genkan/internal/search"
	"genkan/internal/setup"
	"genkan/internal/upstream"
	"genkan/internal/workflow"
)

// House is the part of the current house that the edge uses.
type House interface {
	gateway.Handler
	// Check checks the arguments of a call without carrying it out. It returns the
	// result of a built-in tool that refuses them, or an error; neither if they fit.
	Check(ctx context.Context, call *gateway.Call) (*gateway.Result, error)
	// Snapshot returns all tools, and SnapshotOf those of a view.
	Snapshot() *catalog.Snapshot
	SnapshotOf(view gateway.View) *catalog.Snapshot
	// Servers returns the upstream servers in the order of the configuration.
	Servers() []*upstream.Server
	// BuiltIn returns the sources that are part of genkan.
	BuiltIn() []gateway.Source
	// Declared returns all servers, including disabled ones, in the order of the
	// configuration.
	Declared() []registry.Server
	// Unknown explains why a caller sees no tool with a name in a view.
	Unknown(who gateway.Identity, view gateway.View, name string) catalog.Unknown
	// Count counts a request against the caller's rate limit. It returns an error if
	// the limit is reached.
	Count(who gateway.Identity) error
	// Search finds tools in a view of a caller; the zero View has all tools.
	Search(ctx context.Context, who gateway.Identity, view gateway.View, q search.Query) search.Result
	// Shown records which hits of a search a caller was shown.
	Shown(who gateway.Identity, query string, hits []search.Hit)
	// Learns reports whether searches learn from the calls that follow them.
	Learns() bool
	// Knowledge returns why there is no knowledge base; nil if there is one.
	Knowledge() error
}

// Options configure an API.
type Options struct {
	House func() House
	// Admit identifies the sender of a request. Visit admits requests without a token, to
	// pages that contain no secrets and to which links from anywhere may lead. When they
	// report false, they have answered the request.
	Admit func(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool)
	Visit func(w http.ResponseWriter, r *http.Request) bool
	// Recognizes reports whether an admitted request would still be admitted; nil
	// means always.
	Recognizes func(r *http.Request) bool
	// Events are the events that clients can follow.
	Events *events.Hub
	// Refused is called for each request that is refused before it becomes a call;
	// may be nil.
	Refused func(r *http.Request, status int, reason string)
	Log     *slog.Logger
	Version string
	// Budget is the memory for data in transit from and to callers.
	Budget *gateway.Shares
	// Language returns the current language of errors; nil means English.
	Language func() lang.Language
	// Home is where / leads browsers to, relative to it; empty means v1/docs.
	Home string
	// Health returns why the process cannot serve; nil if it can.
	Health func() error
	// Reload reads the configuration again.
	Reload func() error
	// CatchUp brings the lists that servers have published into the house; nil if
	// that happens by itself.
	CatchUp func()
	// ChangeTool changes the override of a tool, for all clients and at once.
	ChangeTool func(ctx context.Context, key catalog.ToolKey, change func(*catalog.Override) error) error
	// Servers is the registry of servers.
	Servers Servers
	// SignIn begins to sign in to a server and returns the address for the person's
	// browser, whose last page is in the given language.
	SignIn func(ctx context.Context, name string, language lang.Language) (address string, err error)
	// Setup imports servers and connects clients.
	Setup *setup.Setup
	// Learned holds what searches led to.
	Learned Learned
	// Items gives access to all items of the knowledge base.
	Items Items
	// Upkeep checks the data derived from items.
	Upkeep Upkeep
	// Tokens are the tokens of clients, Secrets the secrets that the configuration
	// refers to.
	Tokens  Tokens
	Secrets Secrets
	// Settings are the settings of ConfigFile, the configuration file.
	Settings   Settings
	ConfigFile string
	// TestN8N asks an n8n instance, a JSON object, whether it can be used.
	TestN8N func(ctx context.Context, instance []byte) (problem, advice gateway.Text, err error)
	// TestEmbeddings asks a model, a JSON object, for a vector. EmbeddingsProblem says why the
	// configured one gives none, and when it was asked.
	TestEmbeddings    func(ctx context.Context, model []byte) (problem gateway.Text, err error)
	EmbeddingsProblem func() (problem gateway.Text, at time.Time)
	// UISessions are the browsers that have signed in. Session returns the secret of the
	// one that a request comes from.
	UISessions UISessions
	Session    func(r *http.Request) (secret string, ok bool)
	// Doctor examines the named servers, or everything if none is named.
	Doctor func(ctx context.Context, servers []string) ([]doctor.Finding, error)
	// Backup copies the database.
	Backup func(ctx context.Context) (Backup, error)
	// Workflows are the workflows, and Engine runs them; nil if there are none.
	Workflows *workflow.Library
	Engine    *workflow.Engine
	// Approvals are the calls that wait for a person, and Traces what workflows did to
	// calls; nil if there are none.
	Approvals Approvals
	Traces    Traces
	// Calls is the call history, and Record what the configuration keeps of calls.
	Calls  Calls
	Record func() config.Record
	// Config returns the configuration in force.
	Config func() *config.Config
}

// Items is the part of the knowledge base that the edge uses beside its tools.
type Items interface {
	Every(ctx context.Context, give func(item kb.Item, former []kb.Ref) error) error
	Restore(ctx context.Context, r kb.Restoration) ([]kb.RestoredAs, error)
	// Answer encodes an answer or an error as the knowledge base's tools do.
	Answer(answer any, err error, translate gateway.Translate) (*gateway.Result, error)
}

// Learned gives access to what searches led to.
type Learned interface {
	Lessons(ctx context.Context, which learn.Selection) ([]learn.Lesson, error)
	Forget(ctx context.Context, which learn.Selection) (int, error)
	Share(ctx context.Context, client string) (int, error)
}

// API is the edge for REST.
type API struct {
	opt     Options
	started time.Time
	calls   CallHistory
	// document and page are the description of the API, for programs and for people.
	// They are public, so they are made only once.
	document func() ([]byte, error)
	page     func() (docsPage, error)
	streams  *eventStreams
}

// New returns an API.
func New(opt Options) *API {
	a := &API{
		opt: opt, started: time.Now(), streams: &eventStreams{byClient: map[string]int{}, drain: make(chan struct{})},
		calls: CallHistory{Calls: opt.Calls, Record: opt.Record, Language: opt.Language},
	}
	a.document = sync.OnceValues(func() ([]byte, error) { return json.Marshal(describe(a.routes())) })
	a.page = sync.OnceValues(func() (docsPage, error) { return renderDocs(a.routes()) })
	return a
}

// in returns the API with messages in a language.
func (a *API) in(l lang.Language) *API {
	b := *a
	b.opt.Language = func() lang.Language { return l }
	b.calls.Language = b.opt.Language
	return &b
}

// wanted returns the language that a request asks for with Accept-Language, which is the
// API's own for languages that Genkan does not speak.
func (a *API) wanted(r *http.Request) lang.Language {
	first, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ",")
	first, _, _ = strings.Cut(first, ";")
	first, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(first)), "-")
	if l, ok := lang.Parse(first); ok {
		return l
	}
	return a.language()
}

func (a *API) language() lang.Language {
	if a.opt.Language == nil {
		return lang.English
	}
	return a.opt.Language()
}

// redirect redirects the seed's first paths to /v1 (docs/differences.md).
func redirect(status int) handler {
	return func(w http.ResponseWriter, r *http.Request, _ gateway.Identity) { sendToV1(w, r, status) }
}

func sendToV1(w http.ResponseWriter, r *http.Request, status int) {
	target := "/v1" + r.URL.Path
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, target, status) //nolint:gosec // it begins with /v1
}

// root serves health to programs, and leads people to a page. The address is relative,
// because a proxy may have stripped a prefix; http.Redirect would change it.
func (a *API) root(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	w.Header().Set("Vary", "Accept")
	if prefersHTML(r.Header) {
		w.Header().Set("Location", cmp.Or(a.opt.Home, "v1/docs"))
		w.WriteHeader(http.StatusFound)
		return
	}
	a.health(w, r, id)
}

// prefersHTML reports whether a client prefers a page to JSON. Browsers do.
func prefersHTML(h http.Header) bool {
	page, data := 0.0, 0.0
	dataAs := -1 // how specifically JSON was named so far
	for one := range strings.SplitSeq(strings.Join(h["Accept"], ","), ",") {
		kind, parameters, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, said := parameters["q"]; said {
			if quality, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if kind == "text/html" {
			page = max(page, quality)
		}
		if as := slices.Index([]string{"*/*", "application/*", "application/json"}, kind); as > dataAs {
			data, dataAs = quality, as
		}
	}
	return page > data
}

// health answers that the process serves, or why it does not. It needs no token and
// reveals nothing about the servers.
func (a *API) health(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	code, status, message := http.StatusOK, "ok", client.HealthMessage
	if a.opt.Health != nil {
		if err := a.opt.Health(); err != nil {
			code, status, message = http.StatusServiceUnavailable, "error", a.language().Error(gateway.AsError(err))
		}
	}
	encode(w, code, client.Health{
		Status: status, Message: message, Version: a.opt.Version,
		Uptime: time.Since(a.started).Seconds(), Timestamp: timestamp(),
	})
}

func timestamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

func encode(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		status = http.StatusInternalServerError
		body.Reset()
		body.WriteString(`{"success":false,"error":"the answer could not be encoded","code":"INTERNAL_ERROR"}`)
	}
	if !fits(w, body.Len()) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if body.Len() > smallAnswer {
		// A caller that does not read must not keep its answer in memory for ever.
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Now().Add(writeTime))
		defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	}
	_, _ = w.Write(body.Bytes())
}
