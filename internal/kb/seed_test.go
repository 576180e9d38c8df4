package kb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/lang"
)

// TestSeed holds the tools against testdata/seed.txt, the design document as a table.
func TestSeed(t *testing.T) {
	file, err := os.ReadFile("testdata/seed.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := &seed{T: t, japanese: map[string]definition{}}
	b := newBase(t)
	s.english = kb.NewTools(b.Base, kb.Languages{})
	for _, tool := range kb.NewTools(b.Base, inLanguage(lang.Japanese)).List(gateway.KindTool) {
		var d definition
		if err := json.Unmarshal(tool.Definition, &d); err != nil {
			t.Fatal(err)
		}
		s.japanese[tool.Name] = d
	}
	tools, requirements := 0, 0
	for line := range strings.Lines(string(file)) {
		s.line++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "departs: ") {
			continue
		}
		requirements++
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "tool":
			tools++
			s.finish()
			s.begin(rest)
		case "call":
			s.call(rest)
		case "fail":
			s.fail(rest)
		default:
			s.argument(strings.TrimPrefix(line, "+ "))
		}
	}
	s.finish()
	if tools != 16 || requirements < 130 {
		t.Errorf("%d tools with %d requirements were read", tools, requirements)
	}
}

type definition struct {
	Description string
	InputSchema struct {
		Properties map[string]struct {
			Type, Description, Format string
			Enum                      []string
			Items                     struct{ Type string }
		}
		Required []string
	}
}

// seed reads the table. Tool is the tool of the last line that begins one, and listed are
// its arguments so far.
type seed struct {
	*testing.T
	english  *kb.Tools
	japanese map[string]definition
	line     int
	tool     string
	listed   []string
}

func (s *seed) wrong(format string, values ...any) {
	s.Helper()
	s.Errorf("seed.txt:%d: %s: %s", s.line, s.tool, fmt.Sprintf(format, values...))
}

func (s *seed) begin(rest string) {
	name, description, _ := strings.Cut(rest, " = ")
	s.tool, s.listed = name, nil
	if d, ok := s.japanese[name]; !ok || !strings.HasPrefix(d.Description, description) {
		s.wrong("it is described as %q", d.Description)
	}
}

// finish finds arguments that the table does not have.
func (s *seed) finish() {
	for name := range s.japanese[s.tool].InputSchema.Properties {
		if !slices.Contains(s.listed, name) {
			s.wrong("argument %s is not in the table", name)
		}
	}
}

func (s *seed) argument(line string) {
	facts := strings.Fields(line)
	name, required := strings.CutSuffix(facts[0], "*")
	s.listed = append(s.listed, name)
	schema := s.japanese[s.tool].InputSchema
	p, ok := schema.Properties[name]
	if !ok || p.Type != facts[1] || slices.Contains(schema.Required, name) != required {
		s.wrong("argument %s is %+v, required %v", name, p, schema.Required)
	}
	if p.Type == "array" && name != "updates" && p.Items.Type != "string" {
		s.wrong("argument %s has items of type %q", name, p.Items.Type)
	}
	for _, fact := range facts[2:] {
		key, value, _ := strings.Cut(fact, "=")
		switch key {
		case "format":
			ok = p.Format == value
		case "enum":
			ok = slices.Equal(p.Enum, strings.Split(value, ","))
		case "default":
			ok = strings.Contains(p.Description, "デフォルト: "+value) || strings.Contains(p.Description, value)
		case "max":
			ok = strings.Contains(p.Description, "最大: "+value)
			s.bounded(name, value)
		default:
			ok = false
		}
		if !ok {
			s.wrong("argument %s has not %s: %+v", name, fact, p)
		}
	}
}

// bounded: the maximum is accepted, and one more is refused.
func (s *seed) bounded(name, value string) {
	most, err := strconv.Atoi(value)
	if err != nil {
		s.Fatal(err)
	}
	for n, refused := range map[int]bool{most: false, most + 1: true, 0: true} {
		answer := s.ask(fmt.Sprintf(`{"type":"docs","id":1,"query":"q","from_type":"docs","from_id":1,"to_type":"docs","to_id":1,%q:%d}`, name, n), true)
		if (lookup(answer, "data.details.field") == any(name)) != refused {
			s.wrong("%s %d: %s", name, n, answer)
		}
	}
}

// ask calls the tool. Only leaves out the arguments that it does not have.
func (s *seed) ask(arguments string, only bool) []byte {
	var values map[string]any
	arguments = regexp.MustCompile(`\$\d+`).ReplaceAllStringFunc(arguments, func(text string) string {
		n, _ := strconv.Atoi(text[1:])
		return strings.Repeat("字", n)
	})
	if err := json.Unmarshal([]byte(arguments), &values); err != nil {
		s.Fatalf("seed.txt:%d: %v", s.line, err)
	}
	for name := range values {
		if _, ok := s.japanese[s.tool].InputSchema.Properties[name]; only && !ok {
			delete(values, name)
		}
	}
	raw, _ := json.Marshal(values)
	answer, err := call(s.Context(), s.english, fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, s.tool, raw))
	if err != nil {
		s.Fatalf("seed.txt:%d: %v", s.line, err)
	}
	return answer
}

func (s *seed) call(rest string) {
	arguments, wants, _ := strings.Cut(rest, " : ")
	s.expect(s.ask(arguments, false), "", wants)
}

func (s *seed) fail(rest string) {
	words := strings.SplitN(rest, " ", 3)
	message, rest, _ := strings.Cut(strings.TrimPrefix(words[2], `"`), `" `)
	arguments, wants, _ := strings.Cut(rest, " : ")
	answer := s.ask(arguments, false)
	said, _ := lookup(answer, "message").(string)
	at, _ := lookup(answer, "data.timestamp").(string)
	if fmt.Sprint(lookup(answer, "code")) != words[0] || lookup(answer, "data.type") != any(words[1]) || !strings.HasPrefix(said, message) {
		s.wrong("%s", answer)
	}
	if _, err := time.Parse(time.RFC3339, at); err != nil {
		s.wrong("the time is %q", at)
	}
	s.expect(answer, "data.details.", wants)
}

func (s *seed) expect(answer []byte, prefix, wants string) {
	for wants != "" {
		path, rest, _ := strings.Cut(wants, "=")
		if after, absent := strings.CutPrefix(rest, "-"); absent && (after == "" || after[0] == ' ') {
			if got := lookup(answer, prefix+path); got != nil {
				s.wrong("%s is %v", path, got)
			}
			wants = strings.TrimSpace(after)
			continue
		}
		d := json.NewDecoder(strings.NewReader(rest))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			s.Fatalf("seed.txt:%d: %q: %v", s.line, rest, err)
		}
		got, _ := json.Marshal(lookup(answer, prefix+path))
		if wanted, _ := json.Marshal(want); !bytes.Equal(got, wanted) {
			s.wrong("%s is %s, want %s in %.500s", path, got, wanted, answer)
		}
		wants = strings.TrimSpace(rest[d.InputOffset():])
	}
}

// lookup returns a value of a JSON text; nil if it is not there.
func lookup(raw []byte, path string) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var at any
	if d.Decode(&at) != nil {
		return nil
	}
	for key := range strings.SplitSeq(path, ".") {
		switch in := at.(type) {
		case map[string]any:
			at = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				return nil
			}
			at = in[i]
		default:
			return nil
		}
	}
	return at
}
