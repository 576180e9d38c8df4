package redact

import (
	"encoding/base64"
	"strings"
)

const (
	// leastBase64 and leastHex are the lengths of the shortest runs that are decoded.
	leastBase64 = 20
	leastHex    = 12
	// maxEncoded bounds runs inside of runs.
	maxEncoded = 2
)

// findEncoded decodes the runs of a view that may be base64 or hexadecimal, and masks
// a run whose content has a secret.
func (p *pass) findEncoded(v view, depth int) {
	if p.encoded >= maxEncoded {
		return
	}
	p.encoded++
	defer func() { p.encoded-- }()
	s := v.text
	for i := 0; i < len(s); {
		if !isBase64[s[i]] {
			i++
			continue
		}
		start, allHex := i, true
		for i < len(s) && isBase64[s[i]] {
			allHex = allHex && isHex[s[i]]
			i++
		}
		if i-start >= leastHex && allHex {
			p.findHex(v, start, i)
		}
		// Base64 is often broken into lines of 64 or 76 characters.
		broken := i
		for i-start >= 60 && nextLine(s, &broken) {
			line := broken
			for broken < len(s) && isBase64[s[broken]] {
				broken++
			}
			if i = broken; broken-line < 60 {
				break
			}
		}
		if i-start >= leastBase64 && !allHex {
			p.findBase64(v, start, i, depth)
		}
	}
}

// nextLine moves i over a line break to base64.
func nextLine(s string, i *int) bool {
	j := *i
	if j < len(s) && s[j] == '\r' {
		j++
	}
	if j >= len(s) || s[j] != '\n' {
		return false
	}
	for j++; j < len(s) && (s[j] == ' ' || s[j] == '\t'); j++ {
	}
	if j >= len(s) || !isBase64[s[j]] {
		return false
	}
	*i = j
	return true
}

// findHex looks for known values and tokens in hexadecimal digits.
func (p *pass) findHex(v view, start, end int) {
	for odd := range 2 {
		raw := make([]byte, 0, (end-start)/2)
		for i := start + odd; i+1 < end; i += 2 {
			c, _ := hexByte(v.text, i)
			raw = append(raw, c)
		}
		if rule := p.firstKnown(string(raw)); rule != "" {
			p.add(v, start, end, rule, byValue)
			return
		}
		if isText(raw) {
			if rule, rank := p.inside(string(raw), maxDepth); rule != "" {
				p.add(v, start, end, rule, rank)
				return
			}
		}
	}
}

// firstKnown returns the rule of a known value in a text, or "".
func (p *pass) firstKnown(text string) (rule string) {
	if p.rules.known.empty() {
		return ""
	}
	p.findPlain(view{text: text}, func(_, _ int, of string) { rule = of })
	return rule
}

// findBase64 looks for secrets in a run of base64. The run may have other characters
// before it, such as a path, so all four alignments are tried.
func (p *pass) findBase64(v view, start, end int, depth int) {
	s := v.text
	if isImage(s[:start]) {
		return
	}
	stop := end
	for stop < len(s) && s[stop] == '=' && stop-end < 2 {
		stop++
	}
	run := make([]byte, 0, end-start)
	for i := start; i < end; i++ {
		if c := standardAlphabet[s[i]]; isBase64[c] {
			run = append(run, c)
		}
	}
	for skip := range 4 {
		aligned := run[min(skip, len(run)):]
		aligned = aligned[:len(aligned)-boolInt(len(aligned)%4 == 1)]
		const probe = 32 // decode a little first: most runs are words
		if !decodesToText(aligned[:min(len(aligned), probe)]) {
			continue
		}
		raw, err := base64.RawStdEncoding.DecodeString(string(aligned))
		if err != nil && len(raw) == 0 {
			continue
		}
		if rule, rank := p.inside(string(raw), depth); rule != "" {
			p.add(v, start, stop, rule, rank)
			return
		}
	}
	// A long value is not among the patterns for base64, and a broken line hides it.
	if p.rules.known.empty() {
		return
	}
	for skip := range 4 {
		aligned := run[min(skip, len(run)):]
		raw, _ := base64.RawStdEncoding.DecodeString(string(aligned[:len(aligned)-boolInt(len(aligned)%4 == 1)]))
		if rule := p.firstKnown(string(raw)); rule != "" {
			p.add(v, start, stop, rule, byValue)
			return
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func decodesToText(run []byte) bool {
	const shortest = 12
	raw := make([]byte, base64.RawStdEncoding.DecodedLen(len(run)))
	n, err := base64.RawStdEncoding.Decode(raw, run)
	return (err == nil || n >= shortest) && n >= shortest && isText(raw[:n])
}

// inside returns the rule with the highest rank that finds something in a decoded
// text.
func (p *pass) inside(text string, depth int) (rule string, rank int) {
	inner := &pass{rules: p.rules, keys: p.keys, encoded: p.encoded}
	inner.findMarks(text)
	inner.scan(view{text: text, quote: `"`}, max(depth+1, maxDepth-1))
	for _, s := range inner.found {
		if s.rank > rank {
			rule, rank = s.rule, s.rank
		}
	}
	return rule, rank
}

// isImage reports whether the text before a run says that it is an image, a sound or
// a font.
func isImage(before string) bool {
	const longest = 80
	before = before[max(0, len(before)-longest):]
	before, ok := strings.CutSuffix(before, ";base64,")
	if !ok {
		return false
	}
	i := strings.LastIndex(before, "data:")
	if i < 0 {
		return false
	}
	kind, _, _ := strings.Cut(before[i+len("data:"):], "/")
	switch kind {
	case "image", "audio", "video", "font":
		return true
	}
	return false
}
