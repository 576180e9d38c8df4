package exchange

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"time"
)

// maxFront bounds the front matter of a file. An item with all that it may have needs
// a tenth of it.
const maxFront = 1 << 20

// Encode writes an item as a Markdown file: the front matter, a blank line, the
// content, and a line break that belongs to the file and not to the content.
func Encode(item Item) []byte { return encode("---\n", item.fields(), item.Content) }

// StateFile is where the state is exported to.
const StateFile = "current-state.md"

// EncodeState writes the state as a Markdown file.
func EncodeState(state State) []byte {
	return encode("---\n"+stateMark+": true\n", state.fields(), state.Content)
}

func encode(begin string, fields []field, text string) []byte {
	var b bytes.Buffer
	b.WriteString(begin)
	for _, f := range fields {
		if f.unset() || f.name == content {
			continue
		}
		b.WriteString(f.name + ":")
		switch value := f.value.(type) {
		case *int64:
			b.WriteString(" " + strconv.FormatInt(*value, 10))
		case *string:
			b.WriteString(" " + scalar(*value))
		case *time.Time:
			b.WriteString(" " + stamp(*value))
		case *[]string:
			for _, text := range *value {
				b.WriteString("\n  - " + scalar(text))
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("---\n")
	if text != "" {
		b.WriteString("\n" + text + "\n")
	}
	return b.Bytes()
}

// Decode reads a Markdown file, its own or that of another tool. The name is for
// messages, and for what the file does not say: without a type the item gets the name
// of the folder, if the name has one, without a title the first heading or else the
// name of the file. The front matter may be missing.
func Decode(name string, data []byte) (Record, error) {
	r := Record{Line: 1}
	at := place{name, 1}
	if bad := checkText(at, data); bad != nil {
		return r, bad
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	front, body, fenced := split(text)
	var stated map[string]bool
	if fenced {
		if len(front) > maxFront {
			return r, at.problem("the front matter is larger than 1 MiB, which no item needs")
		}
		var mapped bool
		var bad *Problem
		if stated, mapped, bad = r.readFront(name, front); bad != nil {
			return r, bad
		}
		if !mapped { // Two rulers with a text between them: no front matter at all.
			body = text
		}
	}
	if r.State != nil {
		r.State.Content = trim(body, text)
		return r, nil
	}
	r.Item.Content = trim(body, text)
	if !stated["title"] {
		r.Item.Title = titleOf(name, body)
	}
	if folder := path.Base(path.Dir(slashed(name))); !stated["type"] && folder != "." && folder != "/" {
		r.Item.Type = folder
	}
	return r, nil
}

// slashed is a file name with slashes, also one from Windows, and as text: on some
// systems names are any bytes.
func slashed(name string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(name, "\ufffd"), `\`, "/")
}

// split takes the front matter off a text: what stands between a first line of three
// hyphens and the next such line, or one of three dots. The body is what follows,
// without the blank line that Encode writes there.
func split(text string) (front, body string, fenced bool) {
	first, rest, more := strings.Cut(text, "\n")
	if !more || !isFence(first, "---") {
		return "", text, false
	}
	for from := 0; from < len(rest); {
		line, _, _ := strings.Cut(rest[from:], "\n")
		end := min(from+len(line)+1, len(rest))
		if isFence(line, "---") || isFence(line, "...") {
			body = rest[end:]
			if after, ok := strings.CutPrefix(body, ending(text)); ok {
				body = after
			}
			return rest[:from], body, true
		}
		from = end
	}
	return "", text, false // It is not closed, so the first line was a ruler.
}

func isFence(line, fence string) bool { return strings.TrimRight(line, " \t\r") == fence }

// ending is how the lines of a text end, judged by the first.
func ending(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// trim takes off the line break at the end of a file, of the file's own kind.
func trim(body, text string) string { return strings.TrimSuffix(body, ending(text)) }
