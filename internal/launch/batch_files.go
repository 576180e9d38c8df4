package launch

import (
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// On Windows npx, npm, uvx and others are batch files, which only cmd.exe can
// run. It parses its command line by its own rules: with the quoting of os/exec,
// an argument like a&b would start b. So the command lines of batch files are
// written here.

// unwrapCmd removes the "cmd /c" that people write before npx for clients that
// cannot run batch files. It keeps what cmd itself must parse, such as a whole
// line in one argument.
func unwrapCmd(goos, name string, args []string) (inner string, rest []string, ok bool) {
	if goos != "windows" || baseName(goos, name) != "cmd" {
		return "", nil, false
	}
	for i, arg := range args {
		switch strings.ToLower(arg) {
		case "/d", "/s", "/q":
		case "/c":
			if i+1 == len(args) || slices.ContainsFunc(args[i+1:], func(arg string) bool { return strings.ContainsAny(arg, "&|<>^%") }) ||
				strings.ContainsAny(args[i+1], " \t\"") {
				return "", nil, false
			}
			return args[i+1], args[i+2:], true
		default:
			return "", nil, false
		}
	}
	return "", nil, false
}

// isBatch reports whether cmd.exe runs a file.
func isBatch(goos, file string) bool {
	if goos != "windows" {
		return false
	}
	lower := strings.ToLower(file)
	return strings.HasSuffix(lower, ".cmd") || strings.HasSuffix(lower, ".bat")
}

// cmdFile returns the system's cmd.exe, whatever PATH and COMSPEC say.
func cmdFile(env []string) string {
	root := lookup("windows", env, "SYSTEMROOT")
	if root == "" {
		root = `C:\Windows`
	}
	return root + `\System32\cmd.exe`
}

// batchLine returns the command line for cmd.exe that runs a batch file with
// exactly these arguments. Extensions are on, which the quoting of % needs;
// delayed expansion is off, so that ! has no meaning; AutoRun is off.
func batchLine(file string, args []string) (string, error) {
	var line strings.Builder
	line.WriteString(`cmd.exe /e:ON /v:OFF /d /c "`)
	quoteForBatch(&line, file)
	for i, arg := range args {
		if strings.ContainsAny(arg, "\x00\r\n") {
			return "", failed(gateway.CodeInvalid, gateway.Textf(
				"argument %d of its command %q has a line break, which cannot be given to a batch file; name the program that it starts instead", i+1, file))
		}
		line.WriteByte(' ')
		quoteForBatch(&line, arg)
	}
	line.WriteByte('"')
	return line.String(), nil
}

// quoteForBatch writes an argument so that it survives cmd.exe twice, because
// batch files pass their arguments on, and then the program's own reading:
// inside quotes nothing but % and the quote itself means anything to cmd.exe.
func quoteForBatch(line *strings.Builder, arg string) {
	line.WriteByte('"')
	backslashes := 0
	for _, r := range arg {
		switch r {
		case '\\':
			backslashes++
		case '"':
			// Backslashes before a quote count double for the program. Two
			// quotes are one to it, and leave cmd.exe inside.
			line.WriteString(strings.Repeat(`\`, backslashes))
			line.WriteByte('"')
			backslashes = 0
		case '%':
			// A variable cannot begin here: this is a percent sign and an empty
			// piece of the one variable that is always there.
			line.WriteString("%%cd:~,")
			backslashes = 0
		default:
			backslashes = 0
		}
		line.WriteRune(r)
	}
	line.WriteString(strings.Repeat(`\`, backslashes))
	line.WriteByte('"')
}
