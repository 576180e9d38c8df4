package clients

import (
	"strings"
)

// variableForms are notations of variables that only some clients know.
type variableForms uint8

const (
	// shellForm is $VAR.
	shellForm variableForms = 1 << iota
	// braceForm is {env:VAR}.
	braceForm
	// secretsForm is ${{ secrets.VAR }}.
	secretsForm
)

//nolint:gochecknoglobals // compiled once
var (
	variableName = lazily(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)
	shellName    = lazily(`^\$[A-Za-z_][A-Za-z0-9_]*`)
	braceName    = lazily(`^\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	secretName   = lazily(`^\$\{\{\s*(?:secrets|inputs)\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)
	inputName    = lazily(`^(?:prompt)?[iI]nput:(.+)$`)
)

// workspaceFolder is the variable that clients and genkan share.
const workspaceFolder = "${workspaceFolder}"

// translated is a text with genkan's variables, and the variables found in it.
type translated struct {
	text string
	// variables are the variables that the text needs; inputs are the ids of its
	// inputs.
	variables []string
	inputs    []string
	// unknown are forms without a meaning in genkan; they stay as plain text.
	unknown []string
}

// translate converts the variables of a client into genkan's. Everything that looks
// like a variable is converted, even if the client would not replace it, because
// nobody wants a key to be the text ${KEY}.
func (f File) translate(s string) translated {
	var t translated
	var b strings.Builder
	forms := f.dialect.variables
	for s != "" {
		at := strings.IndexAny(s, "${")
		if at < 0 {
			break
		}
		b.WriteString(s[:at])
		s = s[at:]
		switch {
		case forms&secretsForm != 0 && secretName().MatchString(s):
			m := secretName().FindStringSubmatch(s)
			t.variables = append(t.variables, m[1])
			b.WriteString("${" + m[1] + "}")
			s = s[len(m[0]):]
		case strings.HasPrefix(s, "${"):
			inner, rest, closed := strings.Cut(s[2:], "}")
			if !closed {
				b.WriteString("$${")
				s = s[2:]
				continue
			}
			b.WriteString(f.reference(inner, &t))
			s = rest
		case forms&shellForm != 0 && shellName().MatchString(s):
			name := shellName().FindString(s)
			t.variables = append(t.variables, name[1:])
			b.WriteString("${" + name[1:] + "}")
			s = s[len(name):]
		case forms&braceForm != 0 && braceName().MatchString(s):
			m := braceName().FindStringSubmatch(s)
			t.variables = append(t.variables, m[1])
			b.WriteString("${" + m[1] + "}")
			s = s[len(m[0]):]
		default:
			if forms&braceForm != 0 && strings.HasPrefix(s, "{file:") {
				t.unknown = append(t.unknown, "{file:…}")
			}
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	b.WriteString(s)
	t.text = b.String()
	return t
}

// reference returns the replacement of ${inner}.
func (f File) reference(inner string, t *translated) string {
	name, fallback, hasDefault := strings.Cut(inner, ":-")
	bare := strings.TrimPrefix(name, "env:")
	if m := inputName().FindStringSubmatch(inner); m != nil {
		t.inputs = append(t.inputs, m[1])
		return "${" + inputVariable(m[1]) + "}"
	}
	switch inner {
	case "workspaceFolder", "workspaceRoot", "cwd":
		return workspaceFolder
	case "userHome":
		return f.home
	case "workspaceFolderBasename":
		if f.Folder != "" {
			return f.Folder[strings.LastIndexAny(f.Folder, `/\`)+1:]
		}
		t.unknown = append(t.unknown, "${"+inner+"}")
		return "$${" + inner + "}"
	case "pathSeparator", "/":
		if f.windows {
			return `\`
		}
		return "/"
	}
	if !variableName().MatchString(bare) {
		kind, _, _ := strings.Cut(inner, ":")
		if !variableName().MatchString(kind) {
			kind = ""
		}
		t.unknown = append(t.unknown, "${"+kind+"…}")
		return "$${" + inner + "}"
	}
	if !hasDefault {
		t.variables = append(t.variables, bare)
		return "${" + inner + "}"
	}
	return "${" + name + ":-" + fallback + "}"
}

// inputVariable returns the variable of an input.
func inputVariable(id string) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(id) {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	name := b.String()
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "INPUT_" + name
	}
	return name
}
