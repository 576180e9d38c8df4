// Command compile makes the glossary of EDICT, the Japanese-English dictionary of
// the Electronic Dictionary Research and Development Group: the common words, and
// loans that are written as they sound, each with its first few
// meanings.
//
//	iconv -c -f EUC-JP -t UTF-8 edict | go run ./internal/search/glossary/compile > internal/search/glossary/edict.txt
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// mostMeanings of a word are kept: the first ones are the usual ones.
const mostMeanings = 5

// longestLoan keeps out what is put together from several words.
const longestLoan = 6

var (
	line      = regexp.MustCompile(`^(\S+?)(?: \[(\S+?)\])? /(.*)/$`)
	brackets  = regexp.MustCompile(`\([^)]*\)|\{[^}]*\}`)
	verbOne   = regexp.MustCompile(`\(v1[,)]`)
	verbFive  = regexp.MustCompile(`\(v5[a-z-]*[,)]`)
	katakana  = regexp.MustCompile(`^[\p{Katakana}ー]+$`)
	kanaOnly  = regexp.MustCompile(`\(uk\)`)
	plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z -]*$`)
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	words := map[string][]string{}
	add := func(surface string, meanings []string) {
		if n := len([]rune(surface)); n < 1 || n > 8 {
			return
		}
		for _, m := range meanings {
			if len(words[surface]) < mostMeanings && !slices.Contains(words[surface], m) {
				words[surface] = append(words[surface], m)
			}
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		found := meanings(m[3])
		// A word that is written as it sounds and means one thing is a loan.
		loan := katakana.MatchString(m[1]) && len(found) == 1 && len([]rune(m[1])) <= longestLoan
		if len(found) == 0 || !loan && !strings.Contains(m[3], "(P)") && !(katakana.MatchString(m[1]) && strings.Contains(m[3], "(comp)")) {
			continue
		}
		surfaces := []string{m[1]}
		if m[2] != "" && kanaOnly.MatchString(m[3]) {
			surfaces = append(surfaces, m[2])
		}
		for _, s := range surfaces {
			add(s, found)
			add(verbStem(s, m[3]), found)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	var sorted []string
	for s := range words {
		sorted = append(sorted, s)
	}
	slices.Sort(sorted)
	w := bufio.NewWriter(out)
	for _, s := range sorted {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", s, strings.Join(words[s], "/")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// verbStem is what all forms of a verb begin with, if it has something that is
// not only grammar.
func verbStem(surface, text string) string {
	runes := []rune(surface)
	if len(runes) < 2 || !verbOne.MatchString(text) && !verbFive.MatchString(text) {
		return ""
	}
	stem := runes[:len(runes)-1]
	for _, r := range stem {
		if r >= 0x4e00 && r <= 0x9fff {
			return string(stem)
		}
	}
	return ""
}

// meanings are the words of a translation that can be looked for.
func meanings(text string) []string {
	var found []string
	parts := strings.Split(text, "/")
	// What a word means among computers is what tools mean by it.
	slices.SortStableFunc(parts, func(a, b string) int {
		return strings.Count(b, "(comp)") - strings.Count(a, "(comp)")
	})
	for _, part := range parts {
		part = strings.TrimSpace(brackets.ReplaceAllString(part, ""))
		part = strings.TrimPrefix(part, "to ")
		part = strings.TrimPrefix(part, "be ")
		if plainWord.MatchString(part) && strings.Count(part, " ") < 2 {
			found = append(found, strings.ToLower(part))
		}
	}
	return found
}
