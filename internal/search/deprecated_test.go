package search_test

import (
	"testing"

	"genkan/internal/search"
)

// A description that says so of its own tool counts, and none that is about what
// else is deprecated.
func TestDeprecated(t *testing.T) {
	for _, text := range []string{
		"Deprecated", "DEPRECATED: Use read_text_file instead.", "deprecated - use other", "Deprecated, use X", "Deprecated. Use X.",
		"Deprecated alias of search.", "DEPRECATED tool for reading files", "Deprecated since 2.0", "**DEPRECATED** Reads a file", "⚠️ Deprecated: use x",
		"[deprecated] Reads a file", "[DEPRECATED] x", "(deprecated) Reads a file", "Reads a file. (Deprecated, use read_text)", "Reads a file [deprecated since 2.0]",
		"Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.", "Reads a file.\nDeprecated: use X", "Reads.\n@deprecated use X",
		"This tool is deprecated.", "Reads a file. This tool is now deprecated and will be removed", "Reads a file. It has been deprecated.",
		"old_search is deprecated.", "The v1 search is deprecated, use search_v2", "This endpoint was deprecated in favor of x", "Searching by id is deprecated; please use search",
		"非推奨", "【非推奨】ファイルを読みます", "[非推奨] ファイルを読む", "非推奨: read_text を使ってください", "ファイルを読みます（非推奨）", "ファイルを読みます。非推奨。", "このツールは非推奨です。",
		"read_file は非推奨です。read_text を使ってください", "この機能は現在非推奨となっています",
	} {
		if !search.Deprecated(text) {
			t.Errorf("deprecated, and not seen: %s", text)
		}
	}
	for _, text := range []string{
		"", "Reads a file.", "Lists deprecated APIs.", "Lists deprecated APIs of a project, use it before upgrading", "Deprecated APIs of a project", "Find deprecated functions in code",
		"Check if packages are deprecated", "Check if a package is deprecated.", "Tells whether an API is deprecated or not", "Returns packages (including deprecated ones)",
		"Search APIs, also deprecated. Use filters to narrow it down", "Include deprecated: true or false", "This parameter is deprecated. Defaults to false.", "It is not deprecated",
		"非推奨のAPIを一覧します", "APIが非推奨かどうかを調べます", "非推奨APIの検索",
	} {
		if search.Deprecated(text) {
			t.Errorf("not deprecated: %s", text)
		}
	}
}

// Of two tools that match alike the deprecated one comes last, and it is still
// found: by its name, and before what hardly matches.
func TestDeprecatedToolsRankLower(t *testing.T) {
	x := search.New(search.Server{Name: "files", Documents: []search.Document{
		{ID: "a_read", Name: "a_read", Description: "Reads the contents of a file", Deprecated: true},
		{ID: "b_read", Name: "b_read", Description: "Reads the contents of a file"},
		{ID: "list", Name: "list", Description: "Lists the entries of a folder with the size of each file"},
	}})
	ids := func(query string) (ids []string) {
		for _, h := range x.Search(search.Query{Text: query}).Hits {
			ids = append(ids, h.Document.ID)
			if h.Document.Deprecated != (h.Document.ID == "a_read") {
				t.Errorf("%s: deprecated %v", h.Document.ID, h.Document.Deprecated)
			}
		}
		return ids
	}
	if got := ids("read the contents of a file"); len(got) != 3 || got[0] != "b_read" || got[1] != "a_read" {
		t.Errorf("got %v", got)
	}
	if got := ids("a_read"); len(got) == 0 || got[0] != "a_read" {
		t.Errorf("by its name: %v", got)
	}
}
