package launch

import (
	"strings"
	"testing"
)

func TestUnwrapCmd(t *testing.T) {
	for line, want := range map[string]string{
		"cmd|/c|npx|-y|server":                            "npx|-y|server",
		"CMD.EXE|/C|npx|-y|a b":                           "npx|-y|a b",
		`C:\Windows\System32\cmd.exe|/d|/s|/c|uvx|server`: "uvx|server",
		`cmd|/c|C:\tools\server.exe`:                      `C:\tools\server.exe`,
		// What cmd must read itself stays with it.
		"cmd|/c|npx -y server":       "",
		"cmd|/c|npx|a|&|b":           "",
		"cmd|/c|npx|%USERPROFILE%":   "",
		"cmd|/k|npx":                 "",
		"cmd|/c":                     "",
		"cmd":                        "",
		"powershell|/c|npx":          "",
		"npx|cmd|/c|server":          "",
		`cmd|/c|"C:\a\b.exe"|server`: "",
	} {
		words := strings.Split(line, "|")
		inner, rest, ok := unwrapCmd("windows", words[0], words[1:])
		if got := strings.Join(append([]string{inner}, rest...), "|"); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %v", line, got, ok)
		}
	}
	if _, _, ok := unwrapCmd("linux", "cmd", []string{"/c", "npx"}); ok {
		t.Error("elsewhere it is a program like any other")
	}
}

func TestIsBatch(t *testing.T) {
	for file, want := range map[string]bool{`C:\n\npx.cmd`: true, `C:\n\X.BAT`: true, `C:\n\node.exe`: false, `C:\n\npx`: false} {
		if isBatch("windows", file) != want || isBatch("linux", file) {
			t.Errorf("%s", file)
		}
	}
}

// What cmd.exe and then a program make of a line is played here, as both are
// documented; that the real ones agree, only Windows can show.
func TestBatchLine(t *testing.T) {
	const file = `C:\Program Files\nodejs\npx.cmd`
	for _, args := range [][]string{
		nil,
		{"-y", "@modelcontextprotocol/server-filesystem", `C:\Users\ann\My Documents`},
		{""},
		{`a&calc.exe`, `a|b`, `a>b`, `a<b`, `a^b`, `(a)`, "a;b,c=d", "!a!", "a b\tc", "~`'@#$*?[]{}+"},
		{"%PATH%", "100%", "%", "%%", `"%PATH%"`, "%cd%"},
		{`{"key":"a & b","n":1}`, `"`, `""`, `a"b`, `"a" & "b"`, `\"`, `a\\"b`},
		{`C:\`, `\\host\share\`, `\`, `a\b`, `C:\dir with space\`},
		{"日本語", "ü"},
	} {
		line, err := batchLine(file, args)
		if err != nil {
			t.Fatal(err)
		}
		got := readLikeProgram(readLikeCmd(t, line))
		if want := append([]string{file}, args...); strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Errorf("%q became %q\nwith %s", want, got, line)
		}
	}
	for _, arg := range []string{"a\nb", "a\rb", "a\x00b"} {
		if _, err := batchLine(file, []string{"-y", arg}); err == nil || !strings.Contains(err.Error(), "argument 2 of its command") {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

// readLikeCmd expands variables and checks that nothing outside of quotes means
// anything to cmd.exe.
func readLikeCmd(t *testing.T, line string) string {
	t.Helper()
	rest, ok := strings.CutPrefix(line, `cmd.exe /e:ON /v:OFF /d /c "`)
	if !ok || !strings.HasSuffix(rest, `"`) {
		t.Fatalf("the line is %s", line)
	}
	rest = rest[:len(rest)-1]
	// On a command line, a % that begins no variable is one, and %cd:~,% is an
	// empty piece of the current folder.
	var out strings.Builder
	for len(rest) > 0 {
		switch {
		case strings.HasPrefix(rest, "%%cd:~,%"):
			out.WriteByte('%')
			rest = rest[len("%%cd:~,%"):]
		case rest[0] == '%':
			t.Fatalf("a variable may begin in %s", line)
		default:
			out.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	quoted := false
	for _, r := range out.String() {
		if r == '"' {
			quoted = !quoted
		} else if !quoted && r != ' ' {
			t.Fatalf("%q stands outside of quotes in %s", r, line)
		}
	}
	if quoted {
		t.Fatalf("a quote is open in %s", line)
	}
	return out.String()
}

// readLikeProgram splits a command line as programs do there.
func readLikeProgram(line string) []string {
	var args []string
	var arg strings.Builder
	inside, begun := false, false
	for i := 0; i < len(line); i++ {
		backslashes := 0
		for i < len(line) && line[i] == '\\' {
			backslashes++
			i++
		}
		if i < len(line) && line[i] == '"' {
			arg.WriteString(strings.Repeat(`\`, backslashes/2))
			switch {
			case backslashes%2 == 1:
				arg.WriteByte('"')
			case inside && i+1 < len(line) && line[i+1] == '"':
				arg.WriteByte('"')
				i++
			default:
				inside = !inside
			}
			begun = true
			continue
		}
		arg.WriteString(strings.Repeat(`\`, backslashes))
		begun = begun || backslashes > 0
		if i == len(line) {
			break
		}
		if line[i] == ' ' && !inside {
			if begun {
				args = append(args, arg.String())
			}
			arg.Reset()
			begun = false
			continue
		}
		arg.WriteByte(line[i])
		begun = true
	}
	if begun {
		args = append(args, arg.String())
	}
	return args
}
