package config

import (
	"path"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// decoder walks a file's tree and keeps going after a problem, so that one
// run tells everything.
type decoder struct {
	problems *problems
	from     Sources
	// whole is set for a whole file, where a mistake of one server that does not concern
	// the others only breaks that server.
	whole bool
	// unresolved are the references of the current server that do not resolve.
	unresolved []gateway.Text
	// referred are names that must be somewhere else in the file.
	referred []reference
	missing  []Missing
}

// field is a key that an object may have, and what reads its value. Tables of
// fields are the only place where keys are named, so that decoding, "did you
// mean" and the check of the example cannot disagree.
type field struct {
	name string
	read func(n *node, at string)
}

// object reads a map with known keys. A key without a value (null) counts as
// not written.
func (d *decoder) object(n *node, at string, fields []field) {
	if !d.is(n, kindMap, at) {
		return
	}
	d.each(n, at, func(e entry) {
		for _, f := range fields {
			if f.name == e.key {
				if e.value.kind != kindNull {
					f.read(e.value, join(at, e.key))
				}
				return
			}
		}
		known := make([]string, len(fields))
		for i, f := range fields {
			known[i] = f.name
		}
		if at == "" {
			d.problems.add(e.at, "unknown key %q; %s", cutWord(e.key), didYouMean(e.key, known))
		} else {
			d.problems.add(e.at, "unknown key %q in %s; %s", cutWord(e.key), at, didYouMean(e.key, known))
		}
	})
}

// each visits the entries of a map, without duplicates.
func (d *decoder) each(n *node, at string, visit func(entry)) {
	first := make(map[string]position, len(n.entries))
	for _, e := range n.entries {
		if p, again := first[e.key]; again {
			if at == "" {
				d.problems.add(e.at, "duplicate key %q; it is already on line %d", cutWord(e.key), p.line)
			} else {
				d.problems.add(e.at, "duplicate key %q in %s; it is already on line %d", cutWord(e.key), at, p.line)
			}
			continue
		}
		first[e.key] = e.at
		visit(e)
	}
}

func (d *decoder) is(n *node, want kind, at string) bool {
	if n.kind == want {
		return true
	}
	var what any = at
	if at == "" {
		what = gateway.Textf("the file")
	}
	d.problems.add(n.at, "%s must be %s, found %s", what, want.text(), n.kind.text())
	switch {
	case want == kindText && (n.kind == kindNumber || n.kind == kindBool):
		d.problems.hint(gateway.Textf("; put it in quotes"))
	case want == kindText && n.kind == kindMap:
		// The YAML scanner takes [a:1] inside {} for a map.
		d.problems.hint(gateway.Textf("; text with a colon may need quotes"))
	case want != kindText && want <= kindNumber && n.kind == kindText:
		d.problems.hint(gateway.Textf("; write it without quotes"))
	}
	return false
}

func (d *decoder) text(n *node, at string) (string, bool) {
	return n.text, d.is(n, kindText, at)
}

func (d *decoder) truth(n *node, at string) (bool, bool) {
	return n.text == "true", d.is(n, kindBool, at)
}

// integer reads a whole number in plain digits: hexadecimal, octal and
// exponents are somebody's accident.
func (d *decoder) integer(n *node, at string, least, most int) (int, bool) {
	v, err := strconv.Atoi(n.text)
	// Only a number in quotes is told about the quotes.
	if (n.kind != kindText || err == nil) && !d.is(n, kindNumber, at) {
		return 0, false
	}
	if err != nil || v < least || v > most || strconv.Itoa(v) != n.text {
		if most == maxInt {
			d.problems.add(n.at, "%s must be a whole number, %d or more", at, least)
		} else {
			d.problems.add(n.at, "%s must be a whole number from %d to %d", at, least, most)
		}
		return 0, false
	}
	return v, true
}

const (
	maxInt = 1<<31 - 1
	// maxDuration keeps arithmetic with deadlines far from overflow.
	maxDuration = 365 * 24 * time.Hour
)

// duration reads milliseconds, the unit of the clients' own files, or text
// with a unit.
func (d *decoder) duration(n *node, at string) (time.Duration, bool) {
	var v time.Duration
	switch n.kind {
	case kindNumber:
		ms, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil {
			d.problems.add(n.at, "%s must be a whole number of milliseconds, or text with a unit such as \"30s\"", at)
			return 0, false
		}
		if v = maxDuration + 1; ms <= int64(maxDuration/time.Millisecond) {
			// A very negative number would wrap around.
			v = time.Duration(max(ms, -1)) * time.Millisecond
		}
	case kindText:
		var err error
		if v, err = time.ParseDuration(n.text); err != nil {
			d.problems.add(n.at, "%s must be a duration such as \"30s\" or \"10m\"", at)
			d.problems.hint(gateway.Textf("; a number without quotes is milliseconds"))
			return 0, false
		}
	default:
		d.problems.add(n.at, "%s must be a number of milliseconds or text such as \"30s\", found %s", at, n.kind.text())
		return 0, false
	}
	if v <= 0 || v > maxDuration {
		d.problems.add(n.at, "%s must be more than 0 and at most a year", at)
		return 0, false
	}
	return v, true
}

// oneOf reads a word from a closed set, in any case.
func (d *decoder) oneOf(n *node, at string, words []string) (string, bool) {
	s, ok := d.text(n, at)
	if !ok {
		return "", false
	}
	if w, ok := fold(s, words); ok {
		return w, true
	}
	d.problems.add(n.at, "%s cannot be %q; %s", at, cutWord(s), didYouMean(s, words))
	return "", false
}

func fold(s string, words []string) (string, bool) {
	for _, w := range words {
		if strings.EqualFold(s, w) {
			return w, true
		}
	}
	return "", false
}

// list reads a list of texts.
func (d *decoder) list(n *node, at string, visit func(s string, item *node, at string)) {
	if !d.is(n, kindList, at) {
		return
	}
	for i, item := range n.items {
		at := at + "[" + strconv.Itoa(i) + "]"
		if s, ok := d.text(item, at); ok {
			visit(s, item, at)
		}
	}
}

// globs reads a list of path.Match patterns.
func (d *decoder) globs(n *node, at string) []string {
	globs := []string{}
	d.list(n, at, func(s string, item *node, at string) {
		if d.pattern(s, item.at, at) {
			globs = append(globs, s)
		}
	})
	return globs
}

// pattern checks a path.Match pattern.
func (d *decoder) pattern(s string, where position, at string) bool {
	_, err := path.Match(s, "")
	if err != nil || s == "" {
		d.problems.add(where, "%s is not a pattern; use * for any text, ? for one character, [ab] for a choice", at)
		return false
	}
	return true
}

// checked reads one text that must satisfy check, and returns it as check
// spells it.
func (d *decoder) checked(n *node, at string, check func(string) (string, error)) (string, bool) {
	s, ok := d.text(n, at)
	if !ok {
		return "", false
	}
	s, err := check(s)
	if err != nil {
		d.problems.add(n.at, "%s %s", at, err)
		return "", false
	}
	return s, true
}

func join(at, key string) string {
	if len([]rune(key)) > maxQuoted || strings.ContainsFunc(key, unprintable) {
		key = strconv.Quote(cutWord(key))
	}
	if at == "" {
		return key
	}
	return at + "." + key
}
