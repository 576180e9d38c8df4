package redact

import (
	"strings"
	"unicode/utf8"
)

// attribute returns the class of a value by what is around it: the parameters of a
// URL, and the value of an element of HTML or XML whose name says that it is secret.
func (p *pass) attribute(s string, k keySpan) class {
	switch key := s[k.start:k.end]; {
	case k.start == 0:
	case (key == "key" || key == "code") && (s[k.start-1] == '?' || s[k.start-1] == '&'):
		return class{perhaps, "token", false}
	case key == "value" && (s[k.start-1] == ' ' || s[k.start-1] == '\n'):
		const looked = 256
		tag := s[max(0, k.start-looked):k.start]
		open := strings.LastIndexByte(tag, '<')
		if open < 0 || strings.IndexByte(tag[open:], '>') >= 0 {
			break
		}
		tag = tag[open:]
		for _, name := range []string{" name=", " key=", " id=", " type="} {
			if _, rest, ok := strings.Cut(tag, name); ok && len(rest) > 1 {
				if name, _, ok := strings.Cut(rest[1:], rest[:1]); ok {
					if of := p.classOf(name); of.kind != notSecret {
						return of
					}
				}
			}
		}
	}
	return class{}
}

// block masks the lines of a YAML block, whose mark is at i.
func (p *pass) block(v view, i int, of class, k keySpan) int {
	s := v.text
	end := endOfLine(s, i)
	if !k.lineStart || strings.Trim(s[i:end], "|>+-0123456789 \t") != "" {
		return 0
	}
	indent := func(i int) int {
		n := i
		for n < len(s) && s[n] == ' ' {
			n++
		}
		return n - i
	}
	line := strings.LastIndexByte(s[:k.start], '\n') + 1
	least, start, last := indent(line), 0, 0
	for end < len(s) {
		next := end + 1
		if s[end] == '\r' {
			next++
		}
		if next >= len(s) {
			break
		}
		end = endOfLine(s, next)
		if strings.TrimSpace(s[next:end]) == "" {
			continue
		}
		n := indent(next)
		if n <= least {
			break
		}
		if start == 0 {
			start = next + n
		}
		last = end
	}
	if start >= last {
		return 0
	}
	p.findValue(v.slice(start, last), of)
	return last
}

// cell masks the cell of a table after the one that names it: | password | x |. The
// separator is at i.
func (p *pass) cell(v view, i int) int {
	s := v.text
	k := keyBefore(s, i)
	if !k.spaced || k.start == k.end || !k.lineStart {
		return 0
	}
	of := p.classOf(s[k.start:k.end])
	if of.kind == notSecret {
		return 0
	}
	at := i + 1
	for at < len(s) && s[at] == ' ' {
		at++
	}
	const looked = 512
	end := at
	for end < len(s) && end-at < looked && s[end] > ' ' && s[end] != '|' {
		end++
	}
	if value := strings.Trim(s[at:end], "`"); odd(value) && !isCode(value, ' ', false, true) && of.secretText(value) {
		p.add(v, at, end, of.rule(), byKey)
		return end
	}
	return 0
}

// element masks the content of an XML element: <password>x</password>. The end of its
// first tag is at i.
func (p *pass) element(v view, i int) int {
	s := v.text
	start := i
	for start > 0 && i-start < maxKey && isKeyChar[s[start-1]] {
		start--
	}
	if start == i || start == 0 || s[start-1] != '<' && s[start-1] != ':' {
		return 0
	}
	of := p.classOf(s[start:i])
	if of.kind == notSecret {
		return 0
	}
	const looked = 4096
	n := strings.IndexByte(s[i:min(len(s), i+looked)], '<')
	if n < 0 || !strings.HasPrefix(s[i+n:], "</") {
		return 0
	}
	p.findValue(v.slice(i+1, i+n), of)
	return i + n
}

// sentence masks a value that follows a word after the space at i: "the password is x",
// PASSWORD 'x' of SQL, the password of a .netrc file, curl -u me:x.
func (p *pass) sentence(v view, i int) int {
	s := v.text
	rest := s[i:]
	if len(rest) < 4 || i == 0 {
		return 0
	}
	switch {
	case rest[1] == 'i' && strings.HasPrefix(rest, " is "):
		return p.said(v, i, len(" is "))
	case rest[1] == '-' && (strings.HasPrefix(rest, " -u ") && strings.Contains(s[max(0, i-200):i], "curl") || strings.HasPrefix(rest, " -p ") && strings.HasSuffix(s[:i], "sshpass")):
		of := class{perhaps, "password", false}
		if rest[2] == 'p' {
			of = class{password, "password", false}
		}
		return p.argument(v, i+len(" -u "), of)
	case s[i-1] != 'd' && s[i-1] != 'D' && s[i-1] != 'y' && s[i-1] != 'Y':
		return 0
	}
	before := s[max(0, i-len("identified by")):i]
	word := len(before) >= len("password") && strings.EqualFold(before[len(before)-len("password"):], "password")
	switch {
	case (word || strings.EqualFold(before, "identified by")) && rest[1] == '\'':
		if from, end := quoted(s, i+1); !strings.ContainsAny(s[from:end], " \n") {
			p.findValue(v.slice(from, end), class{password, "password", false})
			return end
		}
	case word && strings.Contains(s[max(0, i-200):i], "login ") && strings.Contains(s[max(0, i-200):i], "machine "):
		return p.argument(v, i+1, class{password, "password", false})
	}
	return 0
}

// argument masks the word at i.
func (p *pass) argument(v view, i int, of class) int {
	s := v.text
	if q := quoteAt(s, i); q > 0 {
		i += q
	}
	const looked = 512
	end := i
	for end < len(s) && end-i < looked && s[end] > ' ' && strings.IndexByte("\"'`", s[end]) < 0 {
		end++
	}
	if end-i < 3 || !of.secretText(s[i:end]) {
		return 0
	}
	p.add(v, i, end, of.rule(), byKey)
	return end
}

// said masks the value in "the password is x". The n bytes at i are between the two.
func (p *pass) said(v view, i, n int) int {
	s := v.text
	k := keyBefore(s, i)
	if k.start == k.end {
		return 0
	}
	of := p.classOf(s[k.start:k.end])
	if of.kind == notSecret {
		if start := moreWords(s, k.start); start < k.start {
			of = p.classOf(s[start:k.end])
		}
	}
	if of.kind == notSecret || of.kind == cookie || of.kind == authorization {
		return 0
	}
	at := i + n
	for at < len(s) && strings.IndexByte(" \"'`:", s[at]) >= 0 {
		at++
	}
	const looked = 512
	end := at
	for end < len(s) && end-at < looked && s[end] > ' ' && s[end] < utf8.RuneSelf && strings.IndexByte("\"'`", s[end]) < 0 {
		end++
	}
	value := strings.TrimRight(s[at:end], ".,;:!?)")
	if !odd(value) || isCode(value, ' ', false, true) || !of.secretText(value) {
		return 0
	}
	p.add(v, at, at+len(value), of.rule(), byKey)
	return at + len(value)
}
