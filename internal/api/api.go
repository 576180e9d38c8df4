package api

import (
	"bytes"
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
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/lang"
	"genkan/internal/learn"
	"genkan/internal/registry"
	"genkan/internal/search"
	"genkan/internal/setup"
	"genkan/internal/upstream"
)

// House is what the edge needs of the house that serves now.
type House interface {
	gateway.Handler
	Snapshot() *catalog.Snapshot
	// Servers are the upstream servers in the order of the configuration.
	Servers() []*upstream.Server
	// BuiltIn are the sources that are a part of genkan.
	BuiltIn() []gateway.Source
	// Declared are all servers, disabled ones too, in the order of the
	// configuration.
	Declared() []registry.Server
	// Unknown is what can be said about a name that no tool has.
	Unknown(name string) catalog.Unknown
	// Count counts against somebody's rate limit what is no call of a tool, or
	// refuses it.
	Count(who gateway.Identity) error
	// Search finds tools of a view for somebody; the empty one is all of the house.
	Search(ctx context.Context, who gateway.Identity, view gateway.View, q search.Query) search.Result
	// Shown is told what somebody was shown of a search.
	Shown(who gateway.Identity, query string, hits []search.Hit)
	// Learns reports whether searches learn from the calls that follow them.
	Learns() bool
	// Knowledge is why there is no knowledge base here; nil when there is one.
	Knowledge() error
}

// Options are what the edge is made of.
type Options struct {
	House func() House
	// Admit decides who may come in, Receive whether somebody may without a
	// token, for what is no secret. When they report false they have answered.
	Admit   func(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool)
	Receive func(w http.ResponseWriter, r *http.Request) bool
	// Refused is told of each request that is refused before it becomes a call; nil
	// for nobody.
	Refused func(r *http.Request, status int, reason string)
	Log     *slog.Logger
	Version string
	// Budget is the memory for what is on its way from and to callers.
	Budget *gateway.Shares
	// Language is what failures are told in now; nil is English.
	Language func() lang.Language
	// Health is why the process cannot serve; nil when it can.
	Health func() error
	// Reload reads the configuration again.
	Reload func() error
	// CatchUp brings into the house what servers have listed by now; nil when
	// that happens by itself.
	CatchUp func()
	// ChangeTool changes what is said about a tool, for everybody and at once.
	ChangeTool func(ctx context.Context, key catalog.ToolKey, change func(*catalog.Override) error) error
	// Servers is the registry of servers.
	Servers Servers
	// Setup imports servers and connects clients.
	Setup *setup.Setup
	// Learned is what searches led to.
	Learned Learned
	// Items are all that the knowledge base holds.
	Items Items
	// Upkeep checks what is derived from them.
	Upkeep Upkeep
	// Tokens are those of clients, Secrets those that the configuration refers to.
	Tokens  Tokens
	Secrets Secrets
	// Doctor finds out what is wrong, with some servers or with everything.
	Doctor func(ctx context.Context, servers []string) ([]doctor.Finding, error)
	// Backup copies the database.
	Backup func(ctx context.Context) (Backup, error)
}

// Items is what the edge needs of the knowledge base beside its tools.
type Items interface {
	Every(ctx context.Context, give func(item kb.Item, former []kb.Ref) error) error
	Restore(ctx context.Context, r kb.Restoration) ([]kb.RestoredAs, error)
	// Answer is how its tools answer, with an error too.
	Answer(answer any, err error) (*gateway.Result, error)
}

// Learned is what the edge needs of what searches led to.
type Learned interface {
	Lessons(ctx context.Context, which learn.Selection) ([]learn.Lesson, error)
	Forget(ctx context.Context, which learn.Selection) (int, error)
	Share(ctx context.Context, client string) (int, error)
}

// API is the edge.
type API struct {
	opt     Options
	started time.Time
	// document and page are the description, for programs and for people.
	// Everybody may ask for them, so they are made once.
	document func() ([]byte, error)
	page     func() (docsPage, error)
}

// New makes the edge.
func New(opt Options) *API {
	a := &API{opt: opt, started: time.Now()}
	a.document = sync.OnceValues(func() ([]byte, error) { return json.Marshal(describe(a.routes())) })
	a.page = sync.OnceValues(func() (docsPage, error) { return renderDocs(a.routes()) })
	return a
}

func (a *API) language() lang.Language {
	if a.opt.Language == nil {
		return lang.English
	}
	return a.opt.Language()
}

// redirect sends the seed's first paths to /v1.
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

// root is health for programs, and for people the page that can be read without
// a token.
func (a *API) root(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	w.Header().Set("Vary", "Accept")
	if prefersHTML(r.Header) {
		http.Redirect(w, r, "/v1/docs", http.StatusFound)
		return
	}
	a.health(w, r, id)
}

// prefersHTML reports whether a client would rather have a page than JSON, as
// browsers say and programs do not.
func prefersHTML(h http.Header) bool {
	page, data := 0.0, 0.0
	dataAs := -1 // how exactly JSON was named so far
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

// health answers that the process serves, or why it does not. It needs no token
// and tells nothing about what is behind the door.
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
