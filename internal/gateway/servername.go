package gateway

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
)

// MaxServerName is how long the name of a server or of a profile may be: it
// becomes part of URLs and of tool names, whose length clients limit.
const MaxServerName = 32

// IsServerName reports whether a server may have the name: a small letter, and
// then small letters, digits and -.
func IsServerName(s string) bool {
	if s == "" || len(s) > MaxServerName || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// ServerName makes a name that a server may have, and that nobody has, out of
// any other. Clients use package paths as names, whose last part is the telling
// one.
func ServerName(original string, taken func(string) bool) string {
	return freeName(cmp.Or(nameOf(original), "server"), taken)
}

// BetterServerName is ServerName for errors: it is empty if nothing of the original
// can be in a name.
func BetterServerName(original string, taken func(string) bool) string {
	name := nameOf(original)
	if name == "" {
		return ""
	}
	return freeName(name, taken)
}

// nameOf makes a name that a server may have out of a text; empty if nothing of it can be in one.
func nameOf(original string) string {
	s := strings.TrimRight(original, "/")
	s = s[strings.LastIndexByte(s, '/')+1:]
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(NarrowLetters(s)) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	name := b.String()
	if name != "" && name[0] < 'a' {
		name = "s-" + name
	}
	return cutName(name, MaxServerName)
}

// freeName returns a name that nobody has: this one, or this one with a number.
func freeName(name string, taken func(string) bool) string {
	free := name
	for i := 2; taken(free); i++ {
		tail := "-" + strconv.Itoa(i)
		free = cutName(name, MaxServerName-len(tail)) + tail
	}
	return free
}

// WrongInName says why a text is no name of small letters, digits and these signs that begins
// with a letter, or with a digit if digits is set, and has at most so many characters.
func WrongInName(name, signs string, digits bool, most int) Text {
	for i, r := range name {
		letter, digit, sign := r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune(signs, r)
		switch {
		case r >= 'A' && r <= 'Z':
			return Textf("it has capital letters")
		case unicode.IsSpace(r):
			return Textf("it has spaces")
		case !letter && !digit && !sign:
			return Textf("only a-z, 0-9 and %s can be in it", Names(strings.Split(signs, "")))
		case i == 0 && (sign || digit && !digits):
			return Textf("it begins with %q", string(r))
		}
	}
	if name == "" {
		return Textf("it is empty")
	}
	return Textf("it has more than %d characters", most)
}

// HowAbout says what is wrong with a name, and suggests a better one unless that is empty.
func HowAbout(wrong Text, better string) Text {
	if better == "" {
		return wrong
	}
	return Textf("%s; how about %q?", wrong, better)
}

// NarrowLetters returns a text whose full-width letters, digits and signs, as Japanese
// input methods write them, are those of ASCII.
func NarrowLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '！' && r <= '～' {
			return r - '！' + '!'
		}
		return r
	}, s)
}

func cutName(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.TrimRight(s, "-")
}
