// Package corpus makes up the documents that the knowledge base is measured
// with: sentences of hand-written templates and words, common ones often and rare
// ones seldom, as in real texts, with many made-up rare words so that the
// vocabulary grows with it. Document i is always the same.
package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Version changes with every change of what is made, so that what was kept of an
// earlier one is not used again.
const Version = 1

// Document is one made-up item.
type Document struct {
	Type, Status, Title, Description, Content string
	Tags                                      []string
	Updated                                   int64 // Unix milliseconds
}

// Size is how long its texts are.
func (d *Document) Size() int {
	n := len(d.Title) + len(d.Description) + len(d.Content)
	for _, t := range d.Tags {
		n += len(t)
	}
	return n
}

// Writer makes up texts.
type Writer struct{ *rand.Rand }

// zipf picks a number below n, small ones far more often.
func (w Writer) zipf(n int) int { return min(n-1, int(math.Exp(w.Float64()*math.Log(float64(n)+1)))-1) }

// Of picks a word of a list, the first ones most often.
func (w Writer) Of(list []string) string { return list[w.zipf(len(list))] }

// RareWord makes the k-th rare word, always the same.
func RareWord(k int) string {
	r := rand.New(rand.NewPCG(uint64(k), 11))
	var b strings.Builder
	for range 2 + r.IntN(3) {
		b.WriteString(syllables[r.IntN(len(syllables))])
	}
	return b.String() + string(rune('a'+r.IntN(26)))
}

func rareJapanese(k int) string {
	r := rand.New(rand.NewPCG(uint64(k), 12))
	runes, n := rareRunes, 2+r.IntN(2)
	if k%3 == 0 {
		runes, n = kanaRunes, 3+r.IntN(4)
	}
	word := make([]rune, n)
	for i := range word {
		word[i] = runes[r.IntN(len(runes))]
	}
	return string(word)
}

func (w Writer) noun() string {
	if w.IntN(12) == 0 {
		return RareWord(w.zipf(60_000))
	}
	return w.Of(EnglishNouns)
}

func (w Writer) 名詞() string {
	switch w.IntN(16) {
	case 0, 1:
		return rareJapanese(w.zipf(60_000))
	case 2:
		return w.Of(MixedNouns)
	}
	return w.Of(JapaneseNouns)
}

func (w Writer) english() string {
	n, v, a := w.noun, func() string { return w.Of(englishVerbs) }, func() string { return w.Of(englishAdjectives) }
	switch w.IntN(7) {
	case 0:
		return fmt.Sprintf("The %s %s can %s the %s before the %s is %s. ", a(), n(), v(), n(), n(), a())
	case 1:
		return fmt.Sprintf("When a %s fails to %s, %s the %s and %s it again. ", n(), v(), v(), n(), v())
	case 2:
		return fmt.Sprintf("We decided to %s every %s %s of the %s. ", v(), a(), n(), n())
	case 3:
		return fmt.Sprintf("%ss and %ss are kept in the %s; %s ones are removed after %d days. ", n(), n(), n(), a(), w.IntN(90))
	case 4:
		return fmt.Sprintf("To %s the %s, open the %s and look for %s. ", v(), n(), n(), n())
	case 5:
		return fmt.Sprintf("%sing the %s costs %d ms, which is too much for a %s %s. ", v(), n(), w.IntN(5000), a(), n())
	}
	return fmt.Sprintf("See %s %d: the %s was %s. ", n(), w.IntN(100_000), n(), a())
}

func (w Writer) 日本語() string {
	n, e := w.名詞, func() string { return w.Of(japaneseEnds) }
	switch w.IntN(8) {
	case 0:
		return fmt.Sprintf("%sの%sを%s%sときは、%sを見直す。", n(), n(), n(), e(), n())
	case 1:
		return fmt.Sprintf("%sが%sになったため、%sと%sを%s。", n(), n(), n(), n(), e())
	case 2:
		return fmt.Sprintf("この%sでは、%sの%sについて説明する。", n(), n(), n())
	case 3:
		return fmt.Sprintf("%sは%sに%sを%s。", n(), n(), n(), e())
	case 4:
		return fmt.Sprintf("%d件の%sのうち、%sが必要なものは%sで%s。", w.IntN(2000), n(), n(), n(), e())
	case 5:
		return fmt.Sprintf("%sから%sへの移行は、%sの後に%s。", n(), n(), n(), e())
	case 6:
		return fmt.Sprintf("なお、%sの%sは%sの%sと同じである。", n(), n(), n(), n())
	}
	return fmt.Sprintf("%s・%s・%sを%sにまとめた。", n(), n(), n(), n())
}

// Made makes document i (from 0), about a kilobyte long; 45 % are Japanese, 40 %
// English, 15 % both.
func Made(i int) Document {
	w := Writer{rand.New(rand.NewPCG(uint64(i), 10))}
	d := Document{
		Type: types[w.IntN(len(types))], Status: statuses[w.IntN(len(statuses))],
		Updated: 1_700_000_000_000 + int64(w.IntN(40_000_000))*1000,
	}
	for range w.IntN(4) {
		d.Tags = append(d.Tags, tagNames[w.zipf(len(tagNames))])
	}
	want := 300 + w.IntN(1300)
	sentence := w.日本語
	switch kind := w.IntN(100); {
	case kind < 45:
		d.Title = w.名詞() + "の" + w.名詞()
		d.Description = w.日本語()
	case kind < 85:
		sentence = w.english
		d.Title = strings.ToUpper(w.noun()[:1]) + w.noun() + " " + w.Of(englishVerbs) + " " + w.noun()
		d.Description = w.english()
	default:
		sentence = func() string {
			if w.IntN(2) == 0 {
				return w.english()
			}
			return w.日本語()
		}
		d.Title = w.Of(MixedNouns) + "の" + w.名詞() + " (" + w.noun() + ")"
		d.Description = w.日本語() + w.english()
	}
	var b strings.Builder
	for b.Len() < want {
		b.WriteString(sentence())
	}
	d.Content = b.String()
	return d
}
