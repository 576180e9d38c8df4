package upstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// WorkspaceFolder is the variable in a command, its arguments, environment and
// directory that is replaced by the client's folder.
const WorkspaceFolder = "${workspaceFolder}"

func (s *Settings) usesWorkspace() bool {
	for _, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if strings.Contains(text, WorkspaceFolder) {
			return true
		}
	}
	for _, value := range s.Env {
		if strings.Contains(value.Reveal(), WorkspaceFolder) {
			return true
		}
	}
	return false
}

// in returns the settings of a server that works in a folder.
func (s Settings) in(dir string) Settings {
	put := func(text string) string { return strings.ReplaceAll(text, WorkspaceFolder, dir) }
	if s.usesWorkspace() {
		args, env := make([]string, len(s.Args)), map[string]gateway.Secret{}
		for i, arg := range s.Args {
			args[i] = put(arg)
		}
		for name, value := range s.Env {
			env[name] = gateway.Secret(put(value.Reveal()))
		}
		s.Command, s.Dir, s.Args, s.Env = put(s.Command), put(s.Dir), args, env
	}
	if s.Dir == "" {
		s.Dir = dir
	}
	return s
}

// workspace is the part of a client's roots that its servers may know.
type workspace struct {
	// roots is the answer to roots/list; nil if the client stated none.
	roots []byte
	// dir is the first root, or the caller's working directory, as a path without
	// symbolic links; empty for none.
	dir string
	// named is the first folder that the client named and may not use, and
	// refused the reason. Both are empty if there is none.
	named   string
	refused gateway.Text
	// version counts how often the client has changed its roots.
	version int
}

// notice returns the message that the server was not told of a folder; empty if
// there is none.
func (h workspace) notice() gateway.Text {
	if h.named == "" {
		return gateway.Text{}
	}
	return gateway.Textf("the server was not told of your folder %q, because %s", h.named, h.refused)
}

// key identifies the roots by their URIs; clients give them different names. A
// working directory that is no root is identified by its path.
func (h workspace) key() string {
	if h.roots == nil && h.dir != "" {
		return "in " + h.dir
	}
	digest := sha256.New()
	found := false
	_ = jsonrpc.Elements(jsonrpc.Lookup(h.roots, "roots"), func(root []byte) bool {
		found = true
		digest.Write([]byte(jsonrpc.LookupText(root, "uri") + "\x00"))
		return true
	})
	if !found {
		return ""
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}

// statedRoots are a client's roots as stated by it.
type statedRoots struct {
	roots   []byte
	version int
}

// rootsTimeout is how long a client may take to answer roots/list. No person is
// involved.
const rootsTimeout = 10 * time.Second

// workspaceOf returns the workspace of the caller's client. The client is asked
// once, and again when it says that its roots changed. A modern client is not
// asked: it would have to answer in the call. Permissions are checked at each
// call, because the folder or the rules may have changed.
func (s *Server) workspaceOf(ctx context.Context, call *gateway.Call) workspace {
	session := call.Session
	if session == nil {
		return s.workspaceIn(call.Identity, call.Dir, call.DirStated)
	}
	if call.Era == gateway.EraModern || jsonrpc.Lookup(session.Capabilities, "roots") == nil {
		return s.workspaceIn(call.Identity, session.Dir, false)
	}
	b := &s.pool
	b.mu.Lock()
	known, ok := b.stated[session.ID]
	b.mu.Unlock()
	if !ok || known.version < session.Roots {
		var err error
		if known, err = askRoots(ctx, call); err != nil {
			s.log.Warn("a client does not say where it works", "error", err)
		}
		b.learn(session.ID, known)
	}
	where := s.workspaceAt(call.Identity, known.roots)
	where.version = known.version
	return where
}

// workspaceIn returns the workspace of a caller that works in dir. A working
// directory that the caller has not stated is a root only for servers that are
// configured to work in their client's folder: others keep the folders of their own
// configuration when a client states none (ADR 12). They are only started there.
func (s *Server) workspaceIn(who gateway.Identity, dir string, stated bool) workspace {
	where := s.workspaceAt(who, rootsIn(dir))
	switch {
	case stated || s.usesWorkspace || s.set.Isolation == IsolationRoot:
		return where
	case s.set.Command == "":
		return workspace{}
	default:
		return workspace{dir: where.dir}
	}
}

// workspaceAt returns the part of a client's roots that its servers may know.
func (s *Server) workspaceAt(who gateway.Identity, roots []byte) workspace {
	var where workspace
	if roots == nil {
		return where
	}
	where.roots = s.permitted(who, roots, &where)
	return where
}

// permitted returns an answer to roots/list with those roots only that the client
// may choose. Each URI is built here from a path without links, because programs
// may read a client's URI differently and a link may change. The first folder and
// the first refusal are recorded in into, which may be nil.
func (s *Server) permitted(who gateway.Identity, answer []byte, into *workspace) []byte {
	list := []byte{'['}
	_ = jsonrpc.Elements(jsonrpc.Lookup(answer, "roots"), func(root []byte) bool {
		uri := jsonrpc.LookupText(root, "uri")
		path, why := "", gateway.Textf("only file:// URIs of absolute paths name a folder")
		named, ok := pathOf(runtime.GOOS, uri)
		if ok {
			path, why = s.folder(who, named)
		}
		switch {
		case path == "" && into != nil && into.named == "":
			into.named, into.refused = cmp.Or(named, uri), why
		case path == "":
		default:
			if into != nil && into.dir == "" {
				into.dir = path
			}
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(list, with(root, "uri", jsonrpc.AppendQuoted(nil, uriOf(runtime.GOOS, path)))...)
		}
		return true
	})
	return with(answer, "roots", append(list, ']'))
}

// folder checks a folder that a caller has named.
func (s *Server) folder(who gateway.Identity, named string) (string, gateway.Text) {
	if s.deps.Folder == nil {
		return "", gateway.Textf("callers choose no folders here")
	}
	return s.deps.Folder(who, named)
}

// with sets a member of a JSON object. It removes members whose keys differ only
// in case: some parsers take them for the same.
func with(object []byte, key string, value []byte) []byte {
	out := append(append(jsonrpc.AppendQuoted([]byte{'{'}, key), ':'), value...)
	_ = jsonrpc.Members(object, func(name, value []byte) bool {
		if !strings.EqualFold(string(name), key) {
			out = append(append(jsonrpc.AppendQuoted(append(out, ','), string(name)), ':'), value...)
		}
		return true
	})
	return append(out, '}')
}

// withPermittedRoots returns the params of a modern call with only those roots in
// its inputResponses that the client may choose.
func (s *Server) withPermittedRoots(call *gateway.Call, in *gateway.Params) (*gateway.Params, error) {
	answers := in.Get(in.InputResponses)
	out, found := []byte{'{'}, false
	err := jsonrpc.Members(answers, func(key, answer []byte) bool {
		if hasRoots(answer) {
			found = true
			answer = s.permitted(call.Identity, answer, nil)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonrpc.AppendQuoted(out, string(key)), ':'), answer...)
		return true
	})
	if err != nil || !found {
		return in, nil // without roots the answers are forwarded as they came
	}
	raw := jsonrpc.Splice(nil, in.Raw, jsonrpc.Edit{At: in.InputResponses, With: append(out, '}')})
	params, err := jsonrpc.ScanParams(raw)
	if err != nil {
		return nil, gateway.Errorf(gateway.CodeInvalid, "params.inputResponses cannot be read")
	}
	if !in.Name.Present() {
		params.Name = gateway.Span{} // the edge has found that it is not for us
	}
	return &params, nil
}

// hasRoots reports whether a client's answer is one to roots/list, with the key
// in any case.
func hasRoots(answer []byte) bool {
	found := false
	_ = jsonrpc.Members(answer, func(key, _ []byte) bool {
		found = found || strings.EqualFold(string(key), "roots")
		return !found
	})
	return found
}

// rootsIn returns the answer to roots/list of a client that works in a folder;
// nil if dir is empty.
func rootsIn(dir string) []byte {
	if dir == "" {
		return nil
	}
	root := append(jsonrpc.AppendQuoted([]byte(`{"roots":[{"uri":`), uriOf(runtime.GOOS, dir)), `,"name":`...)
	return append(jsonrpc.AppendQuoted(root, filepath.Base(dir)), "}]}"...)
}

// askRoots asks a client for its roots.
func askRoots(ctx context.Context, call *gateway.Call) (statedRoots, error) {
	stated := statedRoots{version: call.Session.Roots}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	roots, err := call.Ask(ctx, "roots/list", []byte("{}"))
	if err == nil {
		stated.roots = roots
	}
	return stated, err
}

// FirstRoot asks a client for its roots and returns the path of the first folder among
// them, which the caller must check. It is empty if the client states none.
func FirstRoot(ctx context.Context, call *gateway.Call) (path string) {
	if call.Session == nil || call.Era == gateway.EraModern || jsonrpc.Lookup(call.Session.Capabilities, "roots") == nil {
		return ""
	}
	said, err := askRoots(ctx, call)
	if err != nil {
		return ""
	}
	_ = jsonrpc.Elements(jsonrpc.Lookup(said.roots, "roots"), func(root []byte) bool {
		var ok bool
		path, ok = pathOf(runtime.GOOS, jsonrpc.LookupText(root, "uri"))
		return !ok
	})
	return path
}

// learn records the roots that a session's client has stated.
func (b *connPool) learn(session string, said statedRoots) {
	const most = 1000
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.stated) >= most || b.stated == nil {
		b.stated = map[string]statedRoots{} // asked anew, which costs little
	}
	if b.stated[session].version <= said.version {
		b.stated[session] = said
	}
}

// uriOf returns the file URI of a path.
func uriOf(goos, path string) string {
	u := url.URL{Scheme: "file", Path: path}
	if goos == "windows" {
		u.Path = strings.ReplaceAll(path, `\`, "/")
		if share, ok := strings.CutPrefix(u.Path, "//"); ok {
			var rest string
			u.Host, rest, _ = strings.Cut(share, "/")
			u.Path = "/" + rest
		} else {
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}

// pathOf returns the path of a file URI. It reports false if the URI is not a
// file URI of an absolute path.
func pathOf(goos, uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") || strings.Contains(u.Path, "\x00") {
		return "", false
	}
	here := u.Host == "" || strings.EqualFold(u.Host, "localhost")
	if goos != "windows" {
		return u.Path, here
	}
	path := strings.ReplaceAll(u.Path, "/", `\`)
	if !here {
		return `\\` + u.Host + path, true
	}
	// Without its first slash it begins with a drive: C:\.
	path = path[1:]
	isDrive := len(path) > 2 && path[1] == ':' && path[2] == '\\'
	return path, isDrive
}
