package exchange

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"time"
)

// maxFront limits the front matter of a file. The largest item needs a tenth of it.
const maxFront = 1 << 20

// Encode encodes an item as a Markdown file: the front matter, a blank line, the
// content, and a line break that belongs to the file and not to the content.
func Encode(item Item) []byte { return encode("---\n", item.fields(), item.Content) }

// StateFile is the name of the exported state.
const StateFile = "current-state.md"

// EncodeState encodes the state as a Markdown file.
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

// Decode decodes a Markdown file that Encode or another tool wrote. The name is used in
// messages and for missing fields. An item without a type gets the name of the folder,
// if the name has one. An item without a title gets the first heading, or else the name
// of the file. The front matter is optional.
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
		if !mapped { // Two rulers with a text between them are no front matter.
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

// slashed returns a file name with slashes, also for a name from Windows, and as valid
// UTF-8: some systems allow any bytes in names.
func slashed(name string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(name, "\ufffd"), `\`, "/")
}

// split separates the front matter from a text. Front matter is the text between a
// first line of three hyphens and the next such line, or a line of three dots. The body
// is the text after it, without the blank line that Encode writes.
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
	return "", text, false // It is not closed, so the first line is a ruler.
}

func isFence(line, fence string) bool { return strings.TrimRight(line, " \t\r") == fence }

// ending returns the line ending of the first line of a text.
func ending(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// trim removes the line break at the end of a file, in the file's own line ending.
func trim(body, text string) string { return strings.TrimSuffix(body, ending(text)) }
