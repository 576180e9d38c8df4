package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/bridge"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/script"
	"genkan/internal/testkit"
	"genkan/internal/testkit/authserver"
	"genkan/internal/testkit/fault"
)

// testVersion is the version of genkan in scripts.
const testVersion = "v0-test"

// programs are what the scripts run. The test binary is each of them under its name.
var programs = map[string]func(){
	"genkan": func() {
		os.Exit(Main(os.Args[1:], testVersion, Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	},
	// browser ADDRESS: a person who agrees to everything.
	"browser": func() {
		if _, err := authserver.Open(context.Background(), os.Args[1]); err != nil {
			os.Exit(1)
		}
	},
	// tab ADDRESS: a page that signs in with the code of its address, and writes the
	// answer to the file opened.
	"tab": func() { openTab(os.Args[1]) },
	// serving DATA: waits until the genkan of DATA answers over HTTP, for a script that
	// runs genkan at a terminal, which testscript does not do in the background.
	"serving": func() {
		for deadline := time.Now().Add(2 * time.Minute); !answers(os.Args[1]); time.Sleep(30 * time.Millisecond) {
			if time.Now().After(deadline) {
				os.Exit(1)
			}
		}
	},
	"hostileserver": func() { os.Exit(hostileServer(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	"faultserver":   func() { os.Exit(fault.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
}

func openTab(address string) {
	origin, code, _ := strings.Cut(address, "/ui/#code=")
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, origin+"/ui/session", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		panic(err)
	}
	r.Header = http.Header{"Origin": {origin}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(err)
	}
	answer, _ := io.ReadAll(resp.Body)
	if err := os.WriteFile("opened", fmt.Appendf(nil, "%d %s", resp.StatusCode, answer), 0o600); err != nil {
		panic(err)
	}
}

func TestMain(m *testing.M) {
	script.Main() // does not return in a worker
	testscript.Main(m, programs)
}

// withoutRaceDetector returns a directory with the programs that scripts start often,
// built without the race detector. A command takes six times as long with it, and the
// scripts run hundreds.
func withoutRaceDetector(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(
		testkit.Build(filepath.Join(dir, "genkan"), "genkan/cmd/genkan", testVersion),
		testkit.Build(filepath.Join(dir, "faultserver"), testkit.FaultPackage, ""),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The scripts are what a user types, against real processes. With the full
// counts these have the race detector, too.
func TestScripts(t *testing.T) {
	path := os.Getenv("PATH")
	if testkit.RaceDetector() && !testkit.Full() {
		path = withoutRaceDetector(t) + string(filepath.ListSeparator) + path
	}
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		// [full] is for what takes long and is tested elsewhere, too.
		Condition: func(name string) (bool, error) {
			if name == "full" {
				return testkit.Full(), nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "share"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PATH", path)
			e.Setenv("SHELL", "/bin/false") // no test depends on the start files of whoever runs it
			// Under the race detector a process lingers for a second otherwise.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			// Usual collections of garbage are a fifth of what a short command does.
			e.Setenv("GOGC", "400")
			// For a script that fails before it has ended what it began.
			e.Setenv("GENKAN_BACKGROUND_IDLE", "1m")
			e.Setenv("BROWSER", "browser")
			e.Values[lockKey{}] = &lock{t: t}
			e.Values[squatterKey{}] = &squatterBox{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// ready DATA [SERVER]: waits until the genkan of DATA answers, and
			// until SERVER is ready.
			"ready": cmdReady,
			// shows DATA SERVER TEXT: waits until the API says so of the server.
			"shows": func(ts *testscript.TestScript, _ bool, args []string) {
				until(ts, args[1]+" does not show "+args[2], func() bool {
					return strings.Contains(get(ts, ts.MkAbs(args[0]), "/v1/servers/"+args[1]), args[2])
				})
			},
			// address DATA VARIABLE: has the host:port that genkan listens on.
			"address": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[1], listensOn(ts.MkAbs(args[0])))
			},
			// asked DATA VARIABLE: waits until a call waits for a person, and has the ID
			// of its approval.
			"asked": func(ts *testscript.TestScript, _ bool, args []string) {
				var list client.ApprovalList
				until(ts, "nobody is asked", func() bool {
					return json.Unmarshal([]byte(get(ts, ts.MkAbs(args[0]), "/v1/approvals")), &list) == nil && len(list.Approvals) == 1
				})
				ts.Setenv(args[1], list.Approvals[0].ID)
			},
			// running DATA VARIABLE: waits until one call runs, and has its ID.
			"running": func(ts *testscript.TestScript, _ bool, args []string) {
				var list client.CallList
				until(ts, "no call runs", func() bool {
					return json.Unmarshal([]byte(get(ts, ts.MkAbs(args[0]), "/v1/calls")), &list) == nil && len(list.Running) == 1
				})
				ts.Setenv(args[1], list.Running[0].ID)
			},
			// squat DATA ADDRESS: another program listens on the address of a genkan
			// that was killed, and answers everybody.
			"squat": cmdSquat,
			// unheard [asked]: nobody sent it a token, and somebody asked it something.
			"unheard": cmdUnheard,
			// background DATA: ends the background process of DATA.
			"background": cmdBackground,
			// post DATA FILE STATUS: posts a file to /mcp with the admin token.
			"post": cmdPost,
			// token DATA NAME FILE: makes a token and posts a file to /mcp with it.
			"token": cmdToken,
			// healthy FILE true|false: the file is a whole report of the doctor's.
			"healthy": cmdHealthy,
			// connect DATA NAME FILE: has a client's file lead to the server many,
			// with a token of the client's, beside another entry.
			"connect": cmdConnect,
			// damage DATA CLIENT: cuts the backup of the client's last change.
			"damage": cmdDamage,
			// nowhere TEXT PATH...: no file of the folders holds the text, however it
			// is written.
			"nowhere": cmdNowhere,
			// locked VARIABLE [OPTION...]: starts a server that wants a sign-in, with
			// its URL in the variable.
			"locked": cmdLocked,
			// unlocked VARIABLE: one that wants none.
			"unlocked": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], authserver.Start(t, authserver.Options{Open: true, NoMetadata: true}).URL())
			},
			// lockdoes expire|forget: what happens to the sign-ins there.
			"lockdoes": cmdLockDoes,
			// pastes SERVER ARGUMENT...: `genkan login --no-browser`, with the address
			// that a browser elsewhere ended at.
			"pastes": cmdPastes,
			// unseen PATH...: no code, token or secret that there ever was is in a file
			// of the folders.
			"unseen": cmdUnseen,
			// eventually PATTERN COMMAND...: repeats a command until it succeeds and
			// prints what matches.
			"eventually": func(ts *testscript.TestScript, _ bool, args []string) {
				pattern := regexp.MustCompile(args[0])
				until(ts, strings.Join(args[1:], " ")+" does not print "+args[0], func() bool {
					return ts.Exec(args[1], args[2:]...) == nil && pattern.MatchString(ts.ReadFile("stdout"))
				})
			},
			// tails DATA PATTERN [FLAG...] -- COMMAND...: repeats a command until `genkan
			// calls tail` prints what matches.
			"tails": cmdTails,
			// sameitems FILE FILE: both exports have the same items, whatever their ids.
			"sameitems": cmdSameItems,
			// manyitems N FILE: writes so many items, each related to the one before.
			"manyitems": cmdManyItems,
			// sql DATA STATEMENT...: changes rows behind everybody's back.
			"sql": cmdSQL,
			// scribble FOLDER OFFSET: changes a byte of the index file there; scribble
			// DATABASE TABLE: bytes of the last page of a table or an index.
			"scribble": cmdScribble,
			// private FILE: it is for its owner alone.
			"private": func(ts *testscript.TestScript, _ bool, args []string) {
				info, err := os.Stat(ts.MkAbs(args[0]))
				ts.Check(err)
				if mode := info.Mode().Perm(); mode != 0o600 {
					ts.Fatalf("%s has the mode %o", args[0], mode)
				}
			},
			// unsteered: the last command showed hostile text and nothing of it steers a
			// terminal.
			"unsteered": cmdUnsteered,
			// hostile FILE: appends hostile text to a file.
			"hostile": cmdHostile,
			// untilfails COMMAND...: repeats a command until it fails.
			"untilfails": func(ts *testscript.TestScript, _ bool, args []string) {
				until(ts, strings.Join(args, " ")+" still succeeds", func() bool {
					return ts.Exec(args[0], args[1:]...) != nil
				})
			},
		},
	})
}

func cmdTails(ts *testscript.TestScript, _ bool, args []string) {
	pattern, end := regexp.MustCompile(args[1]), slices.Index(args, "--")
	program, err := exec.LookPath("genkan")
	ts.Check(err)
	cmd := exec.Command(program, append([]string{"calls", "tail", "--data", ts.MkAbs(args[0])}, args[2:end]...)...)
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "XDG_DATA_HOME="+ts.Getenv("XDG_DATA_HOME"))
	var out testkit.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ts.Check(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	until(ts, "calls tail does not print "+args[1], func() bool {
		_ = ts.Exec(args[end+1], args[end+2:]...)
		return pattern.MatchString(out.String())
	})
	ts.Check(cmd.Process.Signal(os.Interrupt))
	ts.Check(cmd.Wait())
}

func cmdNowhere(ts *testscript.TestScript, _ bool, args []string) {
	files := 0
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			secret := []byte(args[0])
			for _, written := range []string{
				args[0], base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret), hex.EncodeToString(secret),
			} {
				if bytes.Contains(raw, []byte(written)) {
					ts.Fatalf("%s holds %s", path, args[0])
				}
			}
			return nil
		}))
	}
	if files == 0 {
		ts.Fatalf("there are no files to look into")
	}
}

func cmdDamage(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.MkAbs(args[0])
	changes, _, err := clients.Backups{Dir: filepath.Join(data, "backups")}.List()
	ts.Check(err)
	for _, ch := range changes {
		if ch.Client == args[1] {
			name := sha256.Sum256([]byte("backup/" + ch.ID))
			ts.Check(os.Truncate(filepath.Join(data, "vault", hex.EncodeToString(name[:16])+".age"), 10))
			return
		}
	}
	ts.Fatalf("%s was not changed", args[1])
}

// cmdBackground fails when there is no background process.
func cmdBackground(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.MkAbs(args[0])
	conn, welcome, err := bridge.Dial(context.Background(), data, bridge.Hello{Purpose: bridge.PurposeREST})
	ts.Check(err)
	_ = conn.Close()
	process, err := os.FindProcess(welcome.PID)
	ts.Check(err)
	ts.Check(process.Signal(syscall.SIGTERM))
	until(ts, "the background process still runs", func() bool { return !testkit.Alive(welcome.PID) })
}

func until(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(2 * time.Minute); !done(); {
		if time.Now().After(deadline) {
			ts.Fatalf("gave up waiting: %s", what)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

func cmdReady(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.MkAbs(args[0])
	until(ts, "genkan does not answer", func() bool { return answers(data) })
	if len(args) > 1 {
		until(ts, args[1]+" is not ready", func() bool {
			return strings.Contains(get(ts, data, "/v1/servers/"+args[1]), `"state":"ready"`)
		})
	}
}

// answers reports whether the genkan of a data directory answers over HTTP.
func answers(data string) bool {
	address := listensOn(data)
	if address == "" {
		return false
	}
	resp, err := http.Get("http://" + address + "/health")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// listensOn is where the genkan of a data directory listens; empty if none does.
func listensOn(data string) string {
	conn, welcome, err := bridge.Dial(context.Background(), data, bridge.Hello{Purpose: bridge.PurposeREST})
	if err != nil {
		return ""
	}
	_ = conn.Close()
	return welcome.Listen
}

func admin(ts *testscript.TestScript, data string) (base, token string) {
	address := listensOn(data)
	if address == "" {
		ts.Fatalf("no genkan listens for %s", data)
	}
	raw, err := os.ReadFile(app.AdminTokenFile(data))
	ts.Check(err)
	return "http://" + address, strings.TrimSpace(string(raw))
}

func get(ts *testscript.TestScript, data, path string) string {
	base, token := admin(ts, data)
	r, err := http.NewRequest(http.MethodGet, base+path, nil)
	ts.Check(err)
	return send(ts, r, token, 0)
}

func cmdPost(ts *testscript.TestScript, _ bool, args []string) {
	base, token := admin(ts, ts.MkAbs(args[0]))
	r, err := http.NewRequest(http.MethodPost, base+"/mcp", strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	want := map[string]int{"200": 200, "400": 400}[args[2]]
	_, _ = ts.Stdout().Write([]byte(send(ts, r, token, want)))
}

func cmdToken(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.MkAbs(args[0])
	ts.Check(ts.Exec("genkan", "tokens", "add", args[1], "--data", data))
	token := strings.TrimSpace(ts.ReadFile("stdout"))
	base, _ := admin(ts, data)
	r, err := http.NewRequest(http.MethodPost, base+"/mcp", strings.NewReader(ts.ReadFile(args[2])))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	send(ts, r, token, http.StatusOK)
}

func cmdConnect(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.MkAbs(args[0])
	ts.Check(ts.Exec("genkan", "tokens", "add", args[1], "--data", data))
	token := strings.TrimSpace(ts.ReadFile("stdout"))
	base, _ := admin(ts, data)
	file := ts.MkAbs(args[2])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, []byte(`{"mcpServers": {"old": {"command": "npx"}, "many": {"url": "`+base+
		`/mcp/s/many", "headers": {"Authorization": "Bearer `+token+`"}}}}`), 0o600))
}

// cmdHealthy holds a report to the shape that is documented: nothing more,
// nothing less.
func cmdHealthy(ts *testscript.TestScript, _ bool, args []string) {
	var report struct {
		OK       *bool `json:"ok"`
		Findings []struct {
			Subject, Severity, Title, Detail, Fix, Advice, Place, Command string
			Lines                                                         []string
			Times                                                         []struct{ Text, Time string }
			Request                                                       *struct {
				Method, Path string
				Body         json.RawMessage
			}
		} `json:"findings"`
		Knowledge map[string]any   `json:"knowledge"`
		Servers   []map[string]any `json:"servers"`
		Clients   []struct {
			Name, Title  string
			Tools, Limit int
			Files        []struct {
				Path          string
				Leads, Others []string
			}
		} `json:"clients"`
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.DisallowUnknownFields()
	ts.Check(d.Decode(&report))
	if report.OK == nil || report.Findings == nil || report.Servers == nil || report.Clients == nil {
		ts.Fatalf("the report lacks one of ok, findings, servers and clients")
	}
	problems := 0
	for _, f := range report.Findings {
		if f.Subject == "" || f.Title == "" || !slices.Contains([]string{"ok", "note", "warning", "problem"}, f.Severity) {
			ts.Fatalf("a finding is not whole: %+v", f)
		}
		if f.Severity == "problem" {
			problems++
		}
	}
	if want := args[1] == "true"; *report.OK != want || (problems == 0) != want {
		ts.Fatalf("ok is %v with %d problems", *report.OK, problems)
	}
}

func send(ts *testscript.TestScript, r *http.Request, token string, want int) string {
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer func() { _ = resp.Body.Close() }()
	var body bytes.Buffer
	_, err = body.ReadFrom(resp.Body)
	ts.Check(err)
	if want != 0 && resp.StatusCode != want {
		ts.Fatalf("status %d, want %d: %s", resp.StatusCode, want, body.String())
	}
	return body.String()
}

// Every code has an exit status, and none of them is success or a tool's own.
func TestExitStatusIsComplete(t *testing.T) {
	t.Parallel()
	for _, code := range gateway.Codes() {
		if status, ok := exitStatus[code]; !ok || status < 2 {
			t.Errorf("code %s: status %d", code, status)
		}
	}
}

// What --json prints is JSON.
func TestJSONIsIndentedAndUnescaped(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &command{std: Streams{Out: &out}}
	if err := c.json(json.RawMessage(`{"a":"<b>"}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "{\n  \"a\": \"<b>\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
