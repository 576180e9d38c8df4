package clients

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"

	"genkan/internal/gateway"
)

// maxEnvFile bounds the size of an envFile, in bytes.
const maxEnvFile = 256 << 10

// readEnvFiles adds the variables of the servers' envFiles to their environment,
// and adds notes about the result.
func (m *Imported) readEnvFiles() {
	for i := range m.Servers {
		s := &m.Servers[i]
		if s.EnvFile == "" {
			continue
		}
		for _, text := range s.readEnvFile() {
			m.Notes = append(m.Notes, Note{Server: s.OriginalName, Section: s.Section, Text: text})
		}
	}
}

// readEnvFile adds the variables of the server's envFile. A variable of the entry
// itself takes precedence. If the file cannot be read, the server keeps its path
// in EnvFile, so that two servers with different files stay two.
func (s *Server) readEnvFile() []gateway.Text {
	if !absolute(s.EnvFile) || strings.Contains(s.EnvFile, "${") {
		return []gateway.Text{gateway.Textf("its envFile %s depends on the folder that the client has open, so it was not read; add its variables to the server's env", s.EnvFile)}
	}
	src, err := loadEnvFile(s.EnvFile)
	if err != nil {
		return []gateway.Text{gateway.Textf("its envFile was not read: %s; add its variables to the server's env", gateway.AsError(err))}
	}
	variables, skipped := parseEnvFile(string(src))
	env := maps.Clone(s.Env)
	if env == nil {
		env = map[string]gateway.Secret{}
	}
	s.private = map[string]bool{}
	for name, value := range variables {
		if _, own := env[name]; !own {
			env[name] = gateway.Secret(value)
			s.private[name] = true
		}
	}
	notes := []gateway.Text{gateway.Textf("variables that were read from its envFile %s: %d; later changes of that file are not noticed", s.EnvFile, len(s.private))}
	if skipped > 0 {
		notes = append(notes, gateway.Textf("lines of its envFile %s that set no variable, and were left out: %d", s.EnvFile, skipped))
	}
	s.Env, s.EnvFile = env, ""
	s.Secrets = literals(*s)
	return notes
}

// loadEnvFile reads a regular file of bounded size. Opening a FIFO or a device
// could block forever.
func loadEnvFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, gateway.Errorf(gateway.CodeNotFound, "the file %s does not exist", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s is not a regular file", path)
	}
	var src []byte
	file, err := os.Open(path)
	if err == nil {
		defer func() { _ = file.Close() }() // nothing was written
		src, err = io.ReadAll(io.LimitReader(file, maxEnvFile+1))
	}
	if err != nil {
		e := gateway.Errorf(gateway.CodeUnavailable, "the file %s cannot be read", path)
		e.Err = err
		return nil, e
	}
	if len(src) > maxEnvFile {
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s is larger than %d KiB", path, maxEnvFile>>10)
	}
	return src, nil
}

// parseEnvFile reads the dotenv format as VS Code does: NAME=value with an
// optional export, comments behind #, and values in quotes, which may span
// lines. Variables inside of values are not replaced. skipped counts the lines
// that are neither empty nor a comment nor an assignment.
func parseEnvFile(text string) (variables map[string]string, skipped int) {
	variables = map[string]string{}
	text = strings.TrimPrefix(text, bom)
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		name, value, found := strings.Cut(line, "=")
		if after, ok := strings.CutPrefix(strings.TrimSpace(name), "export "); ok {
			name = after
		}
		name = strings.TrimSpace(name)
		switch {
		case line == "" || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.TrimSpace(line) == "":
		case !found || !variableName().MatchString(name):
			skipped++
		default:
			value = strings.TrimLeft(value, " \t")
			// The rest of the text counts too: a quoted value may span lines.
			if inner, behind, ok := quotedValue(text[len(line)-len(value):]); ok {
				variables[name] = inner
				_, rest, _ = strings.Cut(behind, "\n")
			} else {
				value, _, _ = strings.Cut(value, "#")
				variables[name] = strings.TrimSpace(value)
			}
		}
		text = rest
	}
	return variables, skipped
}

// quotedValue splits a text that begins with a quoted value into the value and
// what follows it. Only double quotes know escapes.
func quotedValue(text string) (value, rest string, ok bool) {
	if text == "" || !strings.Contains("'\"`", text[:1]) {
		return "", "", false
	}
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			value = text[1:i]
			if quote == '"' {
				value = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\"`, `"`).Replace(value)
			}
			return value, text[i+1:], true
		}
	}
	return "", "", false
}
