package glossary

import (
	"fmt"
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
	if n := len(load()); n < 20_000 {
		t.Errorf("%d words", n)
	}
}
