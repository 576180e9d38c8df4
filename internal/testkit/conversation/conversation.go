// Package conversation plays MCP conversations that are written down as txtar
// files, and with -update writes down what came instead. It is the part of
// testkit that the protocol tests of the edges and upstreams are made of:
// reading such a file is reading the specification of what we do.
package conversation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"genkan/internal/testkit"
)

// patience is how long a message is waited for. It is long because machines
// are busy and because nobody waits for it but tests that fail.
const patience = 30 * time.Second

// Play plays a conversation that is written down in a txtar file. The
// comment on top says what it is about, the file talk is the conversation,
// and all other files (a config.yaml, say) are for connect. The lines of talk:
//
//	# says why
//	-> {"jsonrpc":"2.0", …}    is sent
//	<- {"jsonrpc":"2.0", …}    must be the next message; see match.go for what
//	                           an expectation may leave open
//	<~ {"jsonrpc":"2.0", …}    must be among the next messages: the order of
//	                           consecutive lines like this does not count
//	<- EOF                     the connection must end
//	== name                    from here on another client speaks, connected at
//	                           its first line; the first one has no name
//
// A line that begins with white space continues the one before. With -update,
// expectations that do not hold are replaced by what came.
func Play(t *testing.T, file string, connect func(t *testing.T, arc *txtar.Archive) testkit.Conn) {
	t.Helper()
	arc, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	talk := -1
	for i := range arc.Files {
		if arc.Files[i].Name == "talk" {
			talk = i
		}
	}
	if talk < 0 {
		t.Fatalf("%s has no file talk", file)
	}
	p := &play{t: t, file: file, arc: arc, connect: connect, conns: make(map[string]testkit.Conn), captures: make(captures)}
	updated := p.run(parseTalk(string(arc.Files[talk].Data)))
	if testkit.Updating() && p.changed {
		arc.Files[talk].Data = []byte(updated)
		if err := os.WriteFile(file, txtar.Format(arc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// talkLine is a line with those that continue it.
type talkLine struct {
	number int
	mark   string // ->, <-, <~, == or empty
	rest   string
	text   string // as it is in the file
}

func parseTalk(talk string) []talkLine {
	var lines []talkLine
	for i, text := range strings.Split(strings.TrimSuffix(talk, "\n"), "\n") {
		if last := len(lines) - 1; last >= 0 && lines[last].mark != "" &&
			text != "" && (text[0] == ' ' || text[0] == '\t') {
			lines[last].rest += "\n" + text
			lines[last].text += "\n" + text
			continue
		}
		line := talkLine{number: i + 1, text: text}
		if mark, rest, _ := strings.Cut(text, " "); mark == "->" || mark == "<-" || mark == "<~" || mark == "==" {
			line.mark, line.rest = mark, strings.TrimSpace(rest)
		}
		lines = append(lines, line)
	}
	return lines
}

// play is a conversation under way.
type play struct {
	t        *testing.T
	file     string
	arc      *txtar.Archive
	connect  func(t *testing.T, arc *txtar.Archive) testkit.Conn
	conns    map[string]testkit.Conn
	captures captures
	changed  bool
}

// run plays the lines and returns the talk as -update would have it.
func (p *play) run(lines []talkLine) string {
	p.t.Helper()
	var updated strings.Builder
	write := func(text string) { updated.WriteString(text + "\n") }
	speaker := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line.mark == "==":
			speaker = line.rest
			write(line.text)
		case line.mark == "->":
			if err := p.conn(speaker).Send(p.captures.fill([]byte(line.rest))); err != nil {
				p.fatal(line, "sending: %v", err)
			}
			write(line.text)
		case line.mark == "<-":
			write(p.expect(speaker, line))
		case line.mark == "<~":
			group := []talkLine{line}
			for i+1 < len(lines) && lines[i+1].mark == "<~" {
				i++
				group = append(group, lines[i])
			}
			for _, text := range p.expectAnyOrder(speaker, group) {
				write(text)
			}
		case line.text == "" || strings.HasPrefix(line.text, "#"):
			write(line.text)
		default:
			p.fatal(line, "a line begins with ->, <-, <~, == or #, not with %q", line.text)
		}
	}
	return updated.String()
}

func (p *play) conn(speaker string) testkit.Conn {
	p.t.Helper()
	if c, ok := p.conns[speaker]; ok {
		return c
	}
	c := p.connect(p.t, p.arc)
	p.conns[speaker] = c
	p.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			p.t.Errorf("closing the connection of %q: %v", speaker, err)
		}
	})
	return c
}

func (p *play) fatal(line talkLine, format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s: line %d of talk: %s", p.file, line.number, fmt.Sprintf(format, args...))
}

func (p *play) receive(speaker string, line talkLine) []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	got, err := p.conn(speaker).Receive(ctx)
	if errors.Is(err, io.EOF) {
		return []byte("EOF")
	}
	if err != nil {
		p.fatal(line, "waiting for\n%s\n%v", line.rest, err)
	}
	return got
}

func (p *play) expect(speaker string, line talkLine) string {
	p.t.Helper()
	got := p.receive(speaker, line)
	if matchJSON([]byte(line.rest), got, p.captures) {
		return line.text
	}
	return p.differs(line, got)
}

// differs reports a message that was not expected, or accepts it.
func (p *play) differs(line talkLine, got []byte) string {
	p.t.Helper()
	if !testkit.Updating() {
		p.fatal(line, "expected\n  %s\ngot\n  %s", line.rest, bytes.TrimSpace(got))
	}
	p.changed = true
	merged := mergeJSON([]byte(line.rest), got)
	matchJSON(merged, got, p.captures) // for what it captures
	return line.mark + " " + string(merged)
}

func (p *play) expectAnyOrder(speaker string, group []talkLine) []string {
	p.t.Helper()
	texts := make([]string, len(group))
	var unexpected [][]byte
	for range group {
		got := p.receive(speaker, group[0])
		found := false
		for i, line := range group {
			if found = texts[i] == "" && matchJSON([]byte(line.rest), got, p.captures); found {
				texts[i] = line.text
				break
			}
		}
		if !found {
			unexpected = append(unexpected, got)
		}
	}
	for i, line := range group {
		if texts[i] == "" {
			texts[i] = p.differs(line, unexpected[0])
			unexpected = unexpected[1:]
		}
	}
	return texts
}
