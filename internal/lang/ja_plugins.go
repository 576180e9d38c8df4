package lang

// What is said about plugins of the knowledge base.
var jaPlugins = map[string]string{
	"a plugin's value must have a key of 1 to %d bytes and be at most %d bytes long":              "プラグインの値には 1 から %d バイトのキーが必要で、値の長さは %d バイトまでです",
	"plugin %s could not be made ready and is left out: %s":                                       "プラグイン %s を準備できなかったため、使わずに続けます：%s",
	"a plugin is refused: %q is no name for one; it takes 1 to 50 small letters, digits, - and _": "プラグインを受け付けられません：%qは名前に使えません。小文字の英字、数字、-、_ を 1 から 50 文字で指定してください",
	"plugin %s is refused: there is another plugin of this name":                                  "プラグイン %s を受け付けられません：同じ名前のプラグインがすでにあります",
	"plugin %s is refused: %q is no name for a tool; it takes 1 to 64 letters, digits, - and _":   "プラグイン %s を受け付けられません：%qはツールの名前に使えません。英字、数字、-、_ を 1 から 64 文字で指定してください",
	"plugin %s is refused: its tool %s has the name of one of %s; give it another name":           "プラグイン %s を受け付けられません：ツール「%s」と同じ名前のツールがすでにあります（%s）。別の名前を付けてください",
	"its own":            "自身のツール",
	"plugin %s":          "プラグイン %s",
	"the knowledge base": "ナレッジベース",
	"plugin %s is refused: the input schema of its tool %s is no JSON Schema of type object": "プラグイン %s を受け付けられません：ツール「%s」の入力スキーマが object 型の JSON Schema ではありません",
	"plugin %s has failed in this call; the log has the details":                             "この呼び出しの中でプラグイン %s が失敗しました。詳細はログにあります",
	"the plugins of the knowledge base are being closed; call again in a moment":             "ナレッジベースのプラグインを終了しています。少し待ってからもう一度呼び出してください",
	"%s must be openai or ollama":      "%s には openai か ollama を指定してください",
	"%s must be a number of 0 or more": "%s には 0 以上の数を指定してください",
}
