package corpus

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// Relations is how many relations each document has to earlier ones; the first
// ones have fewer.
const Relations = 5

// Related are the earlier documents that document i is related to, in order.
// Which ones is left to chance, the hardest case: what is near is anywhere.
func Related(i int) []int {
	r := rand.New(rand.NewPCG(uint64(i), 13))
	var list []int
	for want := min(i, Relations); len(list) < want; {
		if other := r.IntN(i); !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	slices.Sort(list)
	return list
}

// Query is what somebody looks for.
type Query struct {
	Text string
	// Types is the filter; empty but for class Filtered.
	Types []string
}

// Class is a sort of query.
type Class string

// The classes. But for phrases, words and runs are taken out of texts, so that they
// are asked for as often as they are written, "the" and の included.
const (
	Japanese1 Class = "Japanese, 1 character"
	Japanese2 Class = "Japanese, 2 characters"
	Japanese3 Class = "Japanese, 3 characters"
	Japanese5 Class = "Japanese, 5 characters"
	Phrase    Class = "Japanese phrase" // 名詞の名詞
	English1  Class = "English, 1 word"
	English2  Class = "English, 2 words" // of one text
	Prefix    Class = "English, prefix"  // three letters, as somebody types
	Slip      Class = "English, slip"    // a letter too much
	Filtered  Class = "one type only"    // a word or two characters, with a type
)

// Classes are all of them. A mix has equally many of each.
func Classes() []Class {
	return []Class{Japanese1, Japanese2, Japanese3, Japanese5, Phrase, English1, English2, Prefix, Slip, Filtered}
}

// Queries makes count queries of a class about the first documents of the corpus.
// Another seed gives others.
func Queries(class Class, count, documents int, seed uint64) []Query {
	h := fnv.New64a()
	_, _ = h.Write([]byte(class))
	a := asker{Writer{rand.New(rand.NewPCG(seed, h.Sum64()))}, documents}
	list := make([]Query, count)
	for i := range list {
		list[i] = a.ask(class)
	}
	return list
}

// Mix makes count queries, equally many of each class, shuffled.
func Mix(count, documents int, seed uint64) []Query {
	classes := Classes()
	var list []Query
	for _, class := range classes {
		list = append(list, Queries(class, (count+len(classes)-1)/len(classes), documents, seed)...)
	}
	r := rand.New(rand.NewPCG(seed, 14))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:count]
}

type asker struct {
	Writer
	documents int
}

func (a asker) ask(class Class) Query {
	switch class {
	case Japanese1:
		return Query{Text: a.run(1)}
	case Japanese2:
		return Query{Text: a.run(2)}
	case Japanese3:
		return Query{Text: a.run(3)}
	case Japanese5:
		return Query{Text: a.run(5)}
	case Phrase:
		return Query{Text: a.Of(JapaneseNouns) + "の" + a.Of(JapaneseNouns)}
	case English1:
		return Query{Text: a.words(1)[0] + " "} // the space ends the word
	case English2:
		return Query{Text: strings.Join(a.words(2), " ") + " "}
	case Prefix:
		for {
			if word := a.words(1)[0]; len(word) > 4 {
				return Query{Text: word[:3]}
			}
		}
	case Slip:
		for {
			if word := a.words(1)[0]; len(word) > 5 {
				at := 1 + a.IntN(len(word)-2)
				return Query{Text: word[:at] + "q" + word[at:] + " "}
			}
		}
	default:
		q := Query{Types: []string{types[a.IntN(len(types))]}}
		if a.IntN(2) == 0 {
			q.Text = a.run(2)
		} else {
			q.Text = a.words(1)[0] + " "
		}
		return q
	}
}

// run is n Japanese characters that stand together somewhere.
func (a asker) run(n int) string {
	for {
		runs := strings.FieldsFunc(Made(a.IntN(a.documents)).Content, func(r rune) bool { return !japanese(r) })
		if len(runs) == 0 {
			continue
		}
		if run := []rune(runs[a.IntN(len(runs))]); len(run) >= n {
			at := a.IntN(len(run) - n + 1)
			return string(run[at : at+n])
		}
	}
}

// words are n words of one text.
func (a asker) words(n int) []string {
	for {
		all := strings.FieldsFunc(strings.ToLower(Made(a.IntN(a.documents)).Content), func(r rune) bool { return r < 'a' || r > 'z' })
		if len(all) < 10*n { // a few Latin words in a Japanese text are none
			continue
		}
		list := make([]string, n)
		for i := range list {
			list[i] = all[a.IntN(len(all))]
		}
		return list
	}
}

// japanese leaves out half-width letters, whose full-width form is another
// character to whoever looks for a piece of the text as it stands.
func japanese(r rune) bool {
	return r < 0xff00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー')
}
