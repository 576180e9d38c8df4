package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Answers that are too large for an agent come as outlines. These steps read them
// again, part by part, and compare what they read with the file.

// largeAnswers is what is behind genkan then.
const largeAnswers = "filesystem with large files"

// largeLimit is how long reading a large file may take.
const largeLimit = 5 * time.Minute

// largeFile is a file that is too large for an agent.
type largeFile struct {
	step, name string
	content    func() []byte
}

func largeFiles() []largeFile {
	return []largeFile{
		{"a text of 10 MB", "long.txt", func() []byte {
			var b bytes.Buffer
			for i := 0; b.Len() < 10<<20; i++ {
				fmt.Fprintf(&b, "%d: the quick brown fox jumps over the lazy dog, 玄関は開いている。\n", i)
			}
			return b.Bytes()
		}},
		{"100,000 rows of JSON", "rows.json", func() []byte {
			b := []byte("[")
			for i := range 100_000 {
				b = fmt.Appendf(b, `{"id":%d,"name":"customer %d","city":"京都"},`, i, i)
			}
			b[len(b)-1] = ']'
			return b
		}},
		{"a text on one line", "line.txt", func() []byte { return []byte(strings.Repeat("lorem ipsum \\ \" dolor ", 20_000)) }},
	}
}

// picture is the content of an image that passes whole.
func picture() []byte {
	random := rand.NewChaCha8([32]byte{})
	b := append(make([]byte, 0, 40<<10), "\x89PNG\r\n\x1a\n"...)
	b = b[:cap(b)]
	_, _ = random.Read(b[8:])
	return b
}

// visitLarge has the clients read large files over HTTP. A client that starts anew for
// every question would take minutes.
func (l *lab) visitLarge(r peersReport, chosen []guest) (peersReport, error) {
	defer l.stopAll()
	var steps []step
	for _, f := range largeFiles() {
		content := f.content()
		path := filepath.Join(l.servedFolder(), f.name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return r, err
		}
		steps = append(steps, step{f.step, func(_ context.Context, v *visit) error {
			ctx, cancel := context.WithTimeout(l.ctx, largeLimit) // hundreds of calls
			defer cancel()
			return v.readLarge(ctx, path, content)
		}})
	}
	path := filepath.Join(l.servedFolder(), "picture.png")
	if err := os.WriteFile(path, picture(), 0o600); err != nil {
		return r, err
	}
	steps = append(steps, step{"an image", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "read_media_file", map[string]any{"path": path}, base64.StdEncoding.EncodeToString(picture()))
	}})
	d, err := l.openDoor("large", map[string]server{filesystem: {Command: l.node.binary, Args: []string{l.serverScript(filesystem), l.servedFolder()}}})
	if err != nil {
		return r, err
	}
	if err := d.untilReady(l.ctx); err != nil {
		return r, err
	}
	for _, c := range chosen {
		if c.startsAnew {
			continue
		}
		for _, era := range c.eras {
			r = append(r, l.visitWith(c, era, overHTTP, largeAnswers, steps, target{URL: d.url(), Token: d.token}))
		}
	}
	return r, l.ctx.Err()
}

// mostOfAnswer is how many bytes an answer of 25,000 tokens has at most, texts and what
// JSON adds to them.
const mostOfAnswer = 400 << 10

var nextRead = regexp.MustCompile(`Next: read_result\(id: "([a-z0-9]+)"(?:, pointer: "([^"]*)")?`)

// readLarge reads a file through its outline, and compares it.
func (v *visit) readLarge(ctx context.Context, path string, want []byte) error {
	texts, err := v.texts(ctx, "read_text_file", map[string]any{"path": path})
	if err != nil {
		return err
	}
	next := nextRead.FindStringSubmatch(strings.Join(texts, "\n"))
	if next == nil {
		return fmt.Errorf("there is no outline: %.300s", strings.Join(texts, "\n"))
	}
	arguments := map[string]any{"id": next[1], "unit": "bytes"}
	if next[2] != "" {
		arguments["pointer"] = next[2]
	}
	var got []byte
	for len(got) < len(want) {
		arguments["offset"] = len(got)
		texts, err := v.texts(ctx, "read_result", arguments)
		if err != nil {
			return err
		}
		if len(texts[0]) == 0 {
			return errors.New("read_result answers nothing")
		}
		got = append(got, texts[0]...)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("the parts make %d bytes that differ from the %d of the file", len(got), len(want))
	}
	return nil
}

// texts calls a tool and returns the texts of its result.
func (v *visit) texts(ctx context.Context, tool string, arguments map[string]any) ([]string, error) {
	name, err := v.tool(ctx, tool)
	if err != nil {
		return nil, err
	}
	raw, err := v.peer.do(ctx, "tools/call", map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return nil, err
	}
	if len(raw) > mostOfAnswer {
		return nil, fmt.Errorf("%s answers with %d bytes", tool, len(raw))
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	var texts []string
	for _, item := range result.Content {
		texts = append(texts, item.Text)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s answers without content: %.300s", tool, raw)
	}
	return texts, nil
}
