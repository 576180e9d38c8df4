package lang

// What is said about the register of tools.
var jaRegistry = map[string]string{
	"Tool is disabled: %s. An admin has switched it off; `genkan tools enable` switches it on again": "ツールは無効です: %s。管理者が無効にしています。`genkan tools enable` で再び有効にできます",
	"must not be longer than %d bytes":   "%d バイト以内で指定してください",
	"must not have more than %d entries": "指定できるのは %d 件までです",
	"is required":                        "指定してください",
	"must be an object":                  "オブジェクトを指定してください",
	"must be one line of at most %d bytes, without space around it": "前後に空白のない %d バイト以内の 1 行で指定してください",
	"enabled must be true or false":                                 "enabled には true か false を指定してください",
	"These tools were said to be of no use without it: %s":          "次のツールはこのツールに依存しています: %s",
}
