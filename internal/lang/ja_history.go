package lang

// jaHistory are the words of the call history.
var jaHistory = map[string]string{
	"after must be the next of an earlier page":                                                                                "after には前のページの next の値を指定してください",
	"the call history in %s cannot be read; check that the folder is yours and that the disk works":                            "%s にある呼び出しの記録を読み出せません。フォルダーの所有者とディスクの状態を確認してください",
	"there is no call %s in the history; `genkan calls` lists what there is. Old calls are removed, and clients see their own": "呼び出し %s の記録はありません。`genkan calls` で一覧を確認できます。古い記録は削除されます。クライアントに見えるのは自分の呼び出しだけです",
	"what was sent and received in this call cannot be read: it is damaged, or the key in the vault is another one now":        "この呼び出しの送受信内容を読み出せません。データが壊れているか、保管庫の暗号鍵が変わっています",

	"there is no call %s: the call history is off (record in the configuration)":                                                                                                                "呼び出し %s はありません。呼び出しの記録はオフです（設定の record）",
	"What was sent and received is not kept: the configuration said so when the call was made (record: {bodies: off}).":                                                                         "送受信した内容は残っていません。呼び出しの時点で、設定がそうなっていました（record: {bodies: off}）。",
	"What was sent and received is kept only for clients of this machine's user, and this one has a token. record: {bodies: all} in the configuration keeps it for every client, from then on.": "送受信した内容が残るのは、このマシンのユーザー自身のクライアントだけです。このクライアントはトークンを使っています。設定を record: {bodies: all} にすると、それ以後はすべてのクライアントについて残ります。",
	"What was sent and received is lost: calls came faster than they could be written.":                                                                                                         "送受信した内容は失われました。書き込みが追いつかないほど呼び出しが続きました。",
	"What was sent and received cannot be read: it is damaged, or it was encrypted with a key that the vault does not have any more.":                                                           "送受信した内容を読めません。壊れているか、保管庫にもうない暗号鍵で暗号化されています。",

	"%s. It exists, but the limit of the client's token or a workflow hides it from this client; the client was not told so": "%s。実際には存在しますが、クライアントのアクセストークンの制限かワークフローにより、このクライアントには隠されています（クライアントには知らせていません）",

	"calls are not kept: the disk is full":  "ディスクに空きがないため、呼び出しを記録できません",
	"what is sent and received is not kept": "送受信した内容を記録できません",
	"calls are not kept":                    "呼び出しを記録できません",
	"what is sent and received is not kept: the key of the vault cannot be had: %s": "保管庫の暗号鍵が使えないため、送受信した内容を記録できません。%s",
	"calls are not kept: %s": "呼び出しを記録できません。%s",
	"%s must be a time such as 2026-11-15T14:00:00Z, or an age such as 10m, 2h or 7d, is %q": "%s には 2026-11-15T14:00:00Z のような時刻か、10m・2h・7d のような経過時間を指定してください（現在の値%q）",
	"until is earlier than since, so no call can be between them":                            "until が since より前なので、その間の呼び出しはありません",

	"Show which tools were called, by whom and how it went": "どのツールを、誰が呼び出し、どうなったかを表示する",
	`List the calls of tools, the newest first, with who called, how it went, how long
it took in milliseconds, about how many tokens went in and out, and the beginning
of the arguments. Filters go together.

  genkan calls --errors --since 1h       what failed in the last hour
  genkan calls --slower 2s               what took two seconds or more
  genkan calls --text "release notes"    what was sent or answered with this text
  genkan calls show last                 the last call with its request and answer
  genkan calls stats                     sums for each tool
  genkan calls tail                      calls as they end
  genkan calls cancel ID                 ends a call that is running

Calls are kept for seven days unless the configuration says otherwise (record). What
was sent and received is kept for clients of this machine's user, encrypted, and
shown without secrets.`: `ツールの呼び出しを新しい順に一覧表示します。呼び出し元、結果、所要時間（ms）、入出力の
おおよそのトークン数、引数の先頭を表示します。条件は組み合わせられます。

  genkan calls --errors --since 1h       直近 1 時間に失敗した呼び出し
  genkan calls --slower 2s               2 秒以上かかった呼び出し
  genkan calls --text "release notes"    送受信した内容にこの文字列を含む呼び出し
  genkan calls show last                 最後の呼び出しの、送信内容と応答
  genkan calls stats                     ツールごとの集計
  genkan calls tail                      終わった呼び出しをその場で表示
  genkan calls cancel ID                 実行中の呼び出しをキャンセル

設定（record）で変えないかぎり、呼び出しは 7 日間残ります。送受信した内容が残るのは
このマシンのユーザー自身のクライアントの分で、暗号化して保存され、シークレットは表示するときに伏せます。`,
	"only calls whose arguments, answer or error contain this `text`":                                                     "引数・応答・エラーにこの`文字列`を含む呼び出しだけ",
	"how many calls to show (`number`)":                                                                                   "表示する呼び出しの`数`",
	"only calls of this `client` or program":                                                                              "この`クライアント`またはプログラムの呼び出しだけ",
	"only calls of this `server`":                                                                                         "この`サーバー`の呼び出しだけ",
	"only calls of this `tool`":                                                                                           "この`ツール`の呼び出しだけ",
	"only calls with this `outcome`: ok, error, tool_error, timeout or another":                                           "この`結果`の呼び出しだけ：ok、error、tool_error、timeout など",
	"only calls that failed, as --outcome error":                                                                          "失敗した呼び出しだけ（--outcome error と同じ）",
	"only calls that took at least this `time`, such as 500ms":                                                            "この`時間`以上かかった呼び出しだけ（例：500ms）",
	"only calls since this `time`: 10m, 2h, 7d, 2026-11-15 or 2026-11-15T14:00:00Z":                                       "この`時刻`以降の呼び出しだけ：10m、2h、7d、2026-11-15、2026-11-15T14:00:00Z など",
	"only calls until this `time`":                                                                                        "この`時刻`以前の呼び出しだけ",
	"give either --outcome, or --errors, which is --outcome error":                                                        "--outcome と --errors はどちらか一方を指定してください（--errors は --outcome error と同じです）",
	"--slower must be a time such as 500ms or 2s":                                                                         "--slower には 500ms や 2s のような時間を指定してください",
	"--%s must be an age such as 10m, 2h or 7d, a day such as 2026-11-15, or a time such as 2026-11-15T14:00:00Z, not %q": "--%s には 10m・2h・7d のような経過時間、2026-11-15 のような日付、または 2026-11-15T14:00:00Z のような時刻を指定してください。%qは使えません",
	"--limit must be at least 1":                                                                                          "--limit は 1 以上でなければなりません",
	"Calls that ended before %s were not searched.":                                                                       "%s より前に終わった呼び出しは検索していません。",
	"searching, back to %s: %d found; Ctrl-C ends it":                                                                     "%s まで遡って検索中：%d 件。Ctrl-C で終了",
	"No call fits. `genkan calls` without filters lists all, and `genkan calls --help` explains the filters.":             "条件に合う呼び出しはありません。条件なしの `genkan calls` ですべてを一覧できます。条件の説明は `genkan calls --help` にあります。",
	"No call has been made yet. `genkan connect` lets an editor call through genkan, and `genkan call TOOL` calls a tool from here.": "呼び出しはまだありません。`genkan connect` でエディターの呼び出しが Genkan を通るようになります。`genkan call TOOL` でここからツールを呼び出せます。",
	"TIME":      "時刻",
	"OUTCOME":   "結果",
	"MS":        "ms",
	"TOKENS":    "トークン",
	"ARGUMENTS": "引数",
	"There are older ones: --limit %d shows more.":                "これより古い呼び出しがあります。--limit %d でさらに表示できます。",
	"Calls are not kept: the configuration says \"record: off\".": "呼び出しは記録されません。設定が \"record: off\" になっています。",
	"Since %s: %s. `genkan doctor` says what mends it.":           "%s から：%s。対処は `genkan doctor` で確認できます。",
	"Calls that are missing since genkan started: %d.":            "Genkan の起動以後、記録できなかった呼び出し：%d 件。",
	"Sum up calls for each tool":                                  "呼び出しをツールごとに集計する",
	`Sum up the calls of the last 24 hours, or since another --since, for each tool:
how many, how many failed, how long half of them (P50) and 95 of 100 (P95) took at
most in milliseconds, about how many tokens went in and out, and how many were saved
by outlines of large answers. What read_result read of stored answers is subtracted.
The tool with the most calls comes first, or the slowest with --sort p95.`: `直近 24 時間（--since で変更できます）の呼び出しをツールごとに集計します。回数、失敗の数、
半数（P50）と 100 回中 95 回（P95）の所要時間の上限（ms）、入出力のおおよその
トークン数、大きな応答の概要で節約したトークン数を表示します。
read_result で後から読んだ分は差し引きます。呼び出しの多いツールが先です。--sort p95 では遅いツールが先です。`,
	"There are no such calls since %s. --since 7d goes further back.": "%s 以降、該当する呼び出しはありません。--since 7d でさらに遡れます。",
	"CALLS":      "呼び出し",
	"ERRORS":     "失敗",
	"KILLED":     "強制終了",
	"P50 MS":     "P50 ms",
	"P95 MS":     "P95 ms",
	"TOKENS IN":  "入力トークン",
	"TOKENS OUT": "出力トークン",
	"total":      "合計",
	"Show a call with what was sent and received": "呼び出しを、送受信した内容とともに表示する",
	`Show a call: who called what, how it went and where the time went, then what was
sent and received, without secrets. ID is that of ` + "`" + `genkan calls` + "`" + `, and request_id in
the log; "last" is the last call, and last~2 the one two before it.

On a terminal, $PAGER shows what is longer than the screen.`: `呼び出しを表示します。誰が何を呼び出し、どうなり、どこに時間がかかったか、続いて送受信した
内容を、シークレットを伏せて表示します。ID は ` + "`" + `genkan calls` + "`" + ` の ID で、ログの request_id と同じです。
"last" は最後の呼び出し、last~2 はその 2 つ前です。

端末では、画面に収まらない内容を $PAGER で表示します。`,
	"print everything at once": "ページャーを使わずに表示する",
	"%q is no call; give an ID of `genkan calls`, or last, or last~2": "%qは呼び出しではありません。`genkan calls` の ID か、last、last~2 を指定してください",
	"there are no calls yet; `genkan call TOOL` makes one":            "呼び出しはまだありません。`genkan call TOOL` で呼び出せます",
	"the history has %d calls; `genkan calls` lists them":             "記録されている呼び出しは %d 件です。`genkan calls` で一覧を確認できます",
	"Error: %s": "エラー：%s",
	"%s:":       "%s：",
	"Sent":      "送信",
	"Received":  "受信",
	"Secrets are masked where they are shown, by these rules: %s.": "次のルールに該当する値は、表示するときに伏せています：%s。",
	"(cut here: the whole had %s bytes)":                           "（以下省略。全体は %s バイトでした）",
	"the tool reported an error":                                   "ツールがエラーを返しました",
	"the server answered with error %s":                            "サーバーがエラー %s を返しました",
	"the server answered with error %s: %s":                        "サーバーがエラー %s を返しました：%s",
	"not found":                                                    "見つかりません",
	"the call is not valid":                                        "呼び出しが正しくありません",
	"the input is not valid: %s":                                   "入力が正しくありません。%s",
	"%s has the wrong type":                                        "%s の型が違います",
	"%s is none of the allowed values":                             "%s は指定できる値のいずれでもありません",
	"there is an unknown field":                                    "不明な項目があります",
	"%s called %s at %s; the call has not ended yet, after %s.":    "%s は %s を %s に呼び出しました。%s 経過しましたが、まだ終わっていません。",
	"%s called %s at %s and got an answer after %s: %s; about %s tokens in, %s out.":                      "%s は %s を %s に呼び出し、%s で応答を受け取りました（%s）。トークン数は入力が約 %s、出力が約 %s です。",
	"%s called %s at %s, and the tool reported an error after %s: %s; about %s tokens in, %s out.":        "%s は %s を %s に呼び出し、%s でツールがエラーを報告しました（%s）。トークン数は入力が約 %s、出力が約 %s です。",
	"%s called %s at %s, and the server answered with an error after %s: %s; about %s tokens in, %s out.": "%s は %s を %s に呼び出し、%s でサーバーがエラーを返しました（%s）。トークン数は入力が約 %s、出力が約 %s です。",
	"%s called %s at %s and was refused (%s) after %s: %s; about %s tokens in.":                           "%s は %s を %s に呼び出し、拒否されました（%s、%s：%s）。トークン数は入力が約 %s です。",
	"%s called %s at %s and got no answer (%s) after %s: %s; about %s tokens in.":                         "%s は %s を %s に呼び出しましたが、応答がありませんでした（%s、%s：%s）。トークン数は入力が約 %s です。",
	"%s ms":            "%s ms",
	"%s in the server": "サーバーで %s",
	"%s in the queue":  "待ち行列で %s",
	"%s in workflows":  "ワークフローで %s",
	"%s waiting for the answer to a question": "質問への回答待ちで %s",
	"%s in genkan":                   "Genkan で %s",
	"Call %s":                        "呼び出し %s",
	", from %s":                      "、プログラム %s",
	", over %s":                      "、経路 %s",
	", through %s":                   "、%s 経由",
	", a part of call %s":            "、呼び出し %s の一部",
	", sent %d times":                "、%d 回送信",
	"(and more, which --json shows)": "（ほかの項目は --json で表示できます）",
	"Structured:":                    "構造化された内容：",
	"lang must be en or ja, is %q":   "lang は en か ja です。%q が指定されました",
	"Cancel a call that is running":  "実行中の呼び出しをキャンセルする",
	`Cancel a call that is running, as ` + "`" + `genkan calls` + "`" + ` lists it. The server is told to
stop, and the client gets an error that says that a person canceled the call. Calls
that the call has made end with it. The server may have carried the call out already.`: "`" + `genkan calls` + "`" + ` に表示される実行中の呼び出しをキャンセルします。サーバーには中止を伝え、
クライアントには人がキャンセルしたというエラーを返します。その呼び出しが行った呼び出しも
終わります。サーバーがすでに実行を終えている場合もあります。`,
	"Call %s is canceled. The server was told to stop; it may have carried the call out already.":                                                    "呼び出し %s をキャンセルしました。サーバーには中止を伝えましたが、すでに実行を終えている場合もあります。",
	"call %s has ended already, so nothing was canceled; `genkan calls show %s` shows how it went":                                                   "呼び出し %s はすでに終わっているため、キャンセルしませんでした。結果は `genkan calls show %s` で確認できます",
	"a person canceled this call in Genkan before it was sent; ask the user before you call again":                                                   "この呼び出しは、送信前に人が Genkan でキャンセルしました。再度呼び出す前にユーザーに確認してください",
	"a person canceled this call in Genkan; the server was told to stop, but the call may have been carried out. Ask the user before you call again": "この呼び出しは、人が Genkan でキャンセルしました。サーバーには中止を伝えましたが、実行された可能性があります。再度呼び出す前にユーザーに確認してください",
	"Show calls as they end": "終わった呼び出しをその場で表示する",
	`Show each call of the running genkan when it ends, until Ctrl-C: when it began, who
called what, how it went, how long it took, and its ID for ` + "`" + `genkan calls show` + "`" + `. On a
terminal the last line shows the calls that are running. --json prints one object a
line.`: `動いている Genkan の呼び出しを、終わるたびに表示します。Ctrl-C で終了します。開始時刻、
呼び出し元、ツール、結果、所要時間、` + "`" + `genkan calls show` + "`" + ` に使う ID を表示します。端末では、
最後の行に実行中の呼び出しを表示します。--json では 1 行に 1 つのオブジェクトを出力します。`,
	"Waiting for calls; Ctrl-C ends it.":                      "呼び出しを待っています。Ctrl-C で終了します。",
	"also show when calls begin":                              "呼び出しの開始も表示する",
	"Some calls were missed here; `genkan calls` lists them.": "ここで一部の呼び出しを表示できませんでした。`genkan calls` で一覧を確認できます。",
	"begins":         "開始",
	"%d running: %s": "%d 件を実行中：%s",
	"which tools come first, by the highest `figure`: calls, errors, p50, p95 or tokens": "この`数値`の大きいツールを先に表示する：calls、errors、p50、p95、tokens",
	"--sort must be calls, errors, p50, p95 or tokens, not %q":                           "--sort には calls、errors、p50、p95、tokens のいずれかを指定してください（指定された値：%q）",
	"ERROR":                "エラー",
	"(unknown)":            "（不明）",
	"%s must be on or off": "%s には on か off を指定してください",
	"SAVED":                "節約",
	"The answer was stored and its outline returned, which saved about %s tokens.":     "応答を保存して概要を返したため、約 %s トークンを節約しました。",
	"show the outline that an agent gets of an answer with more than so many `tokens`": "応答がこの`トークン数`を超えるとき、エージェントに返る概要を表示する",
	"%s must be one of %s, is %q":      "%s は次のいずれかでなければなりません：%s（現在の値%q）",
	"by must be server or tool, is %q": "by には server か tool を指定してください（現在の値%q）",
	"step is too short: %d seconds would make %d steps of that time, and %d is the most; take at least %d seconds, or a later since": "step が短すぎます。%d 秒では %d 区間になりますが、上限は %d 区間です。%d 秒以上にするか、since を後の時刻にしてください",
	"It read about %s tokens of a stored answer.": "保存された応答のうち、約 %s トークンを読みました。",
}
