package config

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// Flags are settings of the command line. A zero value was not given.
type Flags struct {
	Listen, Host string
	Port         int
	// AnyPort says that port 0 was given: the system chooses one that is free.
	AnyPort         bool
	LogLevel, Lang  string
	AllowedHosts    []string
	BehindProxy     bool
	TLSCert, TLSKey string
	// N8NURL and N8NKey are an n8n instance.
	N8NURL string
	N8NKey gateway.Secret
}

// Sources resolve what the file refers to. A nil function resolves nothing.
type Sources struct {
	// Env looks up an environment variable.
	Env func(name string) (string, bool)
	// Secret looks up a secret of this machine.
	Secret func(name string) (value gateway.Secret, found bool, err error)
	// Stored are servers that are added to those of the file.
	Stored []StoredServer
	// Taken reports whether a name is that of another server, so that none is suggested.
	Taken func(name string) bool
}

// orNone returns the sources with functions in place of nil.
func (s Sources) orNone() Sources {
	if s.Env == nil {
		s.Env = func(string) (string, bool) { return "", false }
	}
	if s.Secret == nil {
		s.Secret = noSecrets
	}
	if s.Taken == nil {
		s.Taken = func(string) bool { return false }
	}
	return s
}

func noSecrets(string) (gateway.Secret, bool, error) { return "", false, nil }

// Load reads the file at path. A flag overrides the environment, the environment
// overrides the file, and the file overrides the defaults. If mustExist is false, a
// missing file is an empty configuration, as is an empty path. The error reports
// all problems, one per line.
//
// Load does not refuse a listener that others can reach; see CheckExposure.
func Load(path string, mustExist bool, from Sources, flags Flags) (*Config, error) {
	var data []byte
	if path != "" {
		var err error
		data, err = read(path)
		if mustExist && errors.Is(err, fs.ErrNotExist) {
			return nil, &gateway.Error{
				Code: gateway.CodeInvalid, Message: "the configuration file %s does not exist; without --config it is genkan.yaml in the data directory, and is made for you",
				Values: []any{path}, Err: err,
			}
		}
		if err != nil && (mustExist || !errors.Is(err, fs.ErrNotExist)) {
			return nil, &gateway.Error{Code: gateway.CodeInvalid, Message: "the configuration file %s cannot be read", Values: []any{path}, Err: err}
		}
	}
	return load(data, path, from, flags)
}

// Parse is like Load but reads the file's bytes. Errors name path as the file.
func Parse(data []byte, path string, from Sources, flags Flags) (*Config, error) {
	return load(data, path, from, flags)
}

// read reads regular files only: opening a FIFO or a device could block forever.
// It reads one byte more than the limit, so that parse can report a large file.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// reason strips the path, which the surrounding message has.
func reason(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func load(data []byte, filename string, from Sources, flags Flags) (*Config, error) {
	from = from.orNone()
	all := &problems{file: filename}
	root, bad := parse(data)
	if bad != nil {
		if bad.at == (position{}) {
			bad.text = gateway.Textf("%s: %s", filename, bad.text)
		}
		all.list = append(all.list, *bad)
	}
	d := &decoder{problems: all, from: from, whole: true}
	said := fromFlags(flags, all).over(fromEnvironment(from.Env, all).over(d.addStored(d.file(root))))
	if said.lang == nil {
		said.lang = new(localeLang(from.Env))
	}
	c := said.config(all)
	if err := all.err(); err != nil {
		return nil, err
	}
	return c, nil
}

func (r Record) orDefaults() Record {
	r.Bodies = cmp.Or(r.Bodies, BodiesLocal)
	r.Days, r.Megabytes = cmp.Or(r.Days, DefaultRecordDays), cmp.Or(r.Megabytes, DefaultRecordMegabytes)
	return r
}

// config fills in the defaults and judges what only the sum of the layers
// tells.
func (l layer) config(all *problems) *Config {
	c := &Config{
		Listen:       net.JoinHostPort(or(l.host, DefaultHost), strconv.Itoa(or(l.port, DefaultPort))),
		LogLevel:     or(l.logLevel, DefaultLogLevel),
		Lang:         *l.lang,
		CORS:         CORS{Enabled: or(l.corsEnabled, false), Origins: or(l.corsOrigins, nil)},
		RateLimit:    l.rateLimit,
		AllowedHosts: or(l.allowedHosts, nil),
		Folders:      l.folders,
		BehindProxy:  or(l.behindProxy, false),
		TLS:          TLS{CertFile: or(l.tlsCert, ""), KeyFile: or(l.tlsKey, "")},
		PageSize:     l.pageSize,
		LoginShell:   or(l.loginShell, true),
		Learn:        or(l.learn, true),
		Embeddings:   l.embeddings,
		Knowledge:    l.knowledge,
		N8N:          l.n8n,
		Workflows:    l.workflows,
		Approvals:    l.approvals,
		Record:       l.record.orDefaults(),
		Budget:       l.budget,
		Servers:      l.servers,
		Rejected:     l.rejected,
		Listing:      l.listing, Profiles: l.profiles, Clients: l.clients,

		ClientMetadataURL: l.clientMetadataURL,
	}
	for i := range c.Servers {
		c.Servers[i].Schemas = cmp.Or(c.Servers[i].Schemas, or(l.schemas, SchemasPlain))
	}
	if c.CORS.Enabled && len(c.CORS.Origins) == 0 && !l.corsRefused {
		all.add(l.corsAt, "CORS is enabled without an origin, which would admit every page; name the origins in cors.origin or CORS_ORIGIN, such as https://app.example.com")
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		all.add(l.tlsAt, "TLS needs both a certificate and its key: set tls.cert and tls.key (--tls-cert, --tls-key), or neither")
	}
	return c
}

func or[T any](v *T, otherwise T) T {
	if v != nil {
		return *v
	}
	return otherwise
}

// fromEnvironment reads the variables that deployments set. An empty one is not
// set, as is usual. Values are not repeated in problems: an environment is
// full of secrets, and one may have slipped.
func fromEnvironment(lookup func(string) (string, bool), all *problems) layer {
	var l layer
	get := func(name string, use func(value string) error) {
		if v, _ := lookup(name); v != "" {
			if err := use(v); err != nil {
				all.add(position{}, "the environment variable %s %s", name, err)
			}
		}
	}
	get("HOST", func(v string) error { return set(&l.host, checkHost)(v) })
	get("PORT", func(v string) error {
		port, err := strconv.Atoi(v)
		if err != nil || port < 1 || port > 65535 {
			return flawf("must be a whole number from 1 to 65535")
		}
		l.port = &port
		return nil
	})
	get("LOG_LEVEL", func(v string) error { return set(&l.logLevel, among(logLevels()))(v) })
	get("GENKAN_LANG", func(v string) error { return set(&l.lang, among(langs()))(v) })
	// One without the other may be there for other programs.
	if at, _ := lookup("N8N_URL"); at != "" {
		if key, _ := lookup("N8N_API_KEY"); key != "" {
			get("N8N_URL", checkURL)
			l.n8n = []N8N{{Name: N8NSource, URL: at, APIKey: gateway.Secret(key)}}
		}
	}
	get("CORS_ENABLED", func(v string) error {
		w, err := among([]string{"true", "false", "1", "0"})(v)
		if err != nil {
			return err
		}
		on := w == "true" || w == "1"
		l.corsEnabled = &on
		return nil
	})
	get("CORS_ORIGIN", func(v string) error {
		origins := []string{}
		for o := range strings.SplitSeq(v, ",") {
			o, err := checkOrigin(strings.TrimSpace(o))
			if err != nil {
				l.corsRefused = true
				return err
			}
			origins = append(origins, o)
		}
		l.corsOrigins = &origins
		return nil
	})
	return l
}

func fromFlags(f Flags, all *problems) layer {
	var l layer
	flag := func(name string, err error) {
		if err != nil {
			all.add(position{}, "--%s %s", name, err)
		}
	}
	text := func(name, value string, use func(string) error) {
		if value != "" {
			flag(name, use(value))
		}
	}
	text("host", f.Host, set(&l.host, checkHost))
	if f.Port < 0 || f.Port > 65535 {
		flag("port", flawf("must be a whole number from 1 to 65535"))
	} else if f.Port != 0 || f.AnyPort {
		l.port = &f.Port
	}
	text("listen", f.Listen, func(v string) error {
		if f.Host != "" || f.Port != 0 || f.AnyPort {
			return flawf("already has the host and the port; give either --listen, or --host and --port")
		}
		host, port, err := checkListen(v)
		l.host, l.port = &host, &port
		return err
	})
	text("log-level", f.LogLevel, set(&l.logLevel, among(logLevels())))
	text("lang", f.Lang, set(&l.lang, among(langs())))
	if len(f.AllowedHosts) > 0 {
		hosts := make([]string, 0, len(f.AllowedHosts))
		for _, h := range f.AllowedHosts {
			h, err := checkAllowedHost(h)
			flag("allowed-host", err)
			hosts = append(hosts, h)
		}
		l.allowedHosts = &hosts
	}
	if f.BehindProxy {
		l.behindProxy = &f.BehindProxy
	}
	if f.TLSCert != "" {
		l.tlsCert = &f.TLSCert
	}
	if f.TLSKey != "" {
		l.tlsKey = &f.TLSKey
	}
	if f.N8NURL != "" || f.N8NKey != "" {
		if f.N8NURL == "" || f.N8NKey == "" {
			flag("n8n-url", flawf("and --api-key belong together; give both"))
		} else {
			flag("n8n-url", checkURL(f.N8NURL))
			l.n8n = []N8N{{Name: N8NSource, URL: f.N8NURL, APIKey: f.N8NKey}}
		}
	}
	return l
}

// set stores what check makes of a value.
func set(into **string, check func(string) (string, error)) func(string) error {
	return func(v string) error {
		v, err := check(v)
		if err == nil {
			*into = &v
		}
		return err
	}
}

func among(words []string) func(string) (string, error) {
	return func(v string) (string, error) {
		if w, ok := fold(v, words); ok {
			return w, nil
		}
		return "", flawf("must be one of %s", strings.Join(words, ", "))
	}
}
