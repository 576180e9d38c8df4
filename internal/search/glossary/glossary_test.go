package glossary

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// said shows the words of a text in brackets, each as a dictionary has it with its
// first meaning.
func said(text string) string {
	var list []string
	for _, w := range Words([]rune(text)) {
		list = append(list, fmt.Sprintf("%s=%s", w.Base, w.Meanings[0]))
	}
	return strings.Join(list, " ")
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"天気":          "天気=weather",
		"フォルダの内容":     "フォルダ=folder 内容=contents",
		"read a file": "",
		"":            "",
		"をにはが":        "",
		"足し算":         "足し算=addition",
		"一覧":          "一覧=list", // EDICT: look
		"環境変数":        "環境変数=environment variable",
		"スクリーンショット":   "スクリーンショット=screenshot",
		"API の一覧":     "一覧=list",
		"ファイルを読む":     "ファイル=file 読む=read",
		"読んで":         "読む=read",
		"読みます":        "読み=reading",
		"読めない":        "読む=read",
		"読もう":         "読む=read",
		"読み込んで":       "読み込む=read",
		"開いて":         "開く=open",
		"数を足して":       "数=number 足す=add", // and no foot
		"作って":         "作る=make",
		"送った":         "送る=send",
		"見せて":         "見せる=show",
		"つないで":        "つなぐ=connect",
		"調べて":         "調べる=look", // and no tune
		"小さくする":       "小さい=small",
		"テキストファイル":    "テキストファイル=text file",
		"ファイルパス":      "ファイル=file パス=path",
		"ログンダ":        "", // no log
		"フォルダーのブラウザー": "フォルダー=folder ブラウザー=browser",
		"カレンダの予定":     "カレンダー=calendar 予定=plans",
		"ファイルを消したいのですが…": "ファイル=file 消す=delete ですが=but",
	} {
		if got := said(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestWordsSayWhereTheyStand(t *testing.T) {
	got := Words([]rune("a 天気を読んで"))
	if len(got) != 2 || got[0].From != 2 || got[0].To != 4 || got[1].From != 5 || got[1].To != 7 {
		t.Errorf("%+v", got)
	}
}

// Every word is found, and none that is not there.
func TestLookup(t *testing.T) {
	for dictionary, least := range map[string]int{edict: 20_000, computing: 100} {
		lines := strings.Split(strings.TrimSuffix(dictionary, "\n"), "\n")
		words := make([]string, len(lines))
		for i, line := range lines {
			words[i], _, _ = strings.Cut(line, "\t")
		}
		if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) < max(least, len(words)) {
			t.Fatalf("%d lines, sorted: %t", len(lines), slices.IsSorted(words))
		}
		for i, line := range lines {
			if i%97 != 0 && i != len(lines)-1 {
				continue
			}
			_, want, _ := strings.Cut(line, "\t")
			first := string([]rune(words[i])[:1])
			if got, ok := (pages{dictionary}).of(first).lookup(words[i]); !ok || got != want {
				t.Errorf("%s: %q, want %q", words[i], got, want)
			}
			if n := len([]rune(words[i])); n > longest {
				t.Errorf("%s has %d characters", words[i], n)
			}
			if _, ok := lookup(dictionary, words[i]+"\x01"); ok {
				t.Errorf("%s is found with something behind it", words[i])
			}
		}
		for _, word := range []string{"", "\x00", "\U0010ffff"} {
			if got, ok := lookup(dictionary, word); ok {
				t.Errorf("%q means %q", word, got)
			}
		}
	}
}

// What computing has is not what edict has first: else it need not be there.
func TestComputingAdds(t *testing.T) {
	for line := range strings.Lines(computing) {
		word, meanings, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if known, ok := lookup(edict, word); ok && known == meanings {
			t.Errorf("%s means %s in edict.txt, too", word, meanings)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	text := []rune("フォルダの内容を一覧にして表示する")
	b.ReportAllocs()
	for b.Loop() {
		Words(text)
	}
}
