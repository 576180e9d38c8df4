package glossary

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMeanings(t *testing.T) {
	for text, want := range map[string]string{
		"天気":          "[[weather",
		"ファイルを開いて":    "[[file] [open",
		"フォルダの内容":     "[[folder] [",
		"read a file": "[]",
		"":            "[]",
		"をにはが":        "[]",
	} {
		if got := fmt.Sprint(Meanings(text)); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s means %s, want %s…", text, got, want)
		}
	}
}

// Every word is found, and none that is not there.
func TestLookup(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(edict, "\n"), "\n")
	if !slices.IsSorted(lines) || len(lines) < 20_000 {
		t.Fatalf("%d lines, sorted: %t", len(lines), slices.IsSorted(lines))
	}
	for i, line := range lines {
		if i%97 != 0 && i != len(lines)-1 {
			continue
		}
		word, want, _ := strings.Cut(line, "\t")
		if got, ok := lookup(word); !ok || got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
		if _, ok := lookup(word + "\x01"); ok {
			t.Errorf("%s is found with something behind it", word)
		}
	}
	for _, word := range []string{"", "\x00", "\U0010ffff"} {
		if got, ok := lookup(word); ok {
			t.Errorf("%q means %q", word, got)
		}
	}
}

func BenchmarkMeanings(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Meanings("フォルダの内容を一覧にして表示する")
	}
}
