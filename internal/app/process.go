package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"genkan/internal/api"
	"genkan/internal/catalog"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/events"
	"genkan/internal/execute"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/identity"
	"genkan/internal/lang"
	"genkan/internal/launch"
	"genkan/internal/learn"
	"genkan/internal/lock"
	"genkan/internal/logs"
	"genkan/internal/mcpserver"
	"genkan/internal/reception"
	"genkan/internal/record"
	"genkan/internal/registry"
	"genkan/internal/script"
	"genkan/internal/secrets"
	"genkan/internal/shape"
	"genkan/internal/signin"
	"genkan/internal/sqlite"
	"genkan/internal/tasks"
	"genkan/internal/upstream"
	"genkan/internal/vault"
	"genkan/internal/web"
)

// Options configure a Process.
type Options struct {
	// DataDir holds the database, the admin token and, by default, the
	// configuration.
	DataDir string
	// ConfigFile is the path of the configuration; empty means DataDir/genkan.yaml.
	ConfigFile string
	Flags      config.Flags
	LookupEnv  func(string) (string, bool)
	Log        *slog.Logger
	// Level is set to the configured log level.
	Level *slog.LevelVar
	// Sink reports how much of the log was lost; may be nil.
	Sink    *logs.Sink
	Version string
	// Guard is the command that runs launch.RunGuard; empty for no guard.
	Guard []string
	// Limits are the limits of package execute, EdgeLimits those of MCP clients.
	// Memory bounds the bytes in transit from and to clients. Zero means the
	// defaults.
	Limits     execute.Limits
	EdgeLimits mcpserver.Limits
	Memory     int64
	// FirstListPatience is how long the first list waits for servers that have
	// never been listed; zero means eight seconds.
	FirstListPatience time.Duration
	// Inspect are the middlewares that inspect calls.
	Inspect []gateway.Middleware
	// Now is the clock of sign-ins; nil means time.Now.
	Now func() time.Time
	// Only are the names of the servers that this process uses; empty means all.
	Only []string
	// Keyring holds the key of the vault; nil means the one of the operating system.
	Keyring vault.Keyring
	// Clients returns where the files of MCP clients are; nil means clients.Here.
	Clients func() (clients.Environment, error)
	// Command is the command that entries in clients' files start; empty means the
	// plain name.
	Command []string
	// Joinable lets `genkan stdio` processes of the same data directory join this
	// process.
	Joinable bool
}

// maxInFlight bounds the bytes in transit from and to clients.
const maxInFlight = 512 << 20

// Process is a running genkan.
type Process struct {
	opt      Options
	log      *slog.Logger
	store    *sqlite.Store
	tokens   *identity.Tokens
	sessions *identity.Sessions
	vault    *vault.File
	launcher *launch.Launcher
	signIns  *signin.SignIns
	recorder *record.Recorder
	calls    *history.Archive
	// secrets are what is taken out of the bodies of calls, and of texts for the log.
	secrets  *secrets.Secrets
	executor *execute.Executor
	// live has the latest events, for those who follow them. works publishes the progress
	// of long work to it.
	live  *events.Hub
	works *api.Works
	shown shownLists
	// memory is the budget for data in transit, which clients share.
	memory *gateway.Shares
	lock   *lock.Lock
	admin  gateway.Secret
	mcp    *mcpserver.Server
	api    *api.API
	ui     *web.UI
	uiPort *web.Port
	tasks  *tasks.Registry
	// overrides are the changes to tools that people have made.
	overrides *catalog.Overrides
	// learned holds what searches led to.
	learned   *learn.Learner
	knowledge knowledge
	n8n       n8nInstances
	results   *shape.Spool
	workflows workflows
	// vectors holds the vectors of tools if the configuration names a model.
	vectors vectorShelf
	// instance identifies this process.
	instance string

	// serverLog bounds the lines that a server can cause; flushServerLog logs how
	// many were left out.
	serverLog      *slog.Logger
	flushServerLog func()
	// catalogLog is serverLog for the views. Each of them finds the same things
	// whenever a list changes.
	catalogLog *slog.Logger

	house atomic.Pointer[house]
	// variables are the variables that the configuration in force was read with.
	variables atomic.Pointer[reception.Variables]
	// buildID is compared with the build ID of processes that want to join.
	buildID string
	// kept are the servers of the database that are in force; guarded by reloading.
	kept []config.StoredServer
	// reloading serialises reloads. building is held while a house is built or
	// lists are brought into one. Reading a configuration may wait for a person, so
	// only reloading is held meanwhile.
	reloading, building sync.Mutex

	registry *registry.Registry

	// backingUp is held while the database is copied. examining bounds how many runs
	// of the doctor there are.
	backingUp sync.Mutex
	examining chan struct{}
	// address is the address that HTTP is served on: a string.
	address atomic.Value

	events chan struct{}
	// opened has a message if somebody has opened the web UI.
	opened chan struct{}
	// dropped is signaled when catalogs of clients with lists of their own were dropped.
	dropped chan struct{}
	// rewritten is set if workflows were replaced since subscriptions were last repeated.
	rewritten atomic.Bool
	dirty     struct {
		sync.Mutex
		lists map[dirtyList]bool // whether the source announced the change itself
	}
	// lost is closed when the database is no longer at its path; lostBecause is the
	// reason.
	lost        chan struct{}
	lostBecause error

	// life ends with Close; it is what runs beside the listeners.
	life    context.Context //nolint:containedctx // reloads wait for people, and have no request
	stop    context.CancelFunc
	beside  sync.WaitGroup
	retired sync.WaitGroup
}

// Open starts everything but the listeners. It does not wait for any server.
func Open(ctx context.Context, opt Options) (*Process, error) {
	if opt.LookupEnv == nil {
		opt.LookupEnv = os.LookupEnv
	}
	if opt.Limits == (execute.Limits{}) {
		opt.Limits = execute.DefaultLimits()
	}
	p := &Process{
		opt: opt, log: opt.Log, buildID: reception.BuildID(opt.Version),
		executor:  execute.New(opt.Limits),
		live:      events.NewHub(events.Size),
		memory:    gateway.NewShares(cmp.Or(opt.Memory, maxInFlight)),
		events:    make(chan struct{}, 1),
		opened:    make(chan struct{}, 1),
		dropped:   make(chan struct{}, 1),
		examining: make(chan struct{}, 1),
		instance:  rand.Text(),
		lost:      make(chan struct{}),
		vault:     vault.NewFile(vaultDir(opt.DataDir), cmp.Or(opt.Keyring, vault.SystemKeyring())),
	}
	p.works = api.NewWorks(p.live)
	p.recorder = record.New(opt.Log, func(_, text string) string { return p.redactText(p.secrets.Mask(text)) })
	p.serverLog, p.flushServerLog = logs.ByServer(opt.Log)
	p.catalogLog = logs.Once(p.serverLog)
	p.dirty.lists = map[dirtyList]bool{}
	if err := os.MkdirAll(opt.DataDir, 0o700); err != nil {
		return nil, &gateway.Error{
			Code: gateway.CodeInvalid, Err: err,
			Message: "the data directory %s cannot be made; choose another with --data",
			Values:  []any{opt.DataDir},
		}
	}
	if err := opt.checkFiles(); err != nil {
		return nil, err
	}
	p.offerExample()
	var err error
	if p.store, err = sqlite.Open(ctx, databaseFile(opt.DataDir), opt.Log); err != nil {
		return nil, err
	}
	cfg, admin, err := p.prepare(ctx)
	if err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	p.admin, p.secrets = admin, opt.secrets(p.vault, admin, p.Config)
	p.learned = learn.NewLearner(p.store, time.Now)
	if err := p.learned.Load(ctx); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	p.openKnowledge()
	p.signIns = signin.New(signin.Options{Vault: p.vault, Log: opt.Log, Now: opt.Now})
	p.tokens = identity.NewTokens(p.store, admin, time.Now)
	p.tokens.Revoked = func(name string) { p.recorder.CancelOf(name) }
	if err := p.openResults(); err != nil {
		return nil, err
	}
	p.launcher = launch.New(launch.Options{DataDir: opt.DataDir, Home: HomeOf(opt.DataDir), Guard: opt.Guard, Log: opt.Log})
	secret := sha256.Sum256([]byte("genkan session ids and states\x00" + string(admin)))
	p.tasks = tasks.New(secret[:])
	p.lock = lock.New(p.tokens.Verify, rules(cfg))
	p.sessions = identity.NewSessions(p.tokens, p.store, time.Now)
	p.sessions.Count = func(who gateway.Identity) error { return p.house.Load().Count(who) }
	p.lock.Sessions = lock.Sessions{Cookie: sessionCookie(admin), Verify: p.sessions.Verify}
	p.lock.Met = p.tokens.Met
	p.lock.Refused = func(r *http.Request, status int, reason string) { p.recorder.Refusals().Note(r, status, reason, "") }
	p.mcp = mcpserver.New(mcpserver.Options{
		House: func() mcpserver.House { return p.house.Load() },
		Admit: p.admit, Refused: p.refused, Log: opt.Log, Version: opt.Version, Budget: p.memory, Limits: opt.EdgeLimits, Language: p.language,
		Secret: secret[:], Recognizes: p.lock.Recognizes, Instance: p.instance, Introduced: p.tokens.Introduced,
		Place: func(who gateway.Identity, view gateway.View) gateway.View { return p.house.Load().Place(who, view) },
	})
	p.life, p.stop = context.WithCancel(context.Background())
	p.registry = p.newRegistry()
	p.openHistory()
	if err := p.openWorkflows(ctx, cfg); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	p.api = api.New(api.Options{
		Workflows: p.workflows.library, Engine: p.workflows.engine, Approvals: p.workflows.desk, Traces: callTraces{p.workflows.traces, p},
		Setup: p.newSetup(), SignIn: p.signIn,
		House: func() api.House { return p.house.Load() },
		Admit: p.admitPage, Visit: p.lock.Visit, Recognizes: p.lock.Recognizes, Events: p.live, Refused: p.refused, Health: p.Health, Log: opt.Log, Version: opt.Version, Budget: p.memory, Language: p.language,
		Reload: p.Reload, CatchUp: p.catchUp, ChangeTool: p.ChangeTool, Servers: p.registry, Learned: p.learned, Items: liveItems{p.knowledge.base, p}, Upkeep: p.knowledge.upkeep,
		UISessions: p.sessions, Session: p.lock.Session,
		Tokens: p.tokens, Secrets: registry.NewSecrets(p.vault, func() (*config.Config, error) { return p.Config(), nil }), Backup: p.backup, Doctor: p.doctor,
		Settings: p.registry, ConfigFile: p.ConfigFile(), TestN8N: p.testN8N,
		TestEmbeddings: p.testEmbeddings, EmbeddingsProblem: p.embeddingsProblem,
		Calls: p.calls, Record: func() config.Record { return p.Config().Record }, Config: p.Config,
		Home: home(),
	})
	if err := p.openUI(); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	p.measure()
	p.house.Store(p.build(cfg, nil))
	p.publishLists()
	p.setStatuses(ctx, p.house.Load())
	p.beside.Go(func() { p.refresh(p.life) })
	p.beside.Go(func() { p.renewLists(p.life) })
	p.beside.Go(func() { config.Watch(p.life, p.ConfigFile(), p.log, p.fileChanged) })
	p.beside.Go(func() { p.registry.Watch(p.life) })
	p.beside.Go(func() { p.tokens.Watch(p.life) })
	p.beside.Go(func() { p.watchDatabase(p.life) })
	p.beside.Go(func() { p.watchItems(p.life) })
	p.followWorkflows(cfg)
	p.beside.Go(func() { p.workflows.library.Watch(p.life, p.store.ChangeSequence) })
	p.beside.Go(func() { p.secrets.Watch(p.life) })
	p.beside.Go(func() { p.prepareSearches(p.life) })
	p.beside.Go(func() { releaseWhenQuiet(p.life, allocatedBytes, debug.FreeOSMemory) })
	p.beside.Go(func() {
		p.tokens.NoteUses(p.life, func(err error) { p.log.Warn("when tokens were used could not be written down", "error", err) })
	})
	p.beside.Go(func() {
		p.learned.Run(p.life, func(err error) { p.log.Warn("what searches led to could not be written down", "error", err) })
	})
	return p, nil
}

// prepare reads the configuration, the admin token and the overrides.
func (p *Process) prepare(ctx context.Context) (*config.Config, gateway.Secret, error) {
	kept, err := p.store.StoredServers(ctx)
	if err != nil {
		return nil, "", err
	}
	found, err := p.read(ctx, kept)
	if err != nil {
		return nil, "", err
	}
	p.accept(found) // servers whose secrets cannot be read report that themselves
	admin, err := identity.LoadAdminToken(AdminTokenFile(p.opt.DataDir))
	if admin == "" {
		return nil, "", err
	}
	if err != nil { // the file was readable by others, and no longer is
		p.log.Warn("admin token", "error", err)
	}
	p.overrides = catalog.NewOverrides(p.store, time.Now)
	return found.Config, admin, p.overrides.Load(ctx)
}

func rules(cfg *config.Config) lock.Rules {
	r := lock.Rules{Hosts: cfg.AllowedHosts, Language: language(cfg)}
	if cfg.CORS.Enabled {
		r.Origins = cfg.CORS.Origins
	}
	return r
}

// language returns the language of a configuration's messages. The configuration
// has been validated.
func language(cfg *config.Config) lang.Language {
	l, _ := lang.Parse(cfg.Lang)
	return l
}

// language returns the language of the current house.
func (p *Process) language() lang.Language { return language(p.house.Load().config) }

// say returns a text in the language of the current house.
func (p *Process) say(t gateway.Text) string { return p.language().Text(t) }

func (p *Process) upstreamDeps() upstream.Deps {
	return upstream.Deps{
		Lists: p.store, Log: p.serverLog, Publish: p.publish, Launcher: p.launcher, Version: p.opt.Version, Folder: p.folder,
		StateChanged: p.serverChanged, Instance: p.instance, Rearranged: func() { go p.mcp.Resubscribe() },
	}
}

// dirtyList is a list that changed.
type dirtyList struct {
	source string
	kind   gateway.Kind
}

// publish records that a source changed. refresh handles all changes that came
// meanwhile at once.
func (p *Process) publish(e gateway.Event) {
	p.dirty.Lock()
	list := dirtyList{e.Source, e.Kind}
	p.dirty.lists[list] = p.dirty.lists[list] || e.Announced
	p.dirty.Unlock()
	select {
	case p.events <- struct{}{}:
	default:
	}
}

// refresh brings changed lists into the catalog and notifies the clients.
func (p *Process) refresh(ctx context.Context) {
	for {
		select {
		case <-p.events:
		case <-ctx.Done():
			return
		}
		p.catchUp()
	}
}

// catchUp brings all published changes into the catalog. When it returns they are
// there, even if another goroutine brought them in.
func (p *Process) catchUp() {
	type change struct {
		view gateway.View
		kind gateway.Kind
	}
	changes := map[change]bool{}
	p.building.Lock()
	p.dirty.Lock()
	lists := p.dirty.lists
	p.dirty.lists = map[dirtyList]bool{}
	p.dirty.Unlock()
	h := p.house.Load()
	sources := map[gateway.Kind][]string{}
	for list := range lists {
		sources[list.kind] = append(sources[list.kind], list.source)
	}
	for kind, names := range sources {
		changed := h.Refresh(kind, names...)
		if kind == gateway.KindResource { // resources and templates share one notification
			changed = append(changed, h.Refresh(gateway.KindTemplate, names...)...)
		}
		for _, view := range changed {
			changes[change{view, kind}] = true
		}
	}
	for list, announced := range lists {
		if announced {
			h.Each(func(view gateway.View, c *catalog.Catalog) {
				if c.Has(list.source) {
					changes[change{view, list.kind}] = true
				}
			})
		}
	}
	p.building.Unlock()
	if len(changes) > 0 {
		for _, view := range append(p.mcp.Views(), gateway.View{}) {
			for _, kind := range gateway.Kinds() {
				if changes[change{h.Listed(view), kind}] {
					p.mcp.Changed(view, kind)
				}
			}
		}
	}
	p.listsDropped()
	p.publishLists()
}

// ServeStdio serves the client that spawned this process.
func (p *Process) ServeStdio(ctx context.Context, in, out *os.File, opt mcpserver.StdioOptions) error {
	opt.Seen = p.tokens.Local(opt.Client)
	ctx, end := p.whileHealthy(ctx)
	defer end()
	return errors.Join(p.mcp.ServeStdio(ctx, in, out, opt), p.Health())
}

// flushPatience is how long the store may take to write the last uses of tokens and
// the last lessons.
const flushPatience = 2 * time.Second

// Close stops everything. It cancels the calls in flight.
func (p *Process) Close() error {
	p.stop()
	p.uiPort.Close()
	p.beside.Wait()
	p.mcp.Close()
	// Renewing a token may take as long as ending processes, and the two are
	// independent.
	var ending, renewing sync.WaitGroup
	renewing.Go(p.signIns.Close)
	renewing.Go(p.vectors.close)
	atOnce, cancel := context.WithCancel(context.Background())
	cancel()
	for _, s := range p.house.Load().sources() {
		ending.Go(func() { gateway.Retire(atOnce, s) })
	}
	ending.Wait()
	p.registry.Close()
	p.retired.Wait()
	p.launcher.Close()
	renewing.Wait()
	patience, giveUp := context.WithTimeout(context.Background(), flushPatience)
	defer giveUp()
	if err := p.tokens.Flush(patience); err != nil {
		p.log.Warn("when tokens were used could not be written down", "error", err)
	}
	if err := p.learned.Flush(patience); err != nil {
		p.log.Warn("what searches led to could not be written down", "error", err)
	}
	if err := p.knowledge.indexes.Close(); err != nil {
		p.log.Warn("the index of the knowledge base did not end well", "error", err)
	}
	p.workflows.close()
	p.results.Close()
	p.calls.Writer.Close()
	p.recorder.Refusals().Flush()
	p.flushServerLog()
	return p.store.Close()
}

// measure adds the metrics that only the process knows.
func (p *Process) measure() {
	gauge := func(name, help string, value func() float64) {
		p.recorder.Registry().MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("genkan_sessions", "Legacy sessions that are open.", func() float64 { return float64(p.mcp.Sessions()) })
	gauge("genkan_orphaned_streams", "Answers to calls that wait for their clients to come back after a broken connection.", func() float64 { return float64(p.mcp.Orphans()) })
	gauge("genkan_parked_calls", "Calls that wait for their clients to come back with input.", func() float64 { return float64(p.mcp.Parked()) })
	gauge("genkan_bytes_in_flight", "Bytes that are on their way from and to clients.", func() float64 { return float64(p.memory.Used()) })
	gauge("genkan_servers_ready", "Servers that answer.", func() float64 {
		n := 0
		for _, s := range p.house.Load().servers {
			if s.Status().State == upstream.StateReady {
				n++
			}
		}
		return float64(n)
	})
	gauge("genkan_results_stored_bytes", "Answers that are stored because they were too large for an agent.", func() float64 { return float64(p.results.Size()) })
	counter := func(name, help string, value func() float64) {
		p.recorder.Registry().MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
	}
	counter("genkan_tokens_saved_total", "Tokens that agents were spared by outlines of large answers.", func() float64 { return float64(p.results.Saved()) })
	counter("genkan_tokens_read_back_total", "Tokens of stored answers that agents read with read_result.", func() float64 { return float64(p.results.ReadBack()) })
	p.recorder.MeasureWorkflows(p.workflows.engine, p.workflows.desk, map[string]*script.Pool{"hooks": p.workflows.hooks, "detached": p.workflows.detached})
	if p.opt.Sink != nil {
		counter("genkan_log_lines_dropped_total", "Lines of the log that were lost because nobody read them fast enough.", func() float64 { return float64(p.opt.Sink.Dropped()) })
	}
}

// Config returns the configuration in force.
func (p *Process) Config() *config.Config { return p.house.Load().config }
