package lang

import (
	"fmt"
	"strings"
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
		"the input is not valid: message is required":                                                     "入力が正しくありません。message は必須です",
		"the input is not valid: a is required; b has the wrong type":                                     "入力が正しくありません。a は必須です。b の型が違います",
		"line 1, column 1: the script ran longer than 1s":                                                 "1 行目の 1 文字目：スクリプトが制限時間（1 秒）を超えました",
		"client ann made more than 10 requests in 2m; try again in 1m30s":                                 "クライアント「ann」のリクエストが 2 分間に 10 回を超えました。1 分 30 秒後にもう一度試してください",
		"client ann made more than 10 requests in 2m0s; try again in 5s":                                  "クライアント「ann」のリクエストが 2 分間に 10 回を超えました。5 秒後にもう一度試してください",
		"line 1, column 38: TypeError: Object has no member 'replce'":                                     "1 行目の 38 文字目：「replce」というメソッドやプロパティはありません（TypeError）",
		"line 1, column 8: TypeError: Cannot read property 'x' of undefined or null":                      "1 行目の 8 文字目：undefined や null の「x」は読み取れません（TypeError）",
		"line 2, column 1: ReferenceError: foo is not defined":                                            "2 行目の 1 文字目：「foo」は定義されていません（ReferenceError）",
		"line 1, column 14: TypeError: Assignment to constant variable.":                                  "1 行目の 14 文字目：const の変数には代入できません（TypeError）",
		"line 1, column 6: SyntaxError: invalid character 'a' looking for beginning of value":             "1 行目の 6 文字目：JSON の値が必要なところに文字 'a' があります（SyntaxError）",
		"line 1, column 6: SyntaxError: invalid character '2' after object key":                           "1 行目の 6 文字目：JSON の区切り（, や :）が必要なところに文字 '2' があります（SyntaxError）",
		"line 1, column 6: SyntaxError: invalid character '}' looking for beginning of object key string": "1 行目の 6 文字目：JSON のキーが必要なところに文字 '}' があります（SyntaxError）",
		"line 1, column 6: SyntaxError: invalid character 'x' in literal true (expecting 'r')":            "1 行目の 6 文字目：JSON のこの場所に文字 'x' は書けません（SyntaxError）",
		"line 1, column 6: SyntaxError: invalid character 'a'":                                            "1 行目の 6 文字目：JSON のこの場所に文字 'a' は書けません（SyntaxError）",
		"line 1, column 6: SyntaxError: Unexpected end of JSON input (EOF)":                               "1 行目の 6 文字目：JSON が途中で終わっています（SyntaxError）",
		"line 1, column 7: TypeError: mine":                                                               "1 行目の 7 文字目：TypeError: mine",
		"line 1, column 7: Error: わざと失敗":                                                                  "1 行目の 7 文字目：わざと失敗",
		`workflow "w" failed at its node "Script (hook)", so the answer to this call is withheld. The call was carried out, so do not repeat it. Tell the user, who can have the workflow mended`: "ワークフロー「w」がノード「スクリプト（hook）」で失敗したため、この呼び出しの結果は差し止められました。呼び出しは実行済みです。繰り返さないでください。ユーザーに伝えてください。ワークフローの修正を依頼できます",
		`workflow "w" failed at its node "Redact (mail)", so the answer to this call is withheld. The call was carried out, so do not repeat it. Tell the user, who can have the workflow mended`: "ワークフロー「w」がノード「Redact (mail)」で失敗したため、この呼び出しの結果は差し止められました。呼び出しは実行済みです。繰り返さないでください。ユーザーに伝えてください。ワークフローの修正を依頼できます",
		"no such key: nothing":                          "「nothing」というキーはありません",
		"error parsing regexp: missing closing ]: `[a`": "正規表現「[a」が正しくありません。[ が閉じられていません",
		"type conversion error from 'string' to 'int'":  "string 型の値を int 型に変換できません",
	} {
		if got := Japanese.Kept(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for _, others := range []string{
		"", "Error: it is down", "x", "No such file or directory", "the disk is full", "3s", "100% of it: a", "ValidationError: title",
		"TypeError: Assignment to constant variable.", "ReferenceError: fs is not defined", "TypeError: Object has no member 'x'",
	} {
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

// What Genkan's own functions throw is recognized without a place, too.
func TestWhatFunctionsThrow(t *testing.T) {
	const text = "not run, because a trial sends nothing; what would come of it is not known"
	if got, want := Japanese.Kept("Error: "+text), Japanese.Sprintf(text); got != want || got == text {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Japanese.Kept("Error: of a server"); got != "Error: of a server" {
		t.Errorf("got %q", got)
	}
}

// What the engine of scripts throws is recognized behind its place, and nowhere else.
func TestWhatScriptsThrow(t *testing.T) {
	for format, want := range jaThrown {
		thrown := strings.ReplaceAll(format, "%s", "1 x")
		want = "1 行目の 2 文字目：" + strings.ReplaceAll(strings.ReplaceAll(want, "%[1]s", "1 x"), "%s", "1 x")
		if got := Japanese.Kept("line 1, column 2: " + thrown); got != want {
			t.Errorf("%q became %q, want %q", thrown, got, want)
		}
		if got := Japanese.Text(gateway.Textf("line %d, column %d: %s", 1, 2, gateway.Text{Format: thrown})); got != want {
			t.Errorf("the text %q became %q, want %q", thrown, got, want)
		}
		if got := Japanese.Kept("the server answered with error -32000: " + thrown); !strings.HasSuffix(got, thrown) {
			t.Errorf("%q of a server became %q", thrown, got)
		}
	}
}

func BenchmarkKept(b *testing.B) {
	for b.Loop() {
		Japanese.Kept("the words of a server that nobody has translated: it has no such table")
	}
}
