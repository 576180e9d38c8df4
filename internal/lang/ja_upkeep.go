package lang

// jaUpkeep is what is said about keeping the knowledge base in order: its statuses,
// checks and rebuilds.
var jaUpkeep = map[string]string{
	// Statuses in the configuration.
	"%s must have 1 to %d statuses; leave it out for the usual ones": "%s には 1～%d 個のステータスが必要です。標準のステータスでよければ省いてください",
	"%s needs a name": "%s には name が必要です",
	"%s is the status of line %d again; each must be there once, in whichever case": "%s は %d 行目のステータスと同じです。大文字と小文字の違いにかかわらず、それぞれ 1 回だけ書いてください",
	"%s has closed statuses only; new items need an open one":                       "%s には完了扱い（closed）のステータスしかありません。新しいアイテムのために、完了扱いでないステータスが必要です",
	"must not be empty":                      "空にはできません",
	"must not begin or end with white space": "先頭と末尾に空白は使えません",
	"must have at most %d characters":        "%d 文字までです",
	"must not have commas or control characters; a comma stands between statuses where several are named": "コンマと制御文字は使えません。コンマは複数のステータスを並べるときの区切りです",
}
