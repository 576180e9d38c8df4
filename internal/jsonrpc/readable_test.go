package jsonrpc

import "testing"

func TestReadable(t *testing.T) {
	for json, want := range map[string]string{
		`{"t":"\u691c\u7d22"}`:        `{"t":"検索"}`,
		`"\ud83d\ude00 \u00e9"`:       `"😀 é"`,
		`"\u0041\u0000\u001b\u2028"`:  `"\u0041\u0000\u001b\u2028"`,
		`"\\u691c \\\u691c"`:          `"\\u691c \\検"`,
		`"\ud83d" "\ud83dx" "\ude00"`: `"\ud83d" "\ud83dx" "\ude00"`,
		`"cut \u69`:                   `"cut \u69`,
		`plain`:                       `plain`,
		`"\"\u3042\""`:                `"\"あ\""`,
	} {
		if got := string(Readable([]byte(json))); got != want {
			t.Errorf("%s: got %s, want %s", json, got, want)
		}
	}
}
