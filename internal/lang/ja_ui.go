package lang

// What is said about the web UI and signing in to it.
var jaUI = map[string]string{
	"This build of genkan has no web UI; a build without the tag noui has it.": "このビルドの Genkan には Web UI がありません。タグ noui なしのビルドには含まれます。",
	"do not open the web UI in a browser":                                      "Web UI をブラウザーで開かない",
	"Open the web UI":                                                          "Web UI を開く",
	`Open the web UI of the genkan that runs for the data directory, or of one that is
started in the background.

The address that is printed signs one browser in as administrator, once, within ten
minutes. A genkan in the background, which editors have started, opens a port on
127.0.0.1 for it, and closes the port a minute after the last page was closed.`: `データディレクトリで動いている Genkan の Web UI を開きます。動いていなければ、
バックグラウンドで起動します。

表示されるアドレスで、10 分以内に一度だけ、ブラウザー 1 つが管理者としてサインイン
できます。エディターが起動したバックグラウンドの Genkan は、そのために 127.0.0.1 の
ポートを開き、最後のページが閉じられてから 1 分後に閉じます。`,
	"print the address, and do not open a browser":                                                  "アドレスを表示し、ブラウザーは開かない",
	"the genkan that runs is of an older version, which has no web UI; stop it, and run `%s` again": "動いている Genkan は Web UI のない古いバージョンです。停止してから、もう一度 `%s` を実行してください",
	"No browser could be opened; open the address above in one.":                                    "ブラウザーを開けませんでした。上のアドレスをブラウザーで開いてください。",
	"Web UI: %s": "Web UI のアドレス：%s",
	"The address signs one browser in, within ten minutes; `%s` makes another.":                                                          "このアドレスで、10 分以内にブラウザー 1 つがサインインできます。新しいアドレスは `%s` で作れます。",
	"this link does not work: it was used already, is older than %d minutes, or is not complete; `genkan ui` makes a new one":            "このリンクは使えません。使用済みか、有効期限（%d 分）が切れたか、URL が途中で欠けています。新しいリンクは `genkan ui` で作れます",
	"who has signed in cannot be checked, because the database does not answer; try again in a moment, and see genkan's log if it lasts": "データベースが応答しないため、サインインを確認できません。少し待ってからもう一度試し、続く場合は Genkan のログを確認してください",
	"this browser is not signed in any more; `genkan ui` makes a link that signs it in":                                                  "このブラウザーのサインインは終了しました。`genkan ui` で作るリンクからサインインできます",
	"no port could be opened for the web UI; `genkan serve --port PORT` serves it on one that you choose":                                "Web UI のポートを開けませんでした。`genkan serve --port PORT` で、ポートを選んで提供できます",
	"there is no such session": "そのセッションはありません",
	"only a page that genkan serves can sign in or out; a program sends a token with each request instead": "サインインとサインアウトができるのは Genkan のページだけです。プログラムは、リクエストごとにトークンを送ってください",
	"this is too long to be a token of genkan; copy the token again":                                       "長すぎるため、Genkan のアクセストークンではありません。もう一度コピーしてください",
	`send {"code": "…"} with the code of a link that "genkan ui" makes, or {"token": "…"} with a token`:    `{"code": "…"} で "genkan ui" が作ったリンクのコードを、または {"token": "…"} でトークンを送ってください`,
	"this file belongs to another version of genkan; reload the page":                                      "このファイルは別のバージョンの Genkan のものです。ページを再読み込みしてください",
	"there is no session %q; it may have ended by itself":                                                  "セッション%qはありません。自然に終了したのかもしれません",
	"A browser is signed in already; `%s` opens the page, and signs another one in.":                       "すでにサインインしているブラウザーがあります。`%s` でページを開けます（別のブラウザーのサインインもできます）。",
}
