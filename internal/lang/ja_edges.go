package lang

// jaEdges are the words of lock, mcpserver and api: who may come in, and how
// to ask.
var jaEdges = map[string]string{
	// lock
	"a token is needed: send \"Authorization: Bearer TOKEN\". The admin token is in the file admin-token in genkan's data directory; `genkan tokens add NAME` makes others": "トークンが必要です。\"Authorization: Bearer TOKEN\" を送ってください。管理者トークンは genkan のデータディレクトリのファイル admin-token にあります。ほかのトークンは `genkan tokens add NAME` で作れます",
	"this Host is not allowed; if you reach genkan by another name, start it with --allowed-host NAME":                                                                      "この Host は許可されていません。別の名前で genkan に接続する場合は、--allowed-host NAME を付けて起動してください",
	"this Origin is not allowed; to let a web page call genkan, name it in cors.origin":                                                                                     "この Origin は許可されていません。Web ページから genkan を呼び出すには、cors.origin に指定してください",

	// mcpserver
	"Header mismatch: %s header value '%s' does not match body value '%s'": "ヘッダーの不一致: %s ヘッダーの値 '%s' が本文の値 '%s' と一致しません",
	"Header mismatch: the %s header is missing or malformed":               "ヘッダーの不一致: %s ヘッダーがないか、形式が正しくありません",
	"Method not found: %s":                                                              "メソッドが見つかりません: %s",
	"Unsupported protocol version":                                                      "対応していないプロトコルバージョンです",
	"_meta must have %s":                                                                "_meta に %s が必要です",
	"_meta must have %s, an object":                                                     "_meta に %s をオブジェクトで指定してください",
	"_meta.progressToken must be a string or a number":                                  "_meta.progressToken は文字列か数値で指定してください",
	"params.arguments must be an object":                                                "params.arguments はオブジェクトで指定してください",
	"params.cursor must be a cursor of an earlier answer":                               "params.cursor には以前の応答で返されたカーソルを指定してください",
	"params.name must be the name of a tool":                                            "params.name にはツールの名前を指定してください",
	"a client sends requests and notifications only":                                    "クライアントが送れるのはリクエストと通知だけです",
	"request id %s is in use by a call that is still under way":                         "リクエスト ID %s は、まだ実行中の呼び出しが使っています",
	"the client canceled the call":                                                      "クライアントが呼び出しをキャンセルしました",
	"the Accept header must allow text/event-stream":                                    "Accept ヘッダーで text/event-stream を許可してください",
	"the Mcp-Session-Id header is missing: send initialize first, or %s in _meta":       "Mcp-Session-Id ヘッダーがありません。先に initialize を送るか、_meta に %s を指定してください",
	"this session does not exist or has ended: send initialize to begin a new one":      "このセッションは存在しないか、終了しています。initialize を送って新しいセッションを始めてください",
	"there are too many sessions; end some, or try again later":                         "セッションが多すぎます。いくつか終了するか、後でもう一度試してください",
	"too many calls of this client are under way; wait for some to end":                 "このクライアントの呼び出しが多数実行中です。いくつか終わるまで待ってください",
	"GET opens the stream of a legacy session and needs its Mcp-Session-Id":             "GET は旧世代のセッションのストリームを開くためのもので、Mcp-Session-Id が必要です",
	"use POST for messages, GET for a legacy session's stream, DELETE to end a session": "メッセージには POST、旧世代のセッションのストリームには GET、セッションの終了には DELETE を使ってください",
	"genkan is going down":                                                              "genkan は終了処理中です",
	"genkan is going down: no stream can be opened":                                     "genkan は終了処理中のため、ストリームを開けません",

	// Bodies of requests, for both.
	"the Content-Type must be application/json": "Content-Type は application/json にしてください",
	"the body could not be read":                "本文を読み取れませんでした",
	"the body did not come in time":             "本文が時間内に届きませんでした",

	// api
	"Tool not found: %s": "ツールが見つかりません: %s",
	"there is nothing here; /v1/tools and /v1/servers are good places to begin":  "ここには何もありません。まず /v1/tools か /v1/servers を試してください",
	"there is no server %q; /v1/servers lists them":                              "サーバー %q はありません。一覧は /v1/servers にあります",
	"%s must be a whole number from 1 to %d":                                     "%s は 1 から %d までの整数で指定してください",
	"%s must not be a %s":                                                        "%s に %s は指定できません",
	"name is required: the name of the tool to call":                             "name は必須です。呼び出すツールの名前を指定してください",
	"options.timeout, options.retry and options.retryDelay must not be negative": "options.timeout、options.retry、options.retryDelay に負の値は指定できません",
	"parameters must be an object":                                               "parameters はオブジェクトで指定してください",
	"parameters: %s":                                                             "parameters が正しくありません: %s",
	"the body is larger than %d MiB":                                             "本文が %d MiB を超えています",
	"the body is not what was expected: %s":                                      "本文が想定した形式ではありません: %s",
	"the body must be one JSON object":                                           "本文は 1 つの JSON オブジェクトにしてください",
	"it is not valid JSON":                                                       "正しい JSON ではありません",
	"it must be an object":                                                       "オブジェクトにしてください",
	"unknown field %s; there are name, parameters and options":                   "不明なフィールド %s です。使えるのは name、parameters、options です",
	"the tool reported an error without a text":                                  "ツールがエラーを返しましたが、説明はありませんでした",

	// api's client
	"canceled":                            "キャンセルしました",
	"genkan answered with HTTP status %d": "genkan が HTTP ステータス %d を返しました",
	"genkan does not answer at %s; start it with `genkan serve`":                                       "%s の genkan が応答しません。`genkan serve` で起動してください",
	"genkan's answer could not be read":                                                                "genkan の応答を読み取れませんでした",
	"the connection to genkan broke; if it serves TLS, its certificate must be valid for this address": "genkan との接続が切れました。TLS を使っている場合は、証明書がこのアドレスに対して有効か確認してください",
}
