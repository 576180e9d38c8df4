package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words splits a text into lower-case words: at everything that is neither
// letter nor digit, between the parts of camelCase, and between letters and
// digits. Scripts that write without spaces come as pairs of characters.
func words(text string, emit func(word string)) {
	parts(text, emit, func(run []rune) { pairs(run, emit) })
}

// parts splits a text as words does, and passes each run that is written without spaces
// to unspaced.
func parts(text string, emit func(word string), unspaced func(run []rune)) {
	var run []rune
	flush := func() {
		if len(run) > 0 {
			splitRun(run, emit)
			run = run[:0]
		}
	}
	var cjk []rune
	flushCJK := func() {
		unspaced(cjk)
		cjk = cjk[:0]
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case isCJK(r):
			flush()
			cjk = append(cjk, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			flushCJK()
			run = append(run, r)
		case r == '\'' || r == '’': // of "don't" and "user's" the apostrophe is no boundary
			flushCJK()
		default:
			flush()
			flushCJK()
		}
	}
	flush()
	flushCJK()
}

// splitRun splits what stands together: camelCase, HTTPServer, base64.
func splitRun(run []rune, emit func(string)) {
	start := 0
	for i := 1; i < len(run); i++ {
		before, at := run[i-1], run[i]
		var next rune
		if i+1 < len(run) {
			next = run[i+1]
		}
		boundary := unicode.IsLower(before) && unicode.IsUpper(at) ||
			unicode.IsUpper(before) && unicode.IsUpper(at) && unicode.IsLower(next) ||
			unicode.IsDigit(before) != unicode.IsDigit(at)
		if boundary {
			emit(lower(run[start:i]))
			start = i
		}
	}
	emit(lower(run[start:]))
}

// lower is a word in lower case. Most words are short and of plain letters.
func lower(run []rune) string {
	var plain [24]byte
	if len(run) > len(plain) {
		return strings.ToLower(string(run))
	}
	for i, r := range run {
		switch {
		case r >= utf8.RuneSelf:
			return strings.ToLower(string(run))
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		}
		plain[i] = byte(r) //nolint:gosec // it is less than RuneSelf
	}
	return string(plain[:len(run)])
}

// pairs emits the overlapping pairs of a run, or its only character. Katakana become
// hiragana, because input methods offer both: めも finds メモ.
func pairs(run []rune, emit func(string)) {
	if len(run) == 1 {
		emit(string(hiragana(run[0])))
	}
	for i := 0; i+1 < len(run); i++ {
		emit(string([]rune{hiragana(run[i]), hiragana(run[i+1])}))
	}
}

// pieces emits what is looked for of a run of a query: pairs, but of kana three in a
// row where there are three, because two letters of a longer word of kana are in
// words that have nothing else in common with it.
func pieces(run []rune, pair, three func(string)) {
	if len(run) == 1 {
		pairs(run, pair)
	}
	kana := func(i int) bool { return i >= 0 && i < len(run) && isKana(run[i]) }
	for i := range len(run) - 1 {
		switch {
		case kana(i) && kana(i+1) && kana(i+2):
			three(strings.Map(hiragana, string(run[i:i+3])))
		case kana(i-1) && kana(i) && kana(i+1): // in the three before
		default:
			pairs(run[i:i+2], pair)
		}
	}
}

func isKana(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) || r == 'ー' }

// toKatakana is the distance from a letter of hiragana to that of katakana.
const toKatakana = 'ァ' - 'ぁ'

func hiragana(r rune) rune {
	if r >= 'ァ' && r <= 'ヶ' {
		return r - toKatakana
	}
	return r
}

func katakana(r rune) rune {
	if r >= 'ぁ' && r <= 'ゖ' {
		return r + toKatakana
	}
	return r
}

// firstThai is the first letter of these scripts; most texts have only others.
const firstThai = '\u0E01'

// isCJK tells the scripts that write without spaces.
func isCJK(r rune) bool {
	return r >= firstThai && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) || r == 'ー' || r == '々')
}

// stopWords say nothing about a tool. Verbs that name what tools do are none. Japanese
// ones are of three letters, as pieces makes them.
//
//nolint:gochecknoglobals // a table, built once
var stopWords = setOf(`a an the this that these those of to in on at by for from with without into onto and or nor but
as is are was were be been being am do does did done doing have has had having will would shall should can could may might must
i me my mine we us our you your yours he she it its they them their who whom which what when where why how
there here all any some such no not only own same so than too very just also then please want need needs let lets
about above below between during before after again further once each both few more most other per via using use used uses
if else while until because against tell give me show whether like etc e g ie eg s t
しない しなく しまし します したい してい しなが ました ません ている ていま ておく います いない でいる てくだ くださ ださい される されて されま されな できる できま できな きない なかっ かった でした ですか ますか たいで
として につい ついて ための という とする にする`)

func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
