package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
)

// vaultPrefix begins the names of the rules for known values.
const vaultPrefix = "vault:"

const (
	// leastKnown is the length of the shortest known value that is searched for, in
	// bytes. Shorter ones are parts of many words.
	leastKnown = 6
	// leastLine is the same for a line of a known value.
	leastLine = 8
	// mostEncoded bounds the values that are searched for in base64 without
	// decoding it.
	mostEncoded = 4 << 10
)

// knownValues finds values in all spellings.
type knownValues struct {
	names  map[string]bool
	plain  automaton // as they are
	base64 automaton // in base64, at each of the three alignments
	spaces bool      // whether a value has a space
}

func newKnownValues(known []Known) *knownValues {
	k := &knownValues{names: map[string]bool{}}
	for _, one := range known {
		value, name := one.Value.Reveal(), legalName(one.Name)
		if len(value) < leastKnown || !strings.ContainsFunc(value, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			continue
		}
		k.names[name] = true
		rule := vaultPrefix + name
		k.add(value, rule)
		if trimmed := strings.TrimSpace(value); trimmed != value && len(trimmed) >= leastKnown {
			k.add(trimmed, rule)
		}
		// Programs print a key of several lines in part, too.
		if strings.Contains(strings.TrimSpace(value), "\n") {
			for line := range strings.Lines(value) {
				line = strings.TrimSpace(line)
				if len(line) >= leastLine && !strings.ContainsAny(line, " \t") && !strings.HasPrefix(line, "-----") {
					k.add(line, rule)
				}
			}
		}
	}
	k.plain.build()
	k.base64.build()
	return k
}

// legalName returns a name that can be in a mark.
func legalName(name string) string {
	const longest = 128
	name = strings.Map(func(r rune) rune {
		if isWordRune(r) || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), longest)]
}

func (k *knownValues) add(value, rule string) {
	k.plain.add(value, pattern{rule: rule})
	if len(value) <= mostEncoded {
		// Also between letters that are no digits.
		digits := hex.EncodeToString([]byte(value))
		k.plain.add(digits, pattern{rule: rule})
		k.plain.add(strings.ToUpper(digits), pattern{rule: rule})
	}
	k.spaces = k.spaces || strings.ContainsRune(value, ' ')
	if len(value) > mostEncoded {
		return
	}
	for offset := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte("\x00\x00"[:offset] + value))
		bits := (offset + len(value)) * 8
		skip := (offset*8 + 5) / 6 // characters that have bits of what is before the value
		k.base64.add(text[skip:bits/6], pattern{rule: rule, before: offset > 0, after: bits%6 != 0})
	}
}

func (k *knownValues) has(name string) bool { return k.names[name] }

func (k *knownValues) empty() bool { return len(k.plain.nodes) == 0 }

// findKnown finds known values in a view.
func (p *pass) findKnown(v view) {
	k := p.rules.known
	if k.empty() {
		return
	}
	p.findPlain(v, func(start, end int, rule string) { p.add(v, start, end, rule, byValue) })
	state := k.base64.find(v.text, &standardAlphabet, func(start, end int, of pattern) {
		if of.before && start > 0 && isBase64[v.text[start-1]] {
			start--
		}
		if of.after && end < len(v.text) && isBase64[v.text[end]] {
			end++
		}
		for end < len(v.text) && v.text[end] == '=' {
			end++
		}
		p.add(v, start, end, of.rule, byValue)
	})
	if node := k.base64.nodes[state]; v.cut && node.depth >= leastKnown+2 {
		p.add(v, len(v.text)-int(node.depth), len(v.text), k.base64.patterns[node.of].rule, byValue)
	}
}

// findPlain finds known values as they are, and the beginning of one at the end of a
// text that was cut off.
func (p *pass) findPlain(v view, found func(start, end int, rule string)) {
	k := &p.rules.known.plain
	state := k.find(v.text, &sameAlphabet, func(start, end int, of pattern) { found(start, end, of.rule) })
	if node := k.nodes[state]; v.cut && node.depth >= leastKnown {
		found(len(v.text)-int(node.depth), len(v.text), k.patterns[node.of].rule)
	}
}

// pattern is a spelling of a known value.
type pattern struct {
	rule   string
	length int32
	// before and after report that the characters beside the pattern have some bits
	// of the value.
	before, after bool
}

// automaton finds many patterns at once, in time linear in the text: the algorithm of
// Aho and Corasick. Most nodes have one child, so children are a list.
type automaton struct {
	nodes    []acNode
	first    [256]int32 // the children of the root
	patterns []pattern
}

type acNode struct {
	child, next int32 // the first child, the next sibling
	fail        int32 // the longest other node that ends as this one does
	found       int32 // the longest pattern that ends here, plus one
	of          int32 // a pattern that this node is on the way to
	depth       int32
	label       byte
}

func (a *automaton) add(text string, p pattern) {
	if len(a.nodes) == 0 {
		a.nodes = []acNode{{}}
	}
	p.length = int32(len(text))  //nolint:gosec // values are far shorter
	id := int32(len(a.patterns)) //nolint:gosec // there are few
	a.patterns = append(a.patterns, p)
	at := int32(0)
	for i := range len(text) {
		next := a.child(at, text[i])
		if next == 0 {
			next = int32(len(a.nodes)) //nolint:gosec // values are far shorter
			a.nodes = append(a.nodes, acNode{next: a.nodes[at].child, of: id, depth: int32(i) + 1, label: text[i]})
			if at == 0 {
				a.nodes[next].next = 0
				a.first[text[i]] = next
			} else {
				a.nodes[at].child = next
			}
		}
		at = next
	}
	if a.nodes[at].found == 0 {
		a.nodes[at].found = id + 1
	}
}

// child returns the child of a node for a byte, or the root if there is none.
func (a *automaton) child(at int32, c byte) int32 {
	if at == 0 {
		return a.first[c]
	}
	n := a.nodes[at].child
	for n != 0 && a.nodes[n].label != c {
		n = a.nodes[n].next
	}
	return n
}

// step returns the node after a byte.
func (a *automaton) step(at int32, c byte) int32 {
	for at != 0 {
		if n := a.child(at, c); n != 0 {
			return n
		}
		at = a.nodes[at].fail
	}
	return a.first[c]
}

// build completes the automaton after all patterns are added.
func (a *automaton) build() {
	var queue []int32
	for _, n := range a.first {
		if n != 0 {
			queue = append(queue, n)
		}
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for n := a.nodes[at].child; n != 0; n = a.nodes[n].next {
			fail := a.step(a.nodes[at].fail, a.nodes[n].label)
			a.nodes[n].fail = fail
			queue = append(queue, n)
		}
		if a.nodes[at].found == 0 {
			a.nodes[at].found = a.nodes[a.nodes[at].fail].found
		}
	}
}

// find calls found for the longest pattern that ends at each byte of a text, whose
// bytes are replaced by the alphabet's. It returns the last node.
func (a *automaton) find(text string, alphabet *[256]byte, found func(start, end int, of pattern)) int32 {
	at := int32(0)
	for i := range len(text) {
		c := alphabet[text[i]]
		if at == 0 {
			at = a.first[c]
		} else {
			at = a.step(at, c)
		}
		if at == 0 {
			continue
		}
		if f := a.nodes[at].found; f != 0 {
			p := a.patterns[f-1]
			found(i+1-int(p.length), i+1, p)
		}
	}
	return at
}

// sameAlphabet keeps bytes; standardAlphabet replaces the two characters of base64
// that differ in URLs.
//
//nolint:gochecknoglobals // tables
var sameAlphabet, standardAlphabet = func() (same, standard [256]byte) {
	for c := range same {
		same[c], standard[c] = byte(c), byte(c)
	}
	standard['-'], standard['_'] = '+', '/'
	return same, standard
}()

//nolint:gochecknoglobals // tables
var (
	// isAlnum are ASCII letters and digits, isWord these and the underscore.
	isAlnum = charset("", true)
	isWord  = charset("_", true)
	// isBase64 are the characters of both alphabets, without padding.
	isBase64 = charset("+/-_", true)
	isDigit  = charset("0123456789", false)
	isHex    = charset("0123456789abcdefABCDEF", false)
)

// charset returns a set of bytes: those given, and ASCII letters and digits if asked
// for.
func charset(bytes string, alnum bool) *[256]bool {
	var set [256]bool
	for i := range len(bytes) {
		set[bytes[i]] = true
	}
	for c := 0; c < 256 && alnum; c++ {
		set[c] = set[c] || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return &set
}
