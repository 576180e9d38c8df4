package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// WorkspaceFolder stands in a server's command, arguments, environment and
// directory for the folder that the client works in.
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

// in is the settings of a server that works in a folder.
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

// nowhere is the folder of the connection that is only there for the lists.
func nowhere() string {
	dir := filepath.Join(os.TempDir(), "genkan-no-workspace")
	_ = os.MkdirAll(dir, 0o700)
	return dir
}

// home is where a client works.
type home struct {
	// roots is the answer to roots/list; nil when the client did not say.
	roots []byte
	dir   string
	// version counts how often the client has moved until then.
	version int
}

// key tells places apart by their URIs: the names that clients give them differ.
func (h home) key() string {
	digest := sha256.New()
	found := false
	_ = jsonrpc.Elements(jsonrpc.Lookup(h.roots, "roots"), func(root []byte) bool {
		found = true
		digest.Write([]byte(strings.TrimSuffix(jsonrpc.LookupText(root, "uri"), "/") + "\x00"))
		return true
	})
	if !found {
		return ""
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}

// rootsPatience is how long a client may take to say where it works. No person
// is asked for that.
const rootsPatience = 10 * time.Second

// homeOf finds out where the caller's client works: it is asked once, and again
// when it has said that this changed. A modern client could only be asked by
// answering its call with the question, so it is not.
func (s *Server) homeOf(ctx context.Context, call *gateway.Call) home {
	session := call.Session
	if session == nil {
		return homeIn(call.Dir)
	}
	if call.Era == gateway.EraModern || jsonrpc.Lookup(session.Capabilities, "roots") == nil {
		return homeIn(session.Dir)
	}
	b := &s.branches
	b.mu.Lock()
	known, ok := b.homes[session.ID]
	b.mu.Unlock()
	if ok && known.version >= session.Roots {
		return known
	}
	where, err := askHome(ctx, call)
	if err != nil {
		s.log.Warn("a client does not say where it works", "error", err)
	}
	b.learn(session.ID, where)
	return where
}

// homeIn is where a client works that is known to do so in a folder; without one
// it is nowhere.
func homeIn(dir string) home {
	if dir == "" {
		return home{}
	}
	uri := (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
	root := append(jsonrpc.AppendQuoted([]byte(`{"roots":[{"uri":`), uri), `,"name":`...)
	return home{roots: append(jsonrpc.AppendQuoted(root, filepath.Base(dir)), "}]}"...), dir: dir}
}

// askHome asks a client where it works.
func askHome(ctx context.Context, call *gateway.Call) (home, error) {
	where := home{version: call.Session.Roots}
	ctx, cancel := context.WithTimeout(ctx, rootsPatience)
	defer cancel()
	roots, err := call.Ask(ctx, "roots/list", []byte("{}"))
	if err == nil {
		where.roots, where.dir = roots, firstFolder(roots)
	}
	return where, err
}

// learn remembers where a session's client works.
func (b *branches) learn(session string, where home) {
	const most = 1000
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.homes) >= most || b.homes == nil {
		b.homes = map[string]home{} // asked anew, which costs little
	}
	if b.homes[session].version <= where.version {
		b.homes[session] = where
	}
}

// firstFolder is the path of the first root that is a folder here.
func firstFolder(roots []byte) string {
	found := ""
	_ = jsonrpc.Elements(jsonrpc.Lookup(roots, "roots"), func(root []byte) bool {
		u, err := url.Parse(jsonrpc.LookupText(root, "uri"))
		if err == nil && u.Scheme == "file" && filepath.IsAbs(filepath.FromSlash(u.Path)) {
			found = filepath.FromSlash(u.Path)
		}
		return found == ""
	})
	return found
}
