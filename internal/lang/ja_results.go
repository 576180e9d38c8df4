package lang

// Outlines of large results, and the tool that reads them.
var jaResults = map[string]string{
	// Outlines.
	"This answer has about %d tokens, and %d fit here. It is stored whole with the id %s; this is its outline.":                                           "この結果は約 %d トークンあり、ここに収まるのは %d トークンです。全体を ID %s で保存しました。以下はその概要です。",
	"The call succeeded: this is no failure. Its answer has about %d tokens, and %d fit here, so it is stored whole with the id %s; this is its outline.": "呼び出しは成功しました。失敗ではありません。結果は約 %d トークンあり、ここに収まるのは %d トークンなので、全体を ID %s で保存しました。以下はその概要です。",
	"More parts are stored: %d. Read them with part: \"raw\", pointer: \"/content\".":                                                                     "ほかに %d 個の部分を保存しています。part: \"raw\", pointer: \"/content\" で読めます。",
	"Part %s:":                 "部分 %s:",
	"Next: %s. Find text: %s":  "次の呼び出し：%s。検索：%s",
	"%s: more keys: %d":        "%s：ほかのキー：%d 個",
	"%s object of %d keys, %s": "%s オブジェクト（キー %d 個、%s）",
	"%s array of %d items, %s": "%s 配列（%d 件、%s）",
	"%s string of %s: %s…":     "%s 文字列（%s）：%s…",
	"Text of %s in %d lines. It begins:\n%s\n… and ends:\n%s":         "テキスト（%s、%d 行）。先頭：\n%s\n… 末尾：\n%s",
	"Text of %s in %d lines. The first %d:\n%s… and the last %d:\n%s": "テキスト（%s、%d 行）。先頭の %d 行：\n%s… 末尾の %d 行：\n%s",

	// Answers of read_result.
	"There is more. Next: %s": "続きがあります。次の呼び出し：%s",
	"The first one is too large for an answer, so this is its outline.":          "最初の 1 件が大きすぎるため、その概要を返します。",
	"Nothing matches. grep looks for exactly this text, in upper or lower case.": "一致するものはありません。grep は大文字と小文字を区別せず、このとおりの文字列を探します。",

	// What is wrong with a call of it.
	"there is no stored result with this id: it has expired, or the id is wrong. Call the tool again that gave it": "この ID の保存された結果はありません。期限が切れたか、ID が違います。ID を返したツールをもう一度呼び出してください",
	"the result is larger than all results that are kept for a client":                                             "結果が、1 クライアントのために保存できる量より大きくなっています",
	"the result has no part %s. It has %d content items, which are numbered from 0; raw is the whole result":       "結果に部分 %s はありません。コンテンツは %d 件で、番号は 0 から始まります。raw は結果全体です",
	"pointer must be a JSON Pointer such as /items/0: it begins with / and has a key or an index after each /":     "pointer には /items/0 のような JSON Pointer を指定してください。/ で始まり、各 / の後にキーか番号が続きます",
	"this part is a text and not JSON, so a pointer leads nowhere. Use offset, limit and grep":                     "この部分は JSON ではなくテキストなので、pointer は使えません。offset、limit、grep を使ってください",
	"%s has no key %s. Its keys are %s":                                  "%s にキー %s はありません。あるキー：%s",
	"%s is an array of length %d, and has no item %s":                    "%s は長さ %d の配列で、%s 番の要素はありません",
	"%s is a %s, and has nothing in it":                                  "%s は %s で、中には何もありません",
	"the result":                                                         "結果",
	"offset is %d, but the number of %s is %d. The first one is 0":       "offset は %d ですが、%s の数は %d です。最初は 0 です",
	"%s must be a string":                                                "%s には文字列を指定してください",
	"%s must be an integer of 0 or more":                                 "%s には 0 以上の整数を指定してください",
	"id is missing: it is in the outline of a result that was too large": "id がありません。大きすぎた結果の概要に書かれています",
	"unit must be lines or bytes":                                        "unit には lines か bytes を指定してください",

	// The tool.
	"Read a stored result. An answer that is too large is stored, and you get its outline with an id. The outline says what to call next.": "保存された結果を読む。大きすぎる結果は保存され、ID 付きの概要が返される。概要に次の呼び出しが書かれている。",
	"The id in the outline":                                                             "概要にある ID",
	"JSON Pointer to a value, such as /items/0":                                         "値への JSON Pointer（例：/items/0）",
	"Where to begin, from 0: an item of an array, a line of a text":                     "開始位置（0 から）：配列の要素、テキストの行",
	"How many items or lines; as many as fit by default":                                "要素や行の数（デフォルト：収まるだけ）",
	"Only lines or values with this text, in upper or lower case, with their positions": "この文字列を含む行や値だけを位置とともに返す（大文字小文字は区別しない）",
	"Number of a content item, or raw for the whole result; the largest by default":     "コンテンツの番号、または結果全体を表す raw（デフォルト：最大のもの）",
	"What offset and limit count in a text":                                             "テキストで offset と limit が数える単位",

	"Nothing matches in this part of the result. The next call looks in all of them.": "結果のこの部分に一致するものはありません。次の呼び出しはすべての部分を探します。",
	"With grep, offset counts matches, and there are only %d.":                        "grep では offset は一致の数を数えます。一致は %d 件だけです。",
	"The positions are bytes: read there with unit: \"bytes\" and offset.":            "位置はバイト数です。unit: \"bytes\" と offset で読めます。",
	"The call was carried out. Its answer has about %d tokens, and %d fit here; it could not be stored, so this is all that is left of it. Do not repeat a call that changes something. Ask for less, and tell the user that Genkan cannot write into its data directory.": "呼び出しは実行されました。結果は約 %d トークンあり、ここに収まるのは %d トークンです。保存できなかったため、残っているのは以下だけです。何かを変更する呼び出しは繰り返さないでください。求める量を減らし、Genkan がデータディレクトリに書き込めないことを利用者に伝えてください。",
	"There is more. Next: %s. After this one, or to skip it: %s": "続きがあります。次の呼び出し：%s。その後、または飛ばす場合：%s",
	"%s object of 1 key, %s":                                "%s オブジェクト（キー 1 個、%s）",
	"%s array of 1 item, %s":                                "%s 配列（1 件、%s）",
	"Text of %s in 1 line. It begins:\n%s\n… and ends:\n%s": "テキスト（%s、1 行）。先頭：\n%s\n… 末尾：\n%s",
}
