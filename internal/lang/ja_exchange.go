package lang

// jaExchange are the words of kb/exchange: what is wrong with a file of items. What is
// wrong with one field stands behind its name.
var jaExchange = map[string]string{
	"%s, line %d: %s":    "%s の %d 行目：%s",
	"%s, line %d: %s %s": "%s の %d 行目の %s：%s",

	// A file or a line as a whole.
	"this is not UTF-8 text; save the file as UTF-8":                                               "UTF-8 のテキストではありません。ファイルを UTF-8 で保存してください",
	"the front matter is larger than 1 MiB, which no item needs":                                   "フロントマターが 1 MiB を超えています。項目にこの大きさは必要ありません",
	"the front matter cannot be read as YAML":                                                      "フロントマターを YAML として読み取れません",
	"the front matter is not valid YAML: %s":                                                       "フロントマターが正しい YAML ではありません。%s",
	"anchors, aliases and tags of YAML are not read; text that begins with &, * or ! needs quotes": "YAML のアンカー、エイリアス、タグは使えません。&、*、! で始まる文字列は引用符で囲んでください",
	"the front matter is nested deeper than any item needs":                                        "フロントマターの入れ子が深すぎます。項目にこの深さは必要ありません",
	"the front matter has more values than any item needs":                                         "フロントマターの値が多すぎます。項目にこの数は必要ありません",
	"the line is longer than 4 MiB, which no item needs":                                           "行が 4 MiB を超えています。項目にこの長さは必要ありません",
	"this is not JSON: %s":                                                                         "JSON ではありません（%s）",
	"it ends too early":                                                                            "途中で終わっています",
	"each line must be a JSON object, an item":                                                     "各行は 1 つの項目を表す JSON オブジェクトでなければなりません",
	"something follows after the item; each must be on a line of its own":                          "項目の後ろに余分な内容があります。項目は 1 行に 1 つずつ書いてください",

	// Behind the name of a field.
	"stands there twice":                           "2 回書かれています",
	"is missing; every item needs one":             "ありません。すべての項目に必要です",
	"must be a single value":                       "単一の値でなければなりません",
	"must be a whole number, 1 or more, and is %q": "1 以上の整数でなければなりません（現在の値：%q）",
	"must be a whole number, 1 or more, and is %s": "1 以上の整数でなければなりません（現在の値：%s）",
	"must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z, and is %q": "2026-01-31 のような日付か 2026-01-31T09:30:00Z のような日時でなければなりません（現在の値：%q）",
	"must be a list, or words with commas between them":                                   "リスト、またはコンマ区切りの語でなければなりません",
	"must be a list of single values":                                                     "単一の値のリストでなければなりません",
	"must be a text, and is %s":                                                           "文字列でなければなりません（現在の値：%s）",
	"has half of a surrogate pair, and is %s; write whole characters":                     "サロゲートペアの片方だけが含まれています（現在の値：%s）。完全な文字で書いてください",
	"must be a list of texts, and is %s":                                                  "文字列のリストでなければなりません（現在の値：%s）",
	"Items exported: %d, as JSON Lines into %s.":                                          "%d 件の項目を JSON Lines として %s に書き出しました。",
	"Items exported: %d, as Markdown files into the folder %s.":                           "%d 件の項目を Markdown ファイルとしてフォルダー %s に書き出しました。",
}
