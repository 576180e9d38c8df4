package lang

// What is said about what searches have taught.
var jaLearned = map[string]string{
	"Show what searches have taught": "検索から学んだことを表示する",
	"Show what searches have taught. A search that was followed by a successful call\nof one of its hits makes the next search like it find that tool sooner, for the\nsame client. Only the stems of the words are kept. Client * counts for everybody.\n\"learn: false\" in the configuration switches it off.": "検索から学んだことを表示します。検索の後にヒットしたツールの呼び出しが成功すると、\n同じクライアントの次の似た検索で、そのツールが上位に出ます。保存されるのは英単語の\n語幹と、2 文字ずつに区切った日本語だけです。クライアント * は全員に適用されます。設定の \"learn: false\" で無効に\nできます。",
	"Searches do not learn: the configuration says \"learn: false\".": "検索からは学びません。設定が \"learn: false\" になっています。",
	"Nothing has been learned.":                                       "学んだことはまだありません。",
	"TOOL":                                                            "ツール",
	"WORDS":                                                           "単語",
	"TIMES":                                                           "回数",
	"LAST":                                                            "最終",
	"only what this `client`'s searches have taught":                                            "この`クライアント`の検索から学んだことだけ",
	"Forget what searches have taught, about all tools or one":                                  "検索から学んだことを忘れる（すべて、または 1 つのツールについて）",
	"Lessons forgotten: %d.":                                                                    "学んだことを %d 件忘れました。",
	"Let everybody learn from a client's searches":                                              "あるクライアントの検索から学んだことを全員に適用する",
	"Lessons shared: %d. `genkan tools learned forget --client '*'` takes them back.":           "%d 件を全員と共有しました。`genkan tools learned forget --client '*'` で取り消せます。",
	"nothing was learned about %s; `genkan tools learned` shows about what something was":       "%s について学んだことはありません。`genkan tools learned` で一覧を確認できます",
	"nothing was learned from client %s; `genkan tools learned` shows from whom something was":  "クライアント「%s」から学んだことはありません。`genkan tools learned` で一覧を確認できます",
	"say whose lessons are to be shared: the name of a client's token, or local":                "誰の学習を共有するかを指定してください：クライアントのアクセストークンの名前、または local",
	"give either client, or all":                                                                "client か all のどちらか一方を指定してください",
	"server and tool go together: they name one tool":                                           "server と tool は一緒に指定してください。2 つで 1 つのツールを表します",
	"what others' searches have taught is for admins; leave out client and all to get your own": "ほかのクライアントの検索から学んだことは管理者だけが扱えます。自分の分には client と all を指定しないでください",
}
