package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// isKeyChar are the bytes of a key in a text. Those of other languages count.
//
//nolint:gochecknoglobals // a table
var isKeyChar = func() *[256]bool {
	set := charset("_.-", true)
	for c := utf8.RuneSelf; c < 256; c++ {
		set[c] = true
	}
	return set
}()

// wideColon is the colon of Japanese and Chinese texts, wideIs the particle between a
// name and its value.
const wideColon, wideIs = "：", "は"

// findAssignments finds values whose names are beside them: KEY=value, key: value,
// "key": "value", --key value, and the headers of HTTP.
func (p *pass) findAssignments(v view) {
	s := v.text
	for i := 0; i < len(s); i++ {
		end := 0
		switch s[i] {
		case '=', ':':
			end = p.assignment(v, i, 1)
		case wideColon[0]:
			if strings.HasPrefix(s[i:], wideColon) {
				end = p.assignment(v, i, len(wideColon))
			}
		case '-':
			if strings.HasPrefix(s[i:], "--") && (i == 0 || !isAlnum[s[i-1]] && s[i-1] != '-') {
				end = p.option(v, i)
			}
		case '|':
			end = p.cell(v, i)
		case '>':
			end = p.element(v, i)
		case ' ':
			end = p.sentence(v, i)
		case wideIs[0]:
			if strings.HasPrefix(s[i:], wideIs) {
				end = p.said(v, i, len(wideIs))
			}
		case 'b', 'B':
			if i == 0 || !isWord[s[i-1]] {
				end = p.scheme(v, i)
			}
		}
		if end > i {
			i = end - 1
		}
	}
}

// assignment looks at the separator at i, which has n bytes. It returns the end of the
// secret that follows it, or 0.
func (p *pass) assignment(v view, i, n int) int {
	s := v.text
	if i+n >= len(s) {
		return 0
	}
	sep, after, code := s[i], i+n, false
	switch next := s[after]; {
	case next == '=' && sep == ':', next == '>' && sep == '=': // := and =>
		after++
		code = true
	case next == '=' || next == '/' && sep == ':' && strings.HasPrefix(s[after:], "//") || next == ':' && sep == ':' || next == '~':
		return 0
	}
	if i == 0 || strings.IndexByte("=!<>+:|?", s[i-1]) >= 0 {
		return 0
	}
	k := keyBefore(s, i)
	if k.start == k.end {
		return 0
	}
	of := p.classOf(s[k.start:k.end])
	if of.kind == notSecret && !k.quoted {
		// "API key: x"
		if start := moreWords(s, k.start); start < k.start {
			if wider := p.classOf(s[start:k.end]); wider.kind != notSecret && wider.kind != perhaps {
				of, k.start = wider, start
			}
		}
	} else if of.kind == token && !k.quoted {
		// "Unexpected token: x"
		if start := moreWords(s, k.start); start < k.start && p.classOf(s[start:k.end]).kind == notSecret {
			return 0
		}
	}
	if of.kind == notSecret && sep == '=' {
		of = p.attribute(s, k)
	}
	if of.kind == notSecret || sep == ':' && s[k.start:k.end] == "PASS" { // the result of a test
		return 0
	}
	at := after
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	if at == len(s) || s[at] == '\n' || s[at] == '\r' {
		return 0
	}
	spaced := at > after || k.spaced
	if q := quoteAt(s, at); q > 0 {
		if !k.quoted && closes(s, at+q-1) { // "PASSWORD=" + x
			return 0
		}
		from, end := quoted(s, at+q-1)
		// Only a password and a key in PEM have several lines; else the quotes belong to
		// something else.
		if value := s[from:end]; of.kind == password || !strings.Contains(value, "\n") || strings.Contains(value, "-----BEGIN") {
			p.findValue(v.slice(from, end), of)
		}
		return from // a value may have others in it
	}
	if code {
		return 0 // an expression
	}
	if sep == ':' && (s[at] == '|' || s[at] == '>') {
		return p.block(v, at, of, k)
	}
	if of.kind == authorization || of.kind == cookie && sep != '=' {
		return p.header(v, at, of, k)
	}
	if of.word == "passphrase" || of.word == "mnemonic" {
		if end := endOfLine(s, at); end-at <= 512 && k.lineStart && strings.Count(s[at:end], " ") > 2 && !isProse(s[at:end]) {
			p.findValue(v.slice(at, end), of)
			return end
		}
	}
	return p.bare(v, at, of, k, form{tight: sep == '=' && !spaced, equals: sep == '='})
}

// form is how an assignment without quotes is written.
type form struct {
	tight  bool // KEY=value
	equals bool // key = value
}

// bare masks a value without quotes.
func (p *pass) bare(v view, at int, of class, k keySpan, f form) int {
	s, tight := v.text, f.tight
	if strings.IndexByte("{[(<|>*&!@#`", s[at]) >= 0 && !(tight && strings.IndexByte("!@#*", s[at]) >= 0) {
		return 0
	}
	const looked = 512 // of a long value
	stop := "\"'`,;<>|)"
	switch {
	case tight && k.lineStart:
		stop = "\"'`&" // the value of a variable is the rest of its line
	case tight:
		stop += "&" // the next parameter
	}
	run := func(most int) int {
		end := at
		for end < len(s) && end-at < most && s[end] > ' ' && strings.IndexByte(stop, s[end]) < 0 {
			end++
		}
		return end
	}
	end := run(looked)
	long := end-at == looked
	value := strings.TrimRight(s[at:end], ".,;:)]}\\")
	if value == "" {
		return 0
	}
	next := byte('\n')
	if end < len(s) {
		next = s[end]
	}
	// A line of its own is a setting rather than code.
	setting := k.lineStart && (tight || !f.equals) && at+len(value) == end && (next == '\n' || next == '\r')
	if !long && isCode(value, next, tight, setting) {
		return 0
	}
	if n := schemeLength(s[at:min(len(s), at+64)]); n > 0 && of.kind != password {
		return 0 // the scheme's own rule
	}
	if !tight && !long && of.kind != perhaps {
		// In a sentence, only what does not look like a word is secret. At the start of a
		// line, the value is the only word on it.
		only := k.lineStart && onlyWord(s, end) && (of.kind == password || !f.equals && next != ',')
		if !only && !odd(value) {
			return 0
		}
	}
	if !of.secretText(value) || of.kind != password && len(value) <= 18 && strings.HasPrefix(value, "0x") {
		return 0
	}
	if long {
		value = s[at:run(len(s))]
	}
	p.add(v, at, at+len(value), of.rule(), byKey)
	return at + len(value)
}

// onlyWord reports whether nothing but a comment follows on the line.
func onlyWord(s string, i int) bool {
	for i < len(s) && strings.IndexByte(" \t\r,;)]}\"'", s[i]) >= 0 {
		i++
	}
	return i == len(s) || s[i] == '\n' || s[i] == '#' || strings.HasPrefix(s[i:], "//") || strings.HasPrefix(s[i:], "(")
}

// odd reports whether a value is more than a word: it has digits or signs.
func odd(s string) bool {
	if len(s) < 6 {
		return false
	}
	if hasDigit(s) {
		return strings.Trim(s, "0123456789.,:-") != "" || len(s) >= 8
	}
	return strings.ContainsAny(s, "!@#$%^&*+=") || len(s) >= 20 && mixedCase(s)
}

// mixedCase reports whether capitals are where no name has them.
func mixedCase(s string) bool {
	changes := 0
	for i := 1; i < len(s); i++ {
		if upper(s[i]) != upper(s[i-1]) {
			changes++
		}
	}
	return changes*3 >= len(s)
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// isCode reports whether a value is an expression of a programming language:
// getToken(), self.token, password.
func isCode(value string, next byte, tight, setting bool) bool {
	if next == '(' || next == '[' && !tight {
		return true
	}
	value = strings.TrimRight(value, "?!")
	if strings.ContainsAny(value, "([{") && !strings.HasPrefix(value, "[") {
		if n := strings.IndexAny(value, "({"); n > 0 && strings.TrimFunc(value[:n], isNameRune) == "" && !isDigit[value[0]] && !hasDigit(value[:n]) {
			return true
		}
		if name, _, _ := strings.Cut(value, "["); name != value && name != "" && strings.TrimFunc(name, isNameRune) == "" && (!hasDigit(name) || strings.Contains(name, ".")) {
			return true
		}
	}
	value = strings.TrimLeft(value, "&*$@")
	if value == "" || strings.TrimFunc(value, isNameRune) != "" || isDigit[value[0]] {
		return false
	}
	// user.password, access_token: the name of a secret rather than a secret.
	last, dotted := value, false
	if i := strings.LastIndexAny(value, ".>"); i >= 0 {
		last, dotted = value[i+1:], true
		if !hasDigit(value) && !tight && last != "" {
			return true // data.result
		}
	}
	if setting && !dotted || classify(last).kind == notSecret {
		return false
	}
	words := splitWords(last)
	return dotted || !hasDigit(last) || len(words) > 1 && strings.HasSuffix(strings.ToLower(last), words[len(words)-1])
}

func isNameRune(r rune) bool { return isWordRune(r) || r == '.' || r == '-' || r == '>' }

// header masks the value of a header that is in a text.
func (p *pass) header(v view, at int, of class, k keySpan) int {
	s := v.text
	const looked = 1024 // of a long line
	end := at + endOfLine(s[at:min(len(s), at+looked)], 0)
	long := end-at == looked
	if k.start > 0 {
		if q := s[k.start-1]; q == '"' || q == '\'' || q == '`' { // curl -H 'Cookie: a=b'
			if n := strings.IndexByte(s[at:end], q); n >= 0 {
				end = at + n
			}
		}
	}
	value := s[at:end]
	if of.kind == cookie {
		// A cookie is name=value.
		if n := strings.IndexAny(value, "= ;"); n <= 0 || value[n] != '=' || of.many {
			return 0
		}
		if long && end-at == looked {
			end = endOfLine(s, at)
		}
		p.findValue(v.slice(at, end), of)
		return end
	}
	if n := schemeLength(value); n > 0 {
		rest, closing := value[n:], ",;'\"`)}]"
		// The credentials are one word, or a list: Digest username="x", response="y".
		if word, _, more := strings.Cut(rest, " "); more && !strings.Contains(rest, "=\"") && !strings.Contains(rest, "Credential=") {
			end = at + n + len(word)
		} else if more {
			closing = " "
			if long && end-at == looked {
				end = endOfLine(s, at)
			}
		}
		if credentials := strings.TrimRight(s[at+n:end], closing); !saysNothing(credentials) && len(credentials) > 2 && !Placeholder(credentials) && !isReference(credentials) && !isMetavariable(credentials) {
			p.add(v, at+n, at+n+len(credentials), of.rule(), byKey)
			return at + n + len(credentials)
		}
		return 0
	}
	return p.bare(v, at, of, k, form{})
}

// option masks the value after an option: --password x. The option begins at i.
func (p *pass) option(v view, i int) int {
	s := v.text
	start := i + len("--")
	end := start
	for end < len(s) && end-start < maxKey && isKeyChar[s[end]] {
		end++
	}
	if end == start || end >= len(s) || s[end] != ' ' {
		return 0
	}
	name, at := s[start:end], end
	for at < len(s) && s[at] == ' ' {
		at++
	}
	if at == len(s) {
		return 0
	}
	of := p.classOfOption(name)
	if name == "user" || name == "proxy-user" {
		of = class{perhaps, "password", false}
	}
	if of.kind == notSecret {
		return 0
	}
	if q := quoteAt(s, at); q > 0 {
		from, to := quoted(s, at+q-1)
		p.findValue(v.slice(from, to), of)
		return from
	}
	if at > end+1 {
		return 0 // the table of a help text
	}
	const looked = 512
	to := at
	for to < len(s) && to-at < looked && s[to] > ' ' && strings.IndexByte("\"'`|;<>)", s[to]) < 0 {
		to++
	}
	value := strings.TrimRight(s[at:to], ".,;:")
	if value == "" || value[0] == '-' || value[0] == '[' || value == strings.ToUpper(value) && !hasDigit(value) || afterOption(value) || strings.HasPrefix(s[to:], "  ") && !odd(value) {
		return 0
	}
	if !of.secretText(value) {
		return 0
	}
	if to-at == looked {
		for to < len(s) && s[to] > ' ' {
			to++
		}
		value = s[at:to]
	}
	p.add(v, at, at+len(value), of.rule(), byKey)
	return at + len(value)
}

// afterOption reports whether a word continues a sentence about an option.
func afterOption(word string) bool {
	switch strings.ToLower(word) {
	case "to", "flag", "flags", "option", "options", "or", "and", "is", "if", "for", "with", "argument", "arguments", "parameter", "in", "as", "when", "must", "should",
		"can", "will", "was", "are", "not", "from", "on", "of", "a", "an", "the", "instead", "requires", "but", "then", "before", "after", "via", "has", "does", "you", "it", "so":
		return true
	}
	return false
}

// scheme masks what follows Bearer or Basic at i.
func (p *pass) scheme(v view, i int) int {
	s := v.text
	const length = len("bearer")
	if len(s) < i+length {
		return 0
	}
	word := s[i : i+length]
	bearer := strings.EqualFold(word, "bearer")
	at := i + length
	if !bearer {
		if !strings.EqualFold(word[:len("basic")], "basic") {
			return 0
		}
		at = i + len("basic")
	}
	from := at
	for from < len(s) && (s[from] == ' ' || s[from] == '\t') && from-at < 4 {
		from++
	}
	if from == at {
		return 0
	}
	const looked = 512
	end := from
	for end < len(s) && end-from < looked && (charsBase64[s[end]] || s[end] == '.' || s[end] == '~') {
		end++
	}
	value := strings.TrimRight(s[from:end], ".")
	if len(value) < 8 {
		return 0
	}
	if bearer {
		if !hasDigit(value) && !(len(value) >= 20 && mixedCase(value)) || isReference(value) || Placeholder(value) {
			return 0
		}
	} else {
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
		if end-from < looked && (err != nil || !isText(raw) || !strings.Contains(string(raw), ":")) {
			return 0
		}
	}
	if end-from == looked {
		for end < len(s) && (charsBase64[s[end]] || s[end] == '.' || s[end] == '~') {
			end++
		}
		value = s[from:end]
	}
	p.add(v, from, from+len(value), "authorization", byKey)
	return from + len(value)
}

// keySpan is where a key stands in a text.
type keySpan struct {
	start, end int
	// quoted keys are in quotes; spaced ones have a space before the separator.
	quoted, spaced bool
	// lineStart reports that nothing but spaces, a dash or "export" is before the key
	// on its line.
	lineStart bool
}

// keyBefore returns the key before the separator at i.
func keyBefore(s string, i int) keySpan {
	k := keySpan{end: i}
	for k.end > 0 && (s[k.end-1] == ' ' || s[k.end-1] == '\t') && i-k.end < 16 {
		k.end--
		k.spaced = true
	}
	if k.end > 0 && s[k.end-1] == ']' { // environ["KEY"] = "x"
		k.end--
	}
	if k.end > 0 && strings.IndexByte("\"'`", s[k.end-1]) >= 0 {
		k.end--
		k.quoted = true
	}
	if k.end > 1 && strings.HasPrefix(s[k.end-1:], "*") { // **Password**: x
		k.end = len(strings.TrimRight(s[max(0, k.end-4):k.end], "*")) + max(0, k.end-4)
	}
	k.start = k.end
	for k.start > 0 && k.end-k.start < maxKey && isKeyChar[s[k.start-1]] {
		k.start--
	}
	for k.start < k.end && !utf8.RuneStart(s[k.start]) {
		k.start++
	}
	k.lineStart = startsLine(s, k.start)
	return k
}

// startsLine reports whether nothing that counts is before i on its line.
func startsLine(s string, i int) bool {
	const looked = 24
	from := max(0, i-looked)
	before := s[from:i]
	if n := strings.LastIndexByte(before, '\n'); n >= 0 {
		before = before[n+1:]
	} else if from > 0 && strings.TrimLeft(before, " \t") != "" {
		return false
	}
	before = strings.Trim(before, " \t-+#>|$*\"'`{,&?")
	switch before {
	case "", "export", "set", "setx", "ENV", "ARG", "env", "declare -x", "//", "const", "let", "var":
		return true
	}
	return false
}

// moreWords returns the start of up to two words before i on the same line.
func moreWords(s string, i int) int {
	for range 2 {
		j := i
		if j == 0 || s[j-1] != ' ' {
			return i
		}
		j--
		start := j
		for start > 0 && j-start < 24 && (isWord[s[start-1]] || s[start-1] == '-') {
			start--
		}
		if start == j {
			return i
		}
		i = start
	}
	return i
}

// quoteAt returns the length of an opening quote at i with its prefix, such as the b
// of Python; 0 if there is none.
func quoteAt(s string, i int) int {
	for n := range 2 {
		if i+n < len(s) && strings.IndexByte("\"'`", s[i+n]) >= 0 && (n == 0 || strings.IndexByte("bfrBFR@$", s[i]) >= 0) {
			return n + 1
		}
	}
	return 0
}

// closes reports whether the quote at i closes one on the same line.
func closes(s string, i int) bool {
	const looked = 512
	open := false
	for j := i - 1; j >= max(0, i-looked) && s[j] != '\n'; j-- {
		if s[j] == s[i] && !(s[i] == '\'' && j > 0 && isAlnum[s[j-1]] && isAlnum[s[j+1]]) { // don't
			open = !open
		}
	}
	return open
}

// quoted returns the content of the quotes that open at i. Quotes that do not close end
// with the line.
func quoted(s string, i int) (start, end int) {
	start = i + 1
	for end = start; end < len(s); end++ {
		switch s[end] {
		case s[i]:
			return start, end
		case '\\':
			end++
		}
	}
	return start, endOfLine(s, start)
}

func endOfLine(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	if n := strings.IndexAny(s[i:], "\r\n"); n >= 0 {
		return i + n
	}
	return len(s)
}
