package search

import (
	"slices"
	"strings"
	"testing"
)

// bilingual is a house in which some tools are described in English, some in
// Japanese and some in both.
func bilingual() *Index {
	return New(
		Server{Name: "filesystem", Documents: []Document{
			{ID: "fs.read", Name: "read_text_file", Description: "Read the contents of a file as text."},
			{ID: "fs.old", Name: "read_file", Description: "Read the contents of a file as text.", Deprecated: true},
			{ID: "fs.write", Name: "write_file", Description: "Create a new file or overwrite an existing one."},
			{ID: "fs.list", Name: "list_directory", Description: "Get a listing of all files and directories in a path."},
			{ID: "fs.move", Name: "move_file", Description: "Move or rename files and directories."},
			{ID: "env", Name: "get-env", Description: "Returns all environment variables."},
			{ID: "sum", Name: "get-sum", Description: "Returns the sum of two numbers."},
		}},
		Server{Name: "flows", Documents: []Document{
			{ID: "f.file", Name: "create_workflow_from_file", Description: "Create a workflow from a JSON file. JSON ファイルからワークフローを作成します。"},
			{ID: "f.run", Name: "run_workflow", Description: "Run a workflow. ワークフローを実行します。"},
		}},
		Server{Name: "kanji", Documents: []Document{
			{ID: "k.post", Name: "tegami", Description: "手紙を書いて友達に送る。"},
			{ID: "k.zodiac", Name: "bazi", Description: "根据时间获取八字信息。"},
		}},
	)
}

func TestJapanese(t *testing.T) {
	x := bilingual()
	for query, want := range map[string]string{
		// Described in English.
		"足し算":          "sum",
		"数を足して":        "sum",
		"合計":           "sum",
		"ファイルを読む":      "fs.read",
		"ファイルを読んでください": "fs.read",
		"ﾌｧｲﾙを読み込む":    "fs.read",
		"ファイルに書き込みたい":  "fs.write",
		"ディレクトリーの一覧":   "fs.list",
		"フォルダの中身を一覧":   "fs.list",
		"環境変数":         "env",
		"ファイル名を変更したい":  "fs.move",
		"ファイルの名前を変える":  "fs.move",
		"フォルダの名称変更":    "fs.move",
		"名前を変えてください":   "fs.move",
		// In both languages.
		"ワークフローを実行":            "f.run",
		"ＪＳＯＮファイルからワークフローを作る":  "f.file",
		"JSON ファイルからワークフローを作成": "f.file",
		// In Japanese or Chinese.
		"手紙を送って": "k.post",
		"友達":     "k.post",
		"八字":     "k.zodiac",
		"获取八字":   "k.zodiac",
		// Nothing.
		"をにはが":    "",
		"教えてください": "",
	} {
		if got := first(x.Search(Query{Text: query})); got != want {
			t.Errorf("%s finds %s, want %s", query, got, want)
		}
	}
}

// A query in Japanese and its translation find tools in the same order, and as surely,
// where these are described in English.
func TestJapaneseIsAsGoodAsEnglish(t *testing.T) {
	x := bilingual()
	for japanese, english := range map[string]string{
		"ファイルを読む": "read a file",
		"足し算":     "addition",
	} {
		one, other := x.Search(Query{Text: japanese}), x.Search(Query{Text: english})
		if ids(one) != ids(other) || one.Confidence < other.Confidence*.9 {
			t.Errorf("%s finds %s (%.2f), %s finds %s (%.2f)", japanese, ids(one), one.Confidence, english, ids(other), other.Confidence)
		}
	}
}

// Hiragana find katakana, and the other way round; hits show what was typed. Two
// letters of a longer word, as しな of しなもの, and endings find nothing.
func TestKana(t *testing.T) {
	x := New(Server{Name: "desk", Documents: []Document{
		{ID: "note", Name: "create_note", Description: "Create a note."},
		{ID: "memo", Name: "kaku", Description: "メモを残す。"},
		{ID: "letter", Name: "okuru", Description: "てがみを送る。"},
		{ID: "other", Name: "get_sum", Description: "Returns the sum of two numbers."},
		{ID: "neither", Name: "keep", Description: "何もしない。しなものを残す。"},
	}})
	for query, want := range map[string]string{
		"メモ": "note memo", "めも": "note memo", "テガミ": "letter", "てがみ": "letter",
		"てがみをおくる": "letter", "めもをみる": "note memo", "my めも": "note memo", "めも？": "note memo", "めもだけ": "note memo",
		"そんざいしないよ": "",
	} {
		r := x.Search(Query{Text: query, Explain: true})
		var found []string
		for _, h := range r.Hits {
			found = append(found, h.Document.ID)
			if shown := strings.Join(h.Matched, ""); shown == "" || !strings.Contains(query, h.Matched[0]) {
				t.Errorf("%s has %s", h.Document.ID, shown)
			}
		}
		slices.Sort(found)
		words := strings.Fields(want)
		slices.Sort(words)
		if !slices.Equal(found, words) {
			t.Errorf("%s finds %v, want %v", query, found, words)
		}
	}
}

// Hits show the words of the query, and not what they mean.
func TestJapaneseMatched(t *testing.T) {
	r := bilingual().Search(Query{Text: "ファイルを読んで、環境変数も", Explain: true, Limit: 20})
	for _, h := range r.Hits {
		if shown := strings.Join(h.Matched, " "); h.Document.ID == "fs.read" && shown != "ファイル 読ん" || h.Document.ID == "env" && shown != "読ん 環境変数" {
			t.Errorf("%s has %s", h.Document.ID, shown)
		}
	}
	if len(r.Hits) == 0 {
		t.Error("nothing is found")
	}
}

// What no tool has is not forgotten: a query that is about something else is not
// answered with certainty because of the one word that is known.
func TestJapaneseUnsure(t *testing.T) {
	x := bilingual()
	if sure, unsure := x.Search(Query{Text: "新しいファイル"}).Confidence, x.Search(Query{Text: "新しいピアノの先生を病院で紹介"}).Confidence; sure < 2*unsure {
		t.Errorf("as sure of a file (%.2f) as of a teacher (%.2f)", sure, unsure)
	}
}

// Commas separate things to do, of whatever width.
func TestBeginning(t *testing.T) {
	for text, want := range map[string]string{
		"ＡＢＣ１２":    "ABC12",
		"ﾌｫﾙﾀﾞ":    "フォルダ",
		"搜索，创建":    "搜索，创建",
		"搜索，ＡＢＣ":   "搜索、ABC",
		"plain, a": "plain, a",
	} {
		if got := beginning(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
