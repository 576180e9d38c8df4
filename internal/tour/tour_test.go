package tour

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/bridge"
	"genkan/internal/testkit"
	"genkan/internal/testkit/authserver"
)

var write = flag.Bool("write", false, "go the way with servers from npm, and write docs/first-five-minutes.md")

func TestMain(m *testing.M) { testkit.Main(m) }

// secret stands for the keys that people have in their files.
const secret = "sk-live-CANARY0123456789abcdefghij"

// editors are the files that the newcomer has, by their place below home.
func editors(home, protected string) map[string]string {
	return map[string]string{
		".cursor/mcp.json": `{
  // what I use every day
  "mcpServers": {
    "everything": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-everything"],
      "env": { "DEMO_API_KEY": "` + secret + `" },
      "autoApprove": ["echo"]
    },
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "` + home + `/notes"]
    },
    "github.com/acme/notes": {
      "command": "npx",
      "args": ["-y", "mcp-remote", "` + protected + `"]
    }
  }
}
`,
		".claude.json": `{
  "numStartups": 42,
  "mcpServers": {
    "everything": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-everything"],
      "env": { "DEMO_API_KEY": "` + secret + `" }
    },
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] }
  }
}
`,
		".codex/config.toml": `model = "gpt-5" # as always

[mcp_servers.tracker]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-everything", "stdio"]
env = { TRACKER_TOKEN = "${TRACKER_TOKEN}" }

[mcp_servers.weather]
command = "weather-mcp"
`,
	}
}

// walk is one run of the tour.
type walk struct {
	t    *testing.T
	home string
	bin  string
	path string
	auth *authserver.Server
	// story is what becomes the document.
	story bytes.Buffer
	begun time.Time
}

// TestTour: everything works through the door, no permission rule breaks, and
// the way back is there.
func TestTour(t *testing.T) {
	w := prepare(t)
	before := editors(w.home, w.auth.URL())
	for file, text := range before {
		w.put(file, text)
	}
	w.begun = time.Now()

	w.say("## What is there\n\nThree editors with servers of their own: some are in two of them, one is behind a sign-in, one lacks a variable, one is not installed. A key stands in two files in plain text.")
	w.show(".cursor/mcp.json", ".claude.json", ".codex/config.toml")

	w.say("## Take over what is there\n\nNothing is changed in the editors' files yet. The key goes into the encrypted store, `npx mcp-remote URL` becomes the URL, and every server is started once.")
	out := w.run(0, "genkan import --yes")
	w.wants(out, "everything is ready", "files is ready", "memory is ready", "weather does not work yet", "tracker does not work yet", "needs sign-in", "keys: 1")

	w.say("## Sign in, once for all editors\n\nThe browser opens by itself. On a machine without one, `genkan login notes --no-browser` asks for the address that a browser elsewhere ended at.")
	w.run(0, "genkan login notes")

	w.say("## What is wrong, and what mends it")
	out = w.run(1, "genkan doctor")
	w.wants(out, "weather", "genkan secrets set TRACKER_TOKEN")
	w.run(0, "echo 7f3a-demo-token | genkan secrets set TRACKER_TOKEN")
	w.run(0, "genkan servers")

	w.say("## Let the editors come through the door\n\nThe entries keep their names, so permission rules that name tools go on working. Without `--write` it only says what it would do.")
	w.run(0, "genkan connect all --write")
	w.show(".cursor/mcp.json", ".codex/config.toml")

	w.say("## As an editor sees it\n\nThis is Cursor's entry `everything`, started as Cursor starts it: the same tools under the same names.")
	w.asEditor("everything")
	argument := "text" // our own server's
	if *write {
		argument = "message"
	}
	w.run(0, `genkan call everything__echo '{"`+argument+`":"hello"}'`)

	w.say("## And back\n\nEvery file is what it was, to the byte.")
	w.run(0, "genkan undo")
	for file, text := range before {
		if got := w.read(file); got != text {
			t.Errorf("%s is not what it was:\n%s", file, got)
		}
	}
	took := time.Since(w.begun)
	w.say("All of it took " + took.Round(100*time.Millisecond).String() + ", with all packages of the servers downloaded on the way.")
	w.noSecrets()
	if *write {
		w.publish()
	}
}

func prepare(t *testing.T) *walk {
	t.Helper()
	dir := t.TempDir()
	w := &walk{t: t, home: filepath.Join(dir, "home"), bin: filepath.Join(dir, "bin"), auth: authserver.Start(t, authserver.Options{})}
	for _, d := range []string{w.home, w.bin, filepath.Join(w.home, "notes")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	build := func(name, pkg string) {
		if err := testkit.Build(filepath.Join(w.bin, name), pkg, ""); err != nil {
			t.Fatal(err)
		}
	}
	build("genkan", "genkan/cmd/genkan")
	build("browser", "genkan/internal/tour/browser")
	w.path = w.bin + ":/usr/local/bin:/usr/bin:/bin"
	if *write {
		// Where packages come from is the machine's business, and not the
		// newcomer's home's.
		if outside, err := os.UserHomeDir(); err == nil {
			if raw, err := os.ReadFile(filepath.Join(outside, ".npmrc")); err == nil {
				w.put(".npmrc", string(raw))
			}
		}
	} else {
		build("faultserver", "genkan/internal/testkit/fault/cmd/faultserver")
		w.script("npx", "#!/bin/sh\nexec faultserver -everything\n")
	}
	t.Cleanup(w.stop)
	return w
}

func (w *walk) script(name, text string) {
	if err := os.WriteFile(filepath.Join(w.bin, name), []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) put(file, text string) {
	path := filepath.Join(w.home, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) read(file string) string {
	raw, err := os.ReadFile(filepath.Join(w.home, file))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}

func (w *walk) environ() []string {
	return []string{
		"HOME=" + w.home, "PATH=" + w.path, "LANG=C.UTF-8", "TERM=dumb", "SHELL=/bin/sh",
		"BROWSER=" + filepath.Join(w.bin, "browser"), "GENKAN_BACKGROUND_IDLE=2m",
		"GORACE=atexit_sleep_ms=0",
	}
}

// say writes words of our own.
func (w *walk) say(text string) { fmt.Fprintf(&w.story, "%s\n\n", text) }

// show prints files.
func (w *walk) show(files ...string) {
	for _, file := range files {
		fmt.Fprintf(&w.story, "```console\n$ cat ~/%s\n%s```\n\n", file, w.clean(w.read(file)))
	}
}

// run runs a line as the newcomer types it, in a shell of their home.
func (w *walk) run(status int, line string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = w.home, w.environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if got := cmd.ProcessState.ExitCode(); got != status {
		w.t.Fatalf("%s: exit status %d, want %d (%v)\n%s", line, got, status, err, out.String())
	}
	text := strings.TrimRight(out.String(), "\n")
	fmt.Fprintf(&w.story, "```console\n$ %s\n%s\n```\n\n<sub>%s</sub>\n\n", line, w.clean(text), took.Round(10*time.Millisecond))
	return text
}

// asEditor starts an entry of Cursor's file as Cursor would.
func (w *walk) asEditor(name string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command, args := entryOf(w.t, w.read(".cursor/mcp.json"), name)
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir, cmd.Env = w.home, w.environ()
	cmd.Stderr = io.Discard
	begun := time.Now()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "cursor", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "echo") || strings.Contains(names[0], "__") {
		w.t.Errorf("the editor sees %v", names)
	}
	fmt.Fprintf(&w.story, "```console\ntools/list: %s\n```\n\n<sub>from the start of the process to the list: %s</sub>\n\n",
		strings.Join(names, ", "), time.Since(begun).Round(time.Millisecond))
}

func (w *walk) wants(out string, words ...string) {
	w.t.Helper()
	for _, word := range words {
		if !strings.Contains(out, word) {
			w.t.Errorf("nothing of %q in:\n%s", word, out)
		}
	}
}

// clean leaves out what is of this run alone.
func (w *walk) clean(text string) string {
	text = strings.ReplaceAll(text, w.home, "~")
	text = strings.ReplaceAll(text, w.bin+", /usr/local/bin", "/usr/local/bin")
	text = strings.ReplaceAll(text, w.bin, "/usr/local/bin")
	text = regexp.MustCompile(`authorize\?client_id=\S+`).ReplaceAllString(text, "authorize?client_id=…")
	return regexp.MustCompile(`127\.0\.0\.1:[0-9]{5}`).ReplaceAllString(text, "127.0.0.1:8930")
}

// noSecrets: the key of the files and all tokens of the sign-in are nowhere in
// what genkan keeps.
func (w *walk) noSecrets() {
	w.t.Helper()
	secrets := append(w.auth.Secrets(), secret, "7f3a-demo-token")
	looked := 0
	err := filepath.WalkDir(filepath.Join(w.home, ".local"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		looked++
		for _, s := range secrets {
			if bytes.Contains(raw, []byte(s)) {
				w.t.Errorf("%s holds a secret", path)
			}
		}
		return err
	})
	if err != nil || looked < 5 {
		w.t.Errorf("looked into %d files, %v", looked, err)
	}
}

// stop ends the genkan that runs in the background.
func (w *walk) stop() {
	conn, welcome, err := bridge.Dial(context.Background(), filepath.Join(w.home, ".local", "share", "genkan"), bridge.Hello{Purpose: bridge.PurposeREST})
	if err != nil {
		return
	}
	_ = conn.Close()
	process, err := os.FindProcess(welcome.PID)
	if err == nil {
		err = process.Signal(syscall.SIGTERM)
	}
	if err != nil {
		w.t.Error(err)
	}
	testkit.Eventually(w.t, func() bool { return !testkit.Alive(welcome.PID) }, "the background process ends")
}

func (w *walk) publish() {
	head := "# The first five minutes\n\n" +
		"Made by `make tour` from a real run: a fresh home directory, the real binary, real servers from npm, and a protected server with its authorization server on this machine. Below each command stands how long it took.\n\n"
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "first-five-minutes.md"), append([]byte(head), bytes.TrimRight(w.story.Bytes(), "\n")...), 0o600); err != nil {
		w.t.Fatal(err)
	}
}
