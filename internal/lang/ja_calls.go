package lang

// jaCalls are the words of app, catalog and execute: what happens to a call on
// its way.
var jaCalls = map[string]string{
	// app
	"client %s made more than %d calls in %s; try again in %s":                                                        "クライアント %[1]s の呼び出しが %[3]s 間に %[2]d 回を超えました。%[4]s 後にもう一度試してください",
	"the server was removed from the configuration":                                                                   "サーバーは設定から削除されました",
	"the configuration file is empty; to have no servers, write \"mcpServers: {}\"":                                   "設定ファイルが空です。サーバーをなくすには \"mcpServers: {}\" と書いてください",
	"the secrets of server %s cannot be read now, and without them it would stop: %s":                                 "サーバー %s のシークレットを今は読み出せず、このままではサーバーが停止します: %s",
	"the configuration file is gone; to have no servers, leave it with \"mcpServers: {}\"":                            "設定ファイルがなくなりました。サーバーをなくすには、ファイルを残して \"mcpServers: {}\" と書いてください",
	"the data directory %s cannot be made; choose another with --data":                                                "データディレクトリ %s を作成できません。--data で別の場所を指定してください",
	"%s is in use, perhaps by another genkan; stop that one, or choose another port with --port":                      "%s は使用中です。別の genkan が動いているのかもしれません。それを止めるか、--port で別のポートを指定してください",
	"cannot listen on %s; choose another address with --listen":                                                       "%s で待ち受けできません。--listen で別のアドレスを指定してください",
	"Unknown tool: %s. tools/list names the tools there are":                                                          "不明なツールです: %s。使えるツールは tools/list で確認できます",
	"Unknown tool: %s. Did you mean %s? tools/list names the tools there are":                                         "不明なツールです: %s。もしかして %s ですか？使えるツールは tools/list で確認できます",
	"Unknown tool: server %s is down and has not listed any tools yet: %s. `genkan servers %s` shows its last output": "不明なツールです。サーバー %s は停止していて、まだツール一覧を返していません: %s。最後の出力は `genkan servers %s` で確認できます",
	"Unknown tool: server %s has not listed any tools yet. `genkan servers %s` shows what it is doing":                "不明なツールです。サーバー %s はまだツール一覧を返していません。状態は `genkan servers %s` で確認できます",

	// catalog
	"this cursor is not known, or its list is too old; ask for the list again without a cursor": "このカーソルは不明か、一覧が古くなっています。カーソルなしで一覧を取得し直してください",
	"the arguments are not JSON":                                                       "引数が JSON ではありません",
	"the arguments cannot be checked: %s":                                              "引数を検証できません: %s",
	"the arguments of %s do not fit its input schema: %s":                              "%s の引数が入力スキーマに合っていません: %s",
	"the arguments of %s hold a number that is too large or too precise to be checked": "%s の引数に、検証できないほど大きいか精密な数値が含まれています",
	"the input schema of %s cannot be used, so its arguments cannot be checked; set validate: false for its server, or ask its author to mend the schema": "%s の入力スキーマが使えないため、引数を検証できません。サーバーに validate: false を設定するか、作者にスキーマの修正を依頼してください",
	"breaks %s":                "スキーマの %s に違反しています",
	"must be %s, is %s":        "型は %s でなければなりませんが、%s です",
	"must be a valid %s":       "%s として正しくありません",
	"must be one of %s":        "次のいずれかを指定してください: %s",
	"must match %s":            "パターン %s に一致していません",
	"required but missing: %s": "必須の項目がありません: %s",
	"unknown: %s":              "不明な項目です: %s",

	// catalog, what is listed
	"Header mismatch: the %s header does not say what the argument %s says":                          "ヘッダーの不一致: %s ヘッダーの値が引数 %s の値と一致しません",
	"Header mismatch: the argument %s has a value, but the %s header is missing":                     "ヘッダーの不一致: 引数 %s に値がありますが、%s ヘッダーがありません",
	"Header mismatch: there is a %s header, but the argument %s has no value":                        "ヘッダーの不一致: %s ヘッダーがありますが、引数 %s に値がありません",
	"Header mismatch: the arguments cannot be compared with their headers: %s":                       "ヘッダーの不一致: 引数とヘッダーを比較できません: %s",
	"x-mcp-header at %s does not mark one argument: only properties inside properties can be marked": "%s の x-mcp-header は引数を一つに特定していません。指定できるのは properties を順にたどって届くプロパティだけです",
	"x-mcp-header of %s is empty":                                                          "%s の x-mcp-header が空です",
	"x-mcp-header of %s holds a character that no header's name may have":                  "%s の x-mcp-header に、ヘッダー名に使えない文字が含まれています",
	"x-mcp-header of %s stands at another argument too: %s":                                "%s の x-mcp-header が他の引数と重複しています: %s",
	"x-mcp-header of %s is not at an integer, a string or a boolean":                       "%s の x-mcp-header は、整数・文字列・真偽値のいずれでもない引数に付いています",
	"modern clients over HTTP will not use it: %s":                                         "HTTP で接続する新しい世代のクライアントはこのツールを使いません: %s",
	"it has no name, or more than one":                                                     "名前がないか、複数あります",
	"it has a schema twice, and clients might read either":                                 "スキーマが重複しており、クライアントがどちらを読むか分かりません",
	"its name is taken by server %s":                                                       "名前がサーバー %s のものと重複しています",
	"its %s asks for something else than an object":                                        "%s がオブジェクト以外を求めています",
	"its %s is no JSON Schema of an object":                                                "%s がオブジェクトの JSON Schema ではありません",
	"%s is missing or empty":                                                               "%s がないか、空です",
	"%s does not say \"type\": \"object\"":                                                 "%s に \"type\": \"object\" がありません",
	"%s has properties or required in a form that JSON Schema does not know":               "%s の properties または required が JSON Schema の形式ではありません",
	"%s has %s at its first level; clients of the legacy era see plain properties instead": "%s の最上位に %s があります。旧世代のクライアントには、通常のプロパティに直したものを見せます",
	"%s is no JSON Schema and is not shown":                                                "%s が JSON Schema ではないため、見せません",
	"%s is not of an object; clients of the legacy era are not shown it":                   "%s がオブジェクトのものではないため、旧世代のクライアントには見せません",

	// execute
	"%s gave no answer and no progress for %s; the server was told to stop, but the call may have been carried out. If it needs longer, raise timeout: in the call's options, or in the configuration for the tool or its server": "%s から %s の間、応答も進捗もありませんでした。サーバーには中止を伝えましたが、処理は実行された可能性があります。もっと時間が必要な場合は、呼び出しのオプション、または設定のツールかサーバーの timeout を延ばしてください",
	"%s was still at work after %s, which is the longest that a call may take; the server was told to stop, but the call may have been carried out":                                                                               "%s は %s たっても終わらず、呼び出しの上限時間に達しました。サーバーには中止を伝えましたが、処理は実行された可能性があります",
	"server %s failed %d times in a row and is left alone for %s; `genkan servers %s` shows how it is":                                                                                                                            "サーバー %s が %d 回続けて失敗したため、%s の間は呼び出しを止めています。状態は `genkan servers %s` で確認できます",
	"the call was canceled while it waited for its turn":                                                           "順番を待っている間に呼び出しがキャンセルされました",
	"server %s takes no more calls of this client now: %d are under way and %d wait; try again later":              "サーバー %s は、いまこのクライアントの呼び出しをこれ以上受け付けません（%d 件が実行中、%d 件が待機中です）。後でもう一度試してください",
	"server %s had no place for the call within %s: %d calls of this client were under way; the call was not sent": "サーバー %s は %s 以内にこの呼び出しを受け付けられませんでした（このクライアントの呼び出しが %d 件実行中でした）。この呼び出しは送信していません",
	"the arguments have more than %d values, which is too many to read them; send less at once":                    "引数の値が %d 個を超えていて、多すぎるため読み取れません。分けて送ってください",
	"%s was still at work after %s, the timeout of this call; the server was told to stop, but the call may have been carried out. Raise timeout in the call's options, or leave it out: then a call may go on while it makes progress": "%s は %s たっても終わらず、この呼び出しのタイムアウトに達しました。サーバーには中止を伝えましたが、処理は実行された可能性があります。呼び出しのオプションの timeout を延ばすか、省いてください。省くと、進捗がある間は呼び出しが続きます",
	"%s; not retried: the tool is not known to be safe to repeat": "%s。再試行はしていません: このツールは、繰り返しても安全かどうかが分かりません",
}
