package lang

import (
	"fmt"
	"testing"

	"genkan/internal/gateway"
)

// What was kept in English is said in Japanese, if it was made of a format.
func TestKeptTexts(t *testing.T) {
	inner := gateway.Textf("workflow %q refused this call: %s. It was not sent. Do not send it again unchanged: tell the user, who can have the workflow changed", "guard", "no: never")
	for name, text := range map[string]gateway.Text{
		"without values": gateway.Textf("the tool reported an error"),
		"with a value":   gateway.Textf("the server answered with error %s", "-32000"),
		"the longest":    gateway.Textf("the server answered with error %s: %s", "-32000", "it is down"),
		"quoted":         inner,
		"within another": gateway.Textf("Tool execution failed: %s: %s", "notes__read", inner),
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := Japanese.Kept(text.String()), Japanese.Text(text); got != want || want == text.String() {
				t.Errorf("%q became %q, want %q", text, got, want)
			}
			if got := English.Kept(text.String()); got != text.String() {
				t.Errorf("in English it is %q", got)
			}
		})
	}
	for text, want := range map[string]string{
		"the input is not valid: message is required":                 "入力が正しくありません：message は必須です",
		"the input is not valid: a is required; b has the wrong type": "入力が正しくありません：a は必須です。b の型が違います",
		"line 1, column 1: the script ran longer than 1s":             "1 行 1 列：スクリプトが制限時間（1 秒）を超えました",
		"line 1, column 7: Error: わざと失敗":                              "1 行 7 列：エラー：わざと失敗",
		"no such key: nothing":                                        "「nothing」というキーはありません",
		"error parsing regexp: missing closing ]: `[a`":               "正規表現「[a」が正しくありません。[ が閉じられていません",
		"type conversion error from 'string' to 'int'":                "string 型の値を int 型に変換できません",
	} {
		if got := Japanese.Kept(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for _, others := range []string{"", "Error: it is down", "x", "No such file or directory", "the disk is full", "3s", "100% of it: a", "ValidationError: title"} {
		if got := Japanese.Kept(others); got != others {
			t.Errorf("%q of others became %q", others, got)
		}
	}
}

// A text that is made of such a format is recognized: as that format, or as one that has
// more of its words.
func TestEveryFormatIsFound(t *testing.T) {
	for _, p := range patterns() {
		values := make([]any, len(p.verbs))
		for i, verb := range p.verbs {
			switch verb {
			case 's', 'q', 'v':
				values[i] = fmt.Sprintf("v%d", i)
			case 'd':
				values[i] = i + 10
			default:
				values[i] = float64(i)
			}
		}
		text := fmt.Sprintf(p.format, values...)
		if got := Japanese.Kept(text); got == text {
			t.Errorf("%q, made of %q, is not found", text, p.format)
		}
	}
}

func BenchmarkKept(b *testing.B) {
	for b.Loop() {
		Japanese.Kept("the words of a server that nobody has translated: it has no such table")
	}
}
