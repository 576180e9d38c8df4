package app

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// legacyCall calls a tool in a new legacy session and returns the answer.
func (h *testHouse) legacyCall(tool string) string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.base+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + h.token}, "Content-Type": {"application/json"}}
	resp, err := h.http.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	_, text := h.request(http.MethodPost, "/mcp",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q}}`, tool),
		http.Header{"Mcp-Session-Id": {resp.Header.Get("Mcp-Session-Id")}})
	return text
}

// Every edge answers in the configured language. A reload changes it. The log stays
// English.
func TestLanguageFollowsTheConfiguration(t *testing.T) {
	t.Parallel()
	named := conf{"one": child(t), "gone": conf{"command": "no-such-command-anywhere"}}
	h := openHouse(t, conf{"mcpServers": named})
	h.waitReady("one")
	testkit.Eventually(t, func() bool { return h.server("gone").State == "down" }, "the other is down")

	modern := func() string {
		answer, err := h.mcp("tools/call", "one__nothing", `"arguments":{},`)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	rest := func(method, path, body string, header http.Header) func() string {
		return func() string {
			_, text := h.request(method, path, body, header)
			return text
		}
	}
	nobody := http.Header{"Authorization": nil}
	modernList := func(path string) func() string {
		return rest(http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}})
	}
	h.mustCall("create_item", `{"type":"notes","title":"玄関"}`)
	places := map[string]struct {
		ask               func() string
		english, japanese string
	}{
		"an unknown tool, modern": {
			modern,
			"Unknown tool: one__nothing. tools/list names the tools there are",
			"不明なツールです：one__nothing。使えるツールは tools/list で確認できます",
		},
		"an unknown tool, legacy": {
			func() string { return h.legacyCall("one__nothing") },
			"Unknown tool: one__nothing. tools/list names the tools there are",
			"不明なツールです：one__nothing。使えるツールは tools/list で確認できます",
		},
		"an error in the history": {
			func() string {
				_ = modern()
				return rest(http.MethodGet, "/v1/calls?limit=1&outcome=not_found", "", nil)()
			},
			"Unknown tool: one__nothing. tools/list names the tools there are",
			"不明なツールです：one__nothing。使えるツールは tools/list で確認できます",
		},
		"a message that is none": {
			rest(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"id":2}`, nil),
			`a key stands twice: \"id\" (at byte 24)`,
			`キーが重複しています：\"id\"（24 バイト目）`,
		},
		"a method that is none": {
			rest(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{`+modernMeta+`}}}`,
				http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"ping"}}),
			`"code":-32601,"message":"Method not found: ping"`,
			`"code":-32601,"message":"メソッドが見つかりません：ping"`,
		},
		"a session that is none": {
			rest(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil),
			"the Mcp-Session-Id header is missing", "Mcp-Session-Id ヘッダーがありません",
		},
		"a tool that REST does not find": {
			rest(http.MethodGet, "/v1/tools/nothing", "", nil),
			"Tool not found: nothing", "ツールが見つかりません：nothing",
		},
		"a server that REST does not find": {
			rest(http.MethodGet, "/v1/servers/nobody", "", nil),
			`there is no server \"nobody\"`, `サーバー「nobody」はありません`,
		},
		"a body that REST does not take": {
			rest(http.MethodPost, "/v1/tools/call", `{"nam":1}`, nil),
			`Validation failed: nam is unknown; did you mean name? There are`,
			`入力が正しくありません。nam は不明な項目です。もしかして name ですか`,
		},
		"a path that is none": {
			rest(http.MethodGet, "/nowhere", "", nil),
			"there is nothing here; /v1/docs tells", "ここには何もありません",
		},
		"nobody": {
			rest(http.MethodGet, "/v1/tools", "", nobody),
			"a token is needed", "トークンが必要です",
		},
		"somebody unknown": {
			rest(http.MethodGet, "/v1/tools", "", http.Header{"Authorization": {"Bearer x"}}),
			"the token is not known here", "トークンが登録されていないか",
		},
		"a tool of the knowledge base, listed": {
			modernList("/mcp/s/kb"), "Create a new item", "新しいアイテム（ノード）を作成",
		},
		"an argument of it": {
			modernList("/mcp"), "Title, 1 to 200 characters", "タイトル（1〜200 文字）",
		},
		"a tool of search mode": {
			modernList("/mcp?mode=search"), "Find tools of the connected servers", "接続しているサーバー",
		},
		"the instructions": {
			func() string { return h.instructionsAt("/mcp") }, "Types in use: notes (1).", "使われているタイプ：notes（1）。",
		},
		"an example of a tool": {
			rest(http.MethodGet, "/v1/tools/create_item", "", nil), "Remember a decision", "決定を覚えておく",
		},
		"an item that is not there": {
			rest(http.MethodGet, "/v1/items/docs-9", "", nil),
			"No item has the type docs. Types in use: notes (1)", "種類 docs の項目はありません。使われている種類：notes（1）",
		},
		"a wrong argument of a tool": {
			func() string {
				answer, err := h.mcp("tools/call", "create_item", `"arguments":{"type":"notes","title":""},`)
				if err != nil {
					t.Fatal(err)
				}
				return answer
			},
			"Validation failed: title: Title is required and must not be empty", "Validation failed: title: タイトルを入力してください",
		},
		"a server that is down": {
			rest(http.MethodGet, "/v1/servers/gone", "", nil),
			`its command \"no-such-command-anywhere\" was not found`,
			`コマンド「no-such-command-anywhere」が見つかりません`,
		},
	}
	check := func(language string) {
		for name, place := range places {
			want := place.english
			if language == "ja" {
				want = place.japanese
			}
			if got := place.ask(); !strings.Contains(got, want) {
				t.Errorf("in %s, %s is told %s\nwant %s", language, name, got, want)
			}
		}
	}
	check("en")
	h.reload(conf{"lang": "ja", "mcpServers": named})
	check("ja")
	for line := range strings.Lines(h.log.String()) {
		// What a tool of the knowledge base has answered is in its reader's language.
		if strings.Contains(line, `"server":"kb"`) {
			continue
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r >= 'ぁ' && r <= 'ヿ' }) {
			t.Errorf("the log is not English: %s", line)
		}
	}
	h.reload(conf{"mcpServers": named})
	check("en")
	// A new type is told to the next client.
	h.mustCall("create_item", `{"type":"docs","title":"d"}`)
	if got := h.instructionsAt("/mcp"); !strings.Contains(got, "Types in use: docs (1), notes (1).") {
		t.Errorf("the next client is told %s", got)
	}
}

// An error that a server answered with is the server's: it passes untouched.
func TestAServersOwnErrorIsNotTranslated(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{"lang": "ja", "mcpServers": conf{"one": child(t)}})
	h.waitReady("one")
	own := `{"code":-32000,"message":"the call was canceled","data":{"n":1e400}}`
	answer, err := h.mcp("tools/call", "one__raw", fmt.Sprintf(`"arguments":{"error_json":%q},`, own))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(answer, own) {
		t.Errorf("it was changed: %s", answer)
	}
}

// follow opens a stream of events about calls and returns the event that reports the end of
// a call.
func (h *testHouse) follow(query string, accept string) func() string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.base+"/v1/events?topics=calls"+query, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + h.token}, "Accept-Language": {accept}}
	resp, err := h.http.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() string {
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"outcome"`) {
				return lines.Text()
			}
		}
		return fmt.Sprint("the stream ended: ", lines.Err())
	}
}

// Events, traces and errors of the knowledge base are in the language of who reads them,
// whatever that of the configuration is. Over MCP errors of the knowledge base keep the
// words of its protocol.
func TestLanguageFollowsTheReader(t *testing.T) {
	t.Parallel()
	for _, configured := range []string{"en", "ja"} {
		h := openHouse(t, conf{"lang": configured, "mcpServers": conf{"one": child(t)}})
		h.waitReady("one")
		const english, japanese = "Unknown tool: one__nothing", "不明なツールです：one__nothing"
		readers := map[string]func() string{english: h.follow("&lang=en", "ja"), japanese: h.follow("&lang=ja", "en")}
		h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__nothing"}`, nil)
		for want, read := range readers {
			if got := read(); !strings.Contains(got, want) {
				t.Errorf("lang: %s: no %q in %s", configured, want, got)
			}
		}
		byHeader := h.follow("", "ja")
		h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__nothing"}`, nil)
		if got := byHeader(); !strings.Contains(got, japanese) {
			t.Errorf("lang: %s: no %q in %s", configured, japanese, got)
		}
		if status, text := h.request(http.MethodGet, "/v1/events?lang=fr", "", nil); status != http.StatusBadRequest || !strings.Contains(text, `"lang"`) {
			t.Errorf("%d %s", status, text)
		}

		if configured == "en" { // the knowledge base says what it is in the language of the configuration
			if _, got := h.request(http.MethodGet, "/v1/servers", "", http.Header{"Accept-Language": {"ja"}}); !strings.Contains(got, "全文検索") {
				t.Error(got)
			}
		}
		h.use("wrong", `{"tools":["one__echo"]}`, `return {action: "respond"}`, "")
		h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"a"}}`, nil)
		calls := h.recorded(everything)
		id := calls[len(calls)-1].ID
		for language, want := range map[string]string{"en": `the script returned action \"respond\" without a response`, "ja": "スクリプトが action"} {
			_, got := h.request(http.MethodGet, "/v1/calls/"+id, "", http.Header{"Accept-Language": {language}})
			_, steps, _ := strings.Cut(got, `"workflows"`)
			if !strings.Contains(steps, want) {
				t.Errorf("lang: %s: no %q in %s", configured, want, got)
			}
		}

		for language, want := range map[string]string{
			"en": "Validation failed: title: Title is required and must not be empty",
			"ja": "入力が正しくありません。title: タイトルを入力",
		} {
			_, got := h.request(http.MethodPost, "/v1/items", `{"type":"notes","title":""}`, http.Header{"Accept-Language": {language}})
			if !strings.Contains(got, want) {
				t.Errorf("lang: %s: no %q in %s", configured, want, got)
			}
		}
		if got, err := h.call("create_item", `{"type":"notes","title":""}`); err == nil || !strings.Contains(err.Error(), "Validation failed: title: ") {
			t.Errorf("lang: %s: %s %v", configured, got, err)
		}
	}
}
