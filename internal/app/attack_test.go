package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// attacks are what hooks do that would end or stop a server that ran them itself. Each is
// made unless the caller says calm.
func attacks() map[string]string {
	return map[string]string{
		"loop":          `while (true) {}`,
		"lookahead":     `/^(?=.)(a+)+$/.test("a".repeat(40) + "!")`,
		"backreference": `/^(a+)+\1$/.test("a".repeat(40) + "!")`,
		"string":        `return 'x'.repeat(1 << 30).length`,
		"array":         `Array(2e8).fill(0)`,
		"sort":          `const a = []; for (let i = 0; i < 2e7; i++) a[i] = i ^ 0x55555; a.sort()`,
		"eval":          `const f = () => eval("f()"); f()`,
		"function":      `const f = () => new Function("f", "return f()")(f); f()`,
		"parse":         `JSON.parse("[".repeat(1e7))`,
		"parse again":   `const big = JSON.stringify(Array(5e4).fill("text")); for (;;) JSON.parse(big)`,
		"recursion":     `const f = () => 1 + f(); f()`,
		"promise":       `await new Promise(() => {})`,
		"files":         `require("fs").readFileSync("/etc/passwd")`,
		"environment":   `return process.env.HOME`,
		"network":       `await fetch("http://127.0.0.1:1/")`,
	}
}

// testAttacks has a workflow for each attack, and innocent calls with a hook of their own
// beside them. Every attack ends as a refusal, no innocent call fails, and the next call
// with the same hook works.
func testAttacks(t *testing.T, path string) {
	folder := t.TempDir()
	write := func(id, match, script string) {
		hook, err := json.Marshal(map[string]any{"hook": map[string]any{"script": script, "blocking": true}})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"id":%q,"name":%q,"workflowType":"tools/call","enabled":true,"match":%s,"limits":{"hookMs":300},
			"nodes":[{"id":"s","type":"start"},{"id":"h","type":"hook","data":%s},{"id":"c","type":"mcp-call"},{"id":"e","type":"end"}],
			"edges":[{"source":"s","target":"h"},{"source":"h","target":"c"},{"source":"c","target":"e"}]}`, id, id, match, hook)
		if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(id, " ", "-")+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range attacks() {
		id := strings.ReplaceAll(name, " ", "-")
		write(id, fmt.Sprintf(`{"tools":["one__echo"],"when":"request.params.arguments.text == '%s'"}`, id),
			`if (!context.request.params.arguments.calm) { globalThis.left = Object.prototype.left = "a trace"; `+script+` }
			else context.request.params.arguments.text = String(globalThis.left ?? ({}).left ?? "nothing is left")`)
	}
	write("innocent", `{"tools":["two__echo"]}`, `context.request.params.arguments.text += " and welcome"`)
	config := servers(conf{"one": child(t), "two": child(t)})
	config["workflows"] = folder
	p := startProcess(t, path, config)
	p.waitReady("one", "two")

	stop := make(chan struct{})
	var beside sync.WaitGroup
	var mu sync.Mutex
	var times []time.Duration
	for range 2 {
		beside.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				if text, err := p.call("two__echo", `{"text":"hello"}`); err != nil || text != "hello and welcome" {
					t.Errorf("an innocent call: %s, %v", text, err)
					return
				}
				mu.Lock()
				times = append(times, time.Since(began))
				mu.Unlock()
			}
		})
	}
	for name := range attacks() {
		id := strings.ReplaceAll(name, " ", "-")
		began := time.Now()
		text, err := p.call("one__echo", fmt.Sprintf(`{"text":%q}`, id))
		t.Logf("%-14s %4d ms: %.140s", name, time.Since(began).Milliseconds(), fmt.Sprint(err))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("workflow %q failed at its node \"Script (h)\", so this call was refused and not sent", id)) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if text, err := p.call("one__echo", fmt.Sprintf(`{"text":%q,"calm":true}`, id)); err != nil || text != "nothing is left" {
			t.Errorf("the next call after %s: %s, %v", name, text, err)
		}
	}
	close(stop)
	beside.Wait()
	slices.Sort(times)
	if len(times) == 0 {
		t.Fatal("no innocent call was answered")
	}
	t.Logf("%d innocent calls beside them, p50 %v, p99 %v", len(times), times[len(times)/2], times[len(times)*99/100])
	testkit.Eventually(t, func() bool {
		status, text := p.request("GET", "/health", "", nil)
		return status == 200 && strings.Contains(text, "ok")
	}, "genkan is well")
}
