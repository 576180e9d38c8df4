package upstream

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/launch"
	"genkan/internal/testkit"
)

// workspaceServer is a child that can say which folder it got.
func workspaceServer(t *testing.T) Settings {
	t.Helper()
	set := faultChild(t, "-era", "legacy")
	set.Env["WORK"] = WorkspaceFolder
	return set
}

func callEnv(t *testing.T, u *upstreamTest, folder string) (string, error) {
	t.Helper()
	call := u.newCall(gateway.EraLegacy, "env", `{}`, "")
	call.Dir = folder
	result, err := u.Handle(t.Context(), call)
	if err != nil {
		return "", err
	}
	return string(result.Raw), nil
}

// A folder is checked once more when the server is started in it, and when it has
// started: somebody may have put a link in its place meanwhile.
func TestAFolderThatChangesWhileItsServerStarts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, test := range map[string]struct {
		looks   int // how often the folder is looked at before it changes
		becomes string
		want    string
	}{
		"before the start":       {1, "", "it is another now"},
		"during the start":       {2, "", "it is another now"},
		"into a link":            {1, "/elsewhere", "replaced by a link"},
		"into a link meanwhile":  {2, "/elsewhere", "replaced by a link"},
		"not before it is there": {3, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			looks := 0
			u := open(t, workspaceServer(t), func(_ *Settings, d *Deps) {
				d.Folder = func(_ gateway.Identity, named string) (string, gateway.Text) {
					mu.Lock()
					defer mu.Unlock()
					if looks++; looks > test.looks {
						return test.becomes, gateway.Textf("it is another now")
					}
					return named, gateway.Text{}
				}
			})
			u.waitReady()
			said, err := callEnv(t, u, folder)
			switch {
			case test.want == "" && (err != nil || !strings.Contains(said, "WORK="+folder)):
				t.Errorf("got %s, %v", said, err)
			case test.want != "" && (err == nil || !strings.Contains(gateway.AsError(err).Text(), test.want)):
				t.Errorf("got %s, %v", said, err)
			}
			if test.want != "" {
				testkit.Eventually(t, func() bool { return u.pool.count() == 0 }, "the server is gone")
			}
		})
	}
}

// The path that a server gets is the one that was checked, not the one that the
// caller spelled.
func TestServersGetThePathThatWasChecked(t *testing.T) {
	t.Parallel()
	checked := t.TempDir()
	u := open(t, workspaceServer(t), func(_ *Settings, d *Deps) {
		d.Folder = func(gateway.Identity, string) (string, gateway.Text) { return checked, gateway.Text{} }
	})
	u.waitReady()
	if said, err := callEnv(t, u, "/a/link"); err != nil || !strings.Contains(said, "WORK="+checked) {
		t.Errorf("got %s, %v", said, err)
	}
}

// A caller with a token may be able to write in its folder, and programs run what
// they find where they are started. So its server is not started there, unless the
// configuration says so; a local client's is.
func TestServersOfTokensAreNotStartedInTheirFolder(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), t.TempDir()
	l := launch.New(launch.Options{DataDir: data, Log: slog.New(slog.DiscardHandler)})
	defer l.Close()
	explicit := workspaceServer(t)
	explicit.Dir = WorkspaceFolder
	for name, test := range map[string]struct {
		set  Settings
		who  gateway.Identity
		want string
	}{
		"a token":              {workspaceServer(t), gateway.Identity{ClientID: "agent"}, filepath.Join(data, "empty")},
		"a token, by cwd":      {explicit, gateway.Identity{ClientID: "agent"}, folder},
		"a local client":       {workspaceServer(t), gateway.LocalIdentity("editor"), folder},
		"the admin":            {workspaceServer(t), gateway.Identity{ClientID: "admin", Admin: true}, folder},
		"a token, root server": {func() Settings { s := faultChild(t, "-era", "legacy"); s.Isolation = IsolationRoot; return s }(), gateway.Identity{ClientID: "agent"}, filepath.Join(data, "empty")},
	} {
		t.Run(name, func(t *testing.T) {
			u := open(t, test.set, withLauncher(l))
			u.waitReady()
			call := u.newCall(gateway.EraLegacy, "pid", `{}`, "")
			call.Dir, call.Identity = folder, test.who
			result, err := u.Handle(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			var said struct{ Content []struct{ Text string } }
			if err := json.Unmarshal(result.Raw, &said); err != nil || len(said.Content) == 0 {
				t.Fatalf("%s: %v", result.Raw, err)
			}
			started, err := os.Readlink("/proc/" + said.Content[0].Text + "/cwd")
			if err != nil {
				t.Skip("only Linux tells where a process works: ", err)
			}
			if !strings.HasPrefix(started, test.want) {
				t.Errorf("it was started in %s, want %s", started, test.want)
			}
			u.Close()
			if left, _ := filepath.Glob(filepath.Join(data, "empty", "*", "srv-*")); len(left) > 0 {
				t.Errorf("it leaves %v behind", left)
			}
		})
	}
}

// The connection that is there for the lists works in an empty folder of the data
// directory, whatever somebody has put into the folder for temporary files.
func TestAServerWithoutAClientWorksInAnEmptyFolder(t *testing.T) {
	data, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	planted := filepath.Join(temp, "genkan-no-workspace", "node_modules")
	if err := os.MkdirAll(planted, 0o755); err != nil {
		t.Fatal(err)
	}
	set := workspaceServer(t)
	set.Isolation = IsolationShared // so that a call gets there
	l := launch.New(launch.Options{DataDir: data, Log: slog.New(slog.DiscardHandler)})
	defer l.Close()
	u := open(t, set, withLauncher(l))
	u.waitReady()
	said, err := callEnv(t, u, "")
	if err != nil || !strings.Contains(said, "WORK="+filepath.Join(data, "empty")) {
		t.Errorf("got %s, %v", said, err)
	}
	u.Close()
	if left, _ := filepath.Glob(filepath.Join(data, "empty", "*", "srv-*")); len(left) > 0 {
		t.Errorf("it leaves %v behind", left)
	}
}

// URIs and paths are told apart by the system's rules.
func TestPathsOfURIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ goos, uri, path string }{
		{"linux", "file:///srv/example/a%20b", "/srv/example/a b"},
		{"linux", "file://localhost/x", "/x"},
		{"linux", "FILE:///x", "/x"},
		{"linux", "file:/x", "/x"},
		{"linux", "file:///x?y#z", "/x"},
		{"linux", "file://host/x", ""},
		{"linux", "file:x", ""},
		{"linux", "/x", ""},
		{"linux", "~/x", ""},
		{"linux", "http://host/x", ""},
		{"linux", "file:///x%00y", ""},
		{"linux", "file:///%zz", ""},
		{"linux", "", ""},
		{"windows", "file:///C:/Users/me", `C:\Users\me`},
		{"windows", "file:///c%3A/Users/me", `c:\Users\me`},
		{"windows", "file:///C:/", `C:\`},
		{"windows", "file://server/share/x", `\\server\share\x`},
		{"windows", "file:///C:", ""},
		{"windows", "file:///x", ""},
	} {
		path, ok := pathOf(test.goos, test.uri)
		if ok != (test.path != "") || ok && path != test.path {
			t.Errorf("%s on %s is %q, %t, want %q", test.uri, test.goos, path, ok, test.path)
		}
	}
	for goos, path := range map[string]string{"linux": "/srv/example/a b?c#d%20", "windows": `C:\a b\c`} {
		if again, ok := pathOf(goos, uriOf(goos, path)); !ok || again != path {
			t.Errorf("%s comes back as %s", path, again)
		}
	}
	if again, _ := pathOf("windows", uriOf("windows", `\\server\share\x`)); again != `\\server\share\x` {
		t.Errorf("a share comes back as %s", again)
	}
}

// A client that states no roots leaves a server with the folders of its own
// configuration, whatever the client's working directory is. The server is started
// there, and told of it only if the configuration says that it works in its client's
// folder, or the caller chose the folder for the call.
func TestAWorkingDirectoryIsNoRoot(t *testing.T) {
	t.Parallel()
	folder := realDir(t)
	const none = `[{"roots":[]}]`
	for name, test := range map[string]struct {
		isolation, work string
		stated, told    bool
	}{
		"auto":                {"", "", false, false},
		"session":             {IsolationSession, "", false, false},
		"root":                {IsolationRoot, "", false, true},
		"${workspaceFolder}":  {"", WorkspaceFolder, false, true},
		"stated for the call": {"", "", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := faultChild(t, "-everything", "-era", "legacy")
			set.Isolation, set.Env["WORK"] = test.isolation, gateway.Secret(test.work)
			u := openReady(t, set)
			ask := func(dir string) string {
				call := u.newCall(gateway.EraLegacy, "ask", `{"what":"roots"}`, "")
				call.Identity = gateway.LocalIdentity("script")
				if call.Dir, call.DirStated = dir, test.stated; !test.stated {
					call.Session = &gateway.Session{ID: "editor", Capabilities: []byte(`{}`), Dir: dir}
				}
				if test.isolation == IsolationSession {
					call.Session = nil // a client without the capability is not asked there
				}
				result, err := u.Handle(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				if result.Notice.Format != "" {
					t.Errorf("there is a notice: %s", result.Notice)
				}
				return textOf(t, result)
			}
			if test.work == "" && test.isolation == "" {
				ask("") // so that it is known to ask for roots
			}
			for range 2 {
				if got := ask(folder); test.told != strings.Contains(got, folder) || !test.told && got != none {
					t.Errorf("the server is told %s", got)
				}
			}
			if !test.told && u.pool.count() != 1 {
				t.Errorf("%d processes, want one in the folder", u.pool.count())
			}
		})
	}
}

// A working directory that a server would not be told of is not worth a notice, and
// stops no call.
func TestARefusedWorkingDirectoryIsNotMentioned(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-everything", "-era", "legacy"), func(_ *Settings, d *Deps) {
		d.Folder = func(gateway.Identity, string) (string, gateway.Text) {
			return "", gateway.Textf("it is the home directory")
		}
	})
	notice := func(stated bool) string {
		call := u.newCall(gateway.EraLegacy, "ask", `{"what":"roots"}`, "")
		call.Dir, call.DirStated = "/srv/example", stated
		result, err := u.Handle(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		return result.Notice.String()
	}
	notice(false) // so that it is known to ask for roots
	if got := notice(false); got != "" {
		t.Errorf("of a working directory: %s", got)
	}
	if got, want := notice(true), `the server was not told of your folder "/srv/example", because it is the home directory`; got != want {
		t.Errorf("of a stated folder: %s, want %s", got, want)
	}
}
