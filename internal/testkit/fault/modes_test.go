package fault_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"genkan/internal/testkit"
	"genkan/internal/testkit/fault"
)

func terminate(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownModesAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-mode", "hang,nosuch"}, {"-era", "x"}, {"-transport", "x"}, {"-child", "x"}, {"stray"}} {
		if code := fault.Main(args, strings.NewReader(""), io.Discard, io.Discard); code != 2 {
			t.Errorf("%q: exit code %d, want 2", args, code)
		}
	}
}

func TestMainInProcess(t *testing.T) {
	var out strings.Builder
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta + `,"name":"echo","arguments":{"text":"x"}}}`)
	if code := fault.Main(nil, in, &out, io.Discard); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := parse(t, out.String()).text(); got != "x" {
		t.Errorf("answered %s", out.String())
	}
}

func TestHang(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	everyTalker(t, []string{"-mode", "hang", "-record", record}, func(t *testing.T, c *talker) {
		id := os.Getpid() + len(t.Name()) // any id that no other subtest uses
		if c.modern {
			id += 1000
		}
		c.call(id, "echo", `{"text":"x"}`)
		c.alive(2)
		testkit.Eventually(t, func() bool {
			return slices.ContainsFunc(testkit.Lines(t, record), func(line string) bool {
				return strings.Contains(line, fmt.Sprintf(`"id":%d,"method":"tools/call"`, id))
			})
		}, "the call has arrived")
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		testkit.Eventually(t, func() bool {
			return slices.Contains(testkit.Lines(t, record), fmt.Sprintf("cancelled %d", id))
		}, "the cancellation is noticed")
	})
}

func TestStall(t *testing.T) {
	c := talk(t, "stdio", "legacy", "-mode", "stall")
	c.call(1, "echo", `{"text":"x"}`)
	if got := parse(t, c.receive()); got.text() != "x" {
		t.Errorf("echo was answered with %v", got)
	}
	c.call(2, "echo", `{"text":"stall"}`)
	c.request(3, "ping", "")
	c.send(`{"jsonrpc":"2.0"}`) // not a request, so it is answered whatever the mode
	if got := parse(t, c.receive()); len(got.ID) > 0 && string(got.ID) != "null" {
		t.Errorf("got %v", got)
	}
}

func TestHangListAndInit(t *testing.T) {
	everyTalker(t, []string{"-mode", "hang-list"}, func(t *testing.T, c *talker) {
		c.request(1, "tools/list", "")
		c.call(2, "echo", `{"text":"x"}`)
		if got := parse(t, c.receive()); got.text() != "x" {
			t.Errorf("echo was answered with %v", got)
		}
	})
	c := talk(t, "stdio", "modern", "-mode", "hang-init")
	c.request(1, "server/discover", "")
	c.send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	c.alive(3)
}

func TestAnswersInStrangeShapes(t *testing.T) {
	size := testkit.Count(300_001, 3_000_001) // more than pipes and readers hold
	for _, test := range []struct {
		mode  string
		check func(t *testing.T, c *talker, line string)
	}{
		{"malformed", func(t *testing.T, _ *talker, line string) {
			if json.Valid([]byte(line)) || !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":1,`) {
				t.Errorf("got %s", line)
			}
		}},
		{"not-utf8", func(t *testing.T, _ *talker, line string) {
			if utf8.ValidString(line) && !strings.ContainsRune(line, utf8.RuneError) || !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":1,`) {
				t.Errorf("got %q", line)
			}
		}},
		{"dup-keys", func(t *testing.T, _ *talker, line string) {
			if strings.Count(line, `"result":`) != 2 || !json.Valid([]byte(line)) {
				t.Errorf("got %s", line)
			}
		}},
		{"deep", func(t *testing.T, _ *talker, line string) {
			if strings.Count(line, "[") < 100_000 {
				t.Errorf("got %.100s", line)
			}
		}},
		{"wrong-id", func(t *testing.T, _ *talker, line string) {
			if got := parse(t, line); string(got.ID) != `"nobody-asked-with-this-id"` || got.text() != "x" {
				t.Errorf("got %s", line)
			}
		}},
		{"double-answer", func(t *testing.T, c *talker, line string) {
			if again := c.receive(); line != again || parse(t, line).text() != "x" {
				t.Errorf("got %s and %s", line, again)
			}
		}},
		{"drip", func(t *testing.T, _ *talker, line string) {
			if parse(t, line).text() != "x" {
				t.Errorf("got %s", line)
			}
		}},
		{"huge", func(t *testing.T, _ *talker, line string) {
			if got := len(parse(t, line).text()); got != size {
				t.Errorf("got %d bytes of text", got)
			}
		}},
		{"stderr-flood", func(t *testing.T, _ *talker, line string) {
			if parse(t, line).text() != "x" {
				t.Errorf("got %s", line)
			}
		}},
		{"slow", func(t *testing.T, _ *talker, line string) {
			if parse(t, line).text() != "x" {
				t.Errorf("got %s", line)
			}
		}},
	} {
		t.Run(test.mode, func(t *testing.T) {
			everyTalker(t, []string{"-mode", test.mode, "-size", strconv.Itoa(size), "-delay", "100us"}, func(t *testing.T, c *talker) {
				c.call(1, "echo", `{"text":"x"}`)
				test.check(t, c, c.receive())
				c.alive(2)
			})
		})
	}
}

func TestNoise(t *testing.T) {
	c := talk(t, "stdio", "legacy", "-mode", "noise")
	c.call(1, "echo", `{"text":"x"}`)
	noise := 0
	for {
		line := c.receive()
		if strings.Contains(line, `"id":1`) {
			break
		}
		noise++
	}
	if noise < 2 {
		t.Errorf("%d lines of noise came before the answer", noise)
	}
}

func TestChangeToolsMode(t *testing.T) {
	everyTalker(t, []string{"-mode", "change-tools"}, func(t *testing.T, c *talker) {
		if c.modern {
			c.request(9, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
			c.receive()
		}
		for i := 1; i <= 3; i++ {
			c.call(i, "echo", `{"text":"x"}`)
			both := c.receive() + c.receive()
			if !strings.Contains(both, "notifications/tools/list_changed") || !strings.Contains(both, fmt.Sprintf(`"id":%d,`, i)) {
				t.Errorf("call %d was followed by %s", i, both)
			}
			c.request(10+i, "tools/list", "")
			if list := c.receive(); !strings.Contains(list, fmt.Sprintf(`"changed_%d"`, i)) || strings.Contains(list, fmt.Sprintf(`"changed_%d"`, i-1)) {
				t.Errorf("call %d left the list %s", i, list)
			}
		}
	})
}

func TestElicitMode(t *testing.T) {
	url := testkit.StartFaultHTTP(t, "-mode", "elicit")
	body := strings.Replace(modernCall("echo", `{"text":"x"}`), `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	headers := modernHeaders("tools/call", "echo")
	_, _, first := post(t, url, body, headers...)
	var asked struct {
		Result struct{ ResultType, RequestState string }
	}
	if err := json.Unmarshal([]byte(first), &asked); err != nil || asked.Result.ResultType != "input_required" {
		t.Fatalf("the call was answered with %s", first)
	}
	retry := func(state string) string {
		_, _, body := post(t, url, strings.Replace(body, `"arguments"`,
			`"requestState":"`+state+`","inputResponses":{"name":{"action":"accept","content":{"name":"Hana"}}},"arguments"`, 1), headers...)
		return body
	}
	if got := parse(t, retry(asked.Result.RequestState)).text(); got != "x" {
		t.Errorf("the retry was answered with %s", got)
	}
	if got := parse(t, retry("forged")).Error.Code; got != -32602 {
		t.Errorf("a forged state was answered with %d", got)
	}
}

func TestCounterSurvivesCrashes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counter")
	for want := 1; want <= 3; want++ {
		c := talk(t, "stdio", "modern", "-counter", file)
		c.call(1, "count", `{}`)
		if got := parse(t, c.receive()).text(); got != strconv.Itoa(want) {
			t.Errorf("count returned %s, want %d", got, want)
		}
		c.call(2, "crash", `{}`)
		if _, err := c.Receive(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("after a crash came %v", err)
		}
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "3\n" {
		t.Errorf("the file says %q, %v", content, err)
	}
}

func TestCrashes(t *testing.T) {
	exitCode := func(cmd *exec.Cmd) int {
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 0
	}
	loop := command(t, "-mode", "crash-loop")
	var said strings.Builder
	loop.Stderr = &said
	if code := exitCode(loop); code != 3 || said.Len() == 0 {
		t.Errorf("crash-loop exits with %d and says %q", code, said.String())
	}

	after := command(t, "-crash-after", "2")
	echo := modernCall("echo", `{"text":"x"}`)
	input, output := io.Pipe()
	after.Stdin = input
	var answers strings.Builder
	after.Stdout = &answers
	go func() {
		for i := range 3 { // the third finds nobody, which ends the pipe
			_, _ = fmt.Fprintln(output, strings.Replace(echo, `"id":1`, fmt.Sprintf(`"id":%d`, i), 1))
		}
		_ = output.Close()
	}()
	if code := exitCode(after); code != 3 || strings.Count(answers.String(), "\n") < 2 {
		t.Errorf("-crash-after exits with %d after %s", code, answers.String())
	}
	_ = input.Close()
}

func TestSlowStart(t *testing.T) {
	begin := time.Now()
	c := talk(t, "stdio", "modern", "-mode", "slow-start", "-delay", "200ms")
	c.alive(1)
	if took := time.Since(begin); took < 200*time.Millisecond {
		t.Errorf("the first answer took %v", took)
	}
}

func TestDeaf(t *testing.T) {
	cmd := command(t, "-mode", "deaf")
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = ours
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = ours.Close()
	defer func() {
		_ = theirs.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	// A pipe holds 64 KiB; only a reader makes room for more.
	_ = theirs.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	n, err := theirs.Write(make([]byte, 1<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the server took %d bytes: %v", n, err)
	}
}

func TestIgnoreTerm(t *testing.T) {
	f := testkit.NewFaultHTTP(t, "-mode", "ignore-term")
	terminate(t, f.Pid())
	if _, _, body := post(t, f.URL(), modernCall("echo", `{"text":"x"}`), modernHeaders("tools/call", "echo")...); parse(t, body).text() != "x" {
		t.Errorf("after SIGTERM came %s", body)
	}

	pids := filepath.Join(t.TempDir(), "pids")
	c := talk(t, "stdio", "legacy", "-mode", "ignore-term", "-pidfile", pids)
	pid := testkit.Pids(t, pids)[0]
	terminate(t, pid)
	c.call(1, "echo", `{"text":"x"}`)
	if got := parse(t, c.receive()).text(); got != "x" {
		t.Errorf("after SIGTERM came %s", got)
	}
	// Close takes its input away, waits, and must then kill it.
	begin := time.Now()
	_ = c.Close()
	if took := time.Since(begin); took < time.Second {
		t.Errorf("the server was gone after %v without being killed", took)
	}
	if testkit.Alive(pid) {
		t.Error("the server survived even that")
	}
}

func TestTree(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	command, argv, env := testkit.FaultCommand(t, "-mode", "tree", "-pidfile", pids)
	c := &talker{Conn: testkit.StartStdio(t, command, argv, env), t: t, modern: true}
	c.call(1, "pid", `{}`)
	server, err := strconv.Atoi(parse(t, c.receive()).text())
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 3 }, "shell, server and sleeper have started")
	all := testkit.Pids(t, pids)
	t.Cleanup(func() { killAll(all) })
	if server == all[0] || !slices.Contains(all, server) {
		t.Errorf("the server is %d among %v", server, all)
	}
	_ = c.Close()
	testkit.Eventually(t, func() bool { return !testkit.Alive(all[0]) && !testkit.Alive(server) }, "shell and server have ended")
	sleeper := slices.DeleteFunc(slices.Clone(all[1:]), func(pid int) bool { return pid == server })[0]
	if !testkit.Alive(sleeper) {
		t.Error("the sleeper ended with the server")
	}
}

func TestDaemonChild(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	c := talk(t, "stdio", "legacy", "-mode", "daemon-child", "-pidfile", pids)
	testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 2 }, "server and child have started")
	all := testkit.Pids(t, pids)
	t.Cleanup(func() { killAll(all) })
	terminate(t, all[0])
	testkit.Eventually(t, func() bool { return !testkit.Alive(all[0]) }, "the server has ended")
	if !testkit.Alive(all[1]) {
		t.Error("the child ended with the server")
	}
	killAll(all[1:])
	_ = c.Close()
}

// killAll ends processes that this test has started.
func killAll(pids []int) {
	for _, pid := range pids {
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill()
		}
	}
}

func TestBrokenHTTP(t *testing.T) {
	echo, headers := modernCall("echo", `{"text":"x"}`), modernHeaders("tools/call", "echo")
	t.Run("reset", func(t *testing.T) {
		for _, args := range [][]string{{"-mode", "reset"}, {"-mode", "reset", "-sse"}} {
			c := &talker{Conn: testkit.NewHTTPConn(testkit.StartFaultHTTP(t, args...), "", nil), t: t, modern: true}
			c.call(1, "echo", `{"text":"x"}`)
			if got := c.receive(); !strings.HasPrefix(got, `{"http":`) {
				t.Errorf("%q: got %s", args, got)
			}
			c.alive(2)
			_ = c.Close()
		}
	})
	t.Run("gzip-bomb", func(t *testing.T) {
		size := testkit.Count(1_000_000, 10_000_000)
		url := testkit.StartFaultHTTP(t, "-mode", "gzip-bomb", "-size", strconv.Itoa(size))
		_, header, body := post(t, url, echo, headers...)
		if header.Get("Content-Encoding") != "gzip" || len(body) > size/100 {
			t.Errorf("%d bytes came as %q", len(body), header.Get("Content-Encoding"))
		}
		unpacked, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(unpacked)
		if err != nil || len(parse(t, string(content)).text()) != size {
			t.Errorf("%d bytes were in it: %v", len(content), err)
		}
	})
	t.Run("endless-sse", func(t *testing.T) {
		url := testkit.StartFaultHTTP(t, "-mode", "endless-sse")
		_, header, stream := do(t, "POST", url, echo, headers...)
		if header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("got %v", header)
		}
		lines, events := bufio.NewScanner(stream), 0
		for events < 1000 && lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: ") {
				events++
			}
		}
		if events < 1000 {
			t.Errorf("the stream ended after %d events: %v", events, lines.Err())
		}
	})
	t.Run("endless-event", func(t *testing.T) {
		url := testkit.StartFaultHTTP(t, "-mode", "endless-event")
		_, _, stream := do(t, "POST", url, echo, headers...)
		content := make([]byte, testkit.Count(1<<20, 10<<20))
		if _, err := io.ReadFull(stream, content); err != nil {
			t.Fatal(err)
		}
		if data := string(content); strings.Count(data, "data: ") != 1 {
			t.Errorf("%d data lines in %d bytes", strings.Count(data, "data: "), len(data))
		}
	})
	t.Run("deaf", func(t *testing.T) {
		f := testkit.NewFaultHTTP(t, "-mode", "deaf")
		c := &talker{Conn: testkit.NewHTTPConn(f.URL(), "", nil), t: t, modern: true}
		c.request(1, "tools/list", "")
		f.Stop()
		if got := c.receive(); !strings.HasPrefix(got, `{"http":0`) {
			t.Errorf("got %s", got)
		}
		_ = c.Close()
	})
}
