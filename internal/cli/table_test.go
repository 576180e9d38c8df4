package cli

import (
	"bytes"
	"testing"

	"genkan/internal/api/client"
)

// Columns stand below one another on a terminal, where kana and kanji take two
// places.
func TestTableIsAlignedInBothLanguages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &command{std: Streams{Out: &out}}
	c.table([][]string{{"NAME", "SERVER", "問題"}, {"検索", "a", ""}, {"search", "サーバー", "なし"}})
	want := "NAME    SERVER    問題\n" +
		"検索    a\n" +
		"search  サーバー  なし\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// What stands in a file cannot move the cursor, hide itself or begin a line.
func TestTablesShowPlainText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &command{std: Streams{Out: &out}}
	c.table([][]string{{"a\x1b[2K\rb", "x\ny", "\u202eevil"}})
	if got, want := out.String(), `a\x1b[2K\rb  x\ny  \u202eevil`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of an answer people read the texts; what a terminal cannot show is named.
func TestAnswersAreReadable(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"type":"text","text":"hello"}`:                                                "hello\n",
		`{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}`:                     "(image/png, 5 bytes; --json shows them in base64)\n",
		`{"type":"audio","data":"aGVsbG8h"}`:                                            "(audio, 6 bytes; --json shows them in base64)\n",
		`{"type":"resource","resource":{"blob":"aGVsbG8=","mimeType":"application/x"}}`: "(application/x, 5 bytes; --json shows them in base64)\n",
		`{"type":"resource","resource":{"text":"hi"}}`:                                  "{\n  \"type\": \"resource\",\n  \"resource\": {\n    \"text\": \"hi\"\n  }\n}\n",
	} {
		var out bytes.Buffer
		c := &command{std: Streams{Out: &out}}
		if err := c.showResult(client.CallResult{Result: []byte(`{"content":[` + content + `]}`)}); err != nil || out.String() != want {
			t.Errorf("%s is shown as %q, %v", content, out.String(), err)
		}
	}
}

func TestEarlyFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"tools", "--lang", "ja"}, "ja"},
		{[]string{"--lang=ja", "tools"}, "ja"},
		{[]string{"--lang=ja", "--lang", "en"}, "en"},
		{[]string{"--lang"}, ""},
		{[]string{"call", "--", "--lang=ja"}, ""},
		{[]string{"--language=ja"}, ""},
	} {
		if got := early(tt.args, "lang"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.args, got, tt.want)
		}
	}
}

func TestTheProtocolOfAServer(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]client.Server{
		"stdio":                      {Transport: "stdio"},
		"2025-11-25 (legacy, stdio)": {ProtocolVersion: "2025-11-25", Era: "legacy", Transport: "stdio"},
		"2026-07-28 (modern, http) + 2025-11-25 (legacy)":  {ProtocolVersion: "2026-07-28", OtherProtocolVersion: "2025-11-25", Era: "modern", Transport: "http"},
		"2025-06-18 (legacy, stdio) + 2026-07-28 (modern)": {ProtocolVersion: "2025-06-18", OtherProtocolVersion: "2026-07-28", Era: "legacy", Transport: "stdio"},
	} {
		if got := protocolOf(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
