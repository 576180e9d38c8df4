package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// FuzzLoad: any bytes are either a complete configuration or an error that
// says where to look, soon, and without a panic.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(Example()))
	f.Add([]byte(uncommented(Example(), []string{"listen:"})))
	for _, seed := range []string{
		"", "{}", "[]", "null", "---\n", "a: &x [*x]\n", "<<: *a", "? a\n: b\n", "a: |\n  b\n", "a: >-\n b\n", "'", "\"", "\ufeff{}", "\xff\xfe{\x00",
		"{\"mcpServers\": {\"a\": {\"command\": \"${X}\"}}}", "mcpServers:\n  a: {url: 'http://x', headers: {A: b}}\n", "%YAML 1.2\n---\n", "- - - -", "{a: [b:1]}",
		"mcpServers:\r\n\ta: 1", "port: 0x1F", "port: 1e3", "port: .nan", "a:\n  b:\n c: d", "!!map {a: b}", "{\"a\":1,\"a\":2}",
		": ", "\"a\" : 'b'", "#\n# x\n", "a: b # c", "[a, [b, {c: d}]]", "{,}", "{a: }", "-\n-\n", "a: !", "...\n", "--- |\n x\n...\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		c, err := load(data, "genkan.yaml", Sources{Env: environ("X", canary)}, Flags{})
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%d bytes took %v", len(data), took)
		}
		if err == nil {
			for i := range c.Servers {
				if !gateway.IsServerName(c.Servers[i].Name) || (c.Servers[i].Command == "") == (c.Servers[i].URL == "") {
					t.Errorf("an impossible server: %v", c.Servers[i])
				}
			}
			if _, _, err := checkListen(c.Listen); err != nil {
				t.Errorf("an impossible listener: %s", c.Listen)
			}
			return
		}
		var e *gateway.Error
		if c != nil || !errors.As(err, &e) || e.Code != gateway.CodeInvalid || e.Text() == "" {
			t.Errorf("got %v, %v", c, err)
		}
		if strings.Contains(e.Text(), canary) {
			t.Errorf("an error shows a secret: %s", e.Text())
		}
	})
}

// The worst that a file can hold is read, or refused, in bounded time.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	// A quarter of what is allowed shows what grows faster than its text; the usual
	// size only shows what grows out of all bounds.
	size := maxFile / testkit.Count(256, 4)
	fill := func(prefix, unit string) string {
		return prefix + strings.Repeat(unit, (size-len(prefix))/len(unit))
	}
	// The parser's time grows with the square of the keys of a map; a larger file
	// has too many tokens and is refused before.
	var keys strings.Builder
	for i := 0; keys.Len() < testkit.Count(16, 96)<<10; i++ {
		keys.WriteString("k")
		keys.WriteString(strings.Repeat("x", i%7))
		keys.WriteString(": v\n")
	}
	for name, text := range map[string]string{
		"keys": keys.String(), "brackets": fill("a: ", "["), "braces": fill("", "{a: "), "dashes": fill("", "- "), "questions": fill("", "? "),
		"quotes": fill("a: ", "\""), "single quotes": fill("a: ", "'"), "open text": fill("a: \"", "x"), "block": fill("a: |\n", "  x\n"),
		"folded": fill("a: >\n", "  x\n\n"), "plain lines": fill("a:\n", "  x\n"), "spaces": fill("", " "), "comments": fill("", "#\n"),
		"documents": fill("", "---\n"), "anchors": fill("a: [", "&a x,"), "newlines": fill("", "\n"), "returns": fill("", "\r"), "tabs": fill("", "\t"),
		"JSON text": fill(`{"a": "`, "x") + `"}`, "JSON list": fill("[", "1,") + "1]",
		"JSON braces": fill("", `{"a":`), "colons": fill("", ":"), "escapes": fill("a: \"", `\u00e9`), "commas": fill("a: [", ","), "blocks": deepBlocks(testkit.Count(300, 2000)),
	} {
		t.Run(name, func(t *testing.T) {
			// Not in parallel: it judges by time.
			start := time.Now()
			_, _ = load([]byte(text), "genkan.yaml", Sources{}, Flags{})
			// Generous, for machines with other work under the race detector;
			// what it catches would take minutes.
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Logf("%d bytes, %v", len(text), took)
			}
		})
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "genkan.yaml")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if _, err := Load(link, true, Sources{}, Flags{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}
