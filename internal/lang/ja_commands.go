package lang

// jaCommands are the words of cli: what commands print, and what they say about
// themselves.
var jaCommands = map[string]string{
	"show four tools that find, describe and call the others, instead of all":                                  "すべてのツールの代わりに、ツールを探す・説明する・呼び出す 4 つのツールを見せる",
	"name is missing: it must be the id of a tool that %s found":                                               "name がありません。%s で見つけたツールの id を指定してください",
	"Unknown tool: %s. Find its id with %s":                                                                    "不明なツールです：%s。%s で id を調べてください",
	"Unknown tool: %s. Did you mean %s? %s finds ids":                                                          "不明なツールです：%s。もしかして %s ですか？id は %s で調べられます",
	"No tool fits. Say it in other words, or say what the tool would be called; the connected servers are %s.": "合うツールがありません。別の言い方を試すか、ツールの名前になりそうな語を書いてください。接続しているサーバーは %s です。",
	"there is no server %q here; the connected servers are %s":                                                 "ここにサーバー%qはありません。接続しているサーバー：%s",
	"%s may change something, so %s does not call it; use %s":                                                  "%s は何かを変更する可能性があるため、%s では呼び出せません。%s を使ってください",
	"arguments must be a JSON object":                                                                          "arguments は JSON オブジェクトでなければなりません",
	"query is missing: say in a few words what the tool should do":                                             "query がありません。ツールに何をさせたいかを短く書いてください",
	"%s may change something now, so it is not called here; look at it again":                                  "%s は今では何かを変更する可能性があるため、ここでは呼び出しません。もう一度確認してください",
	// What they print.
	"  cause: %s": "  原因：%s",
	"This token is shown once. Clients send it as \"Authorization: Bearer TOKEN\".": "このアクセストークンは一度だけ表示されます。クライアントは \"Authorization: Bearer TOKEN\" の形で送ります。",
	"Token %s is revoked.":                        "アクセストークン「%s」を失効させました。",
	"(%s, %d bytes; --json shows them in base64)": "（%s、%d バイト。--json で base64 として表示）",
	"`genkan servers NAME` shows all about one; `genkan doctor` says what mends it.": "`genkan servers NAME` で 1 つの詳細を、`genkan doctor` で直し方を表示します。",
	"%s (server %s)":     "%s（サーバー %s）",
	"input schema:":      "入力スキーマ：",
	"last output:":       "最後の出力：",
	"NAME":               "名前",
	"STATE":              "状態",
	"TOOLS":              "ツール数",
	"PROTOCOL":           "プロトコル",
	"STARTS":             "起動回数",
	"SINCE":              "開始時刻",
	"PROBLEM":            "問題",
	"SERVER":             "サーバー",
	"DESCRIPTION":        "説明",
	"CREATED":            "作成日時",
	"LAST SEEN":          "最終利用",
	"CLIENT":             "クライアント",
	"never":              "なし",
	"name":               "名前",
	"state":              "状態",
	"tools":              "ツール数",
	"protocol":           "プロトコル",
	"starts":             "起動回数",
	"since":              "開始時刻",
	"process":            "プロセス",
	"problem":            "問題",
	"next try":           "次の再試行",
	"start took":         "起動にかかった時間",
	"hidden":             "非表示",
	"%s is left out: %s": "%s は除外されています：%s",
	"%s is shown to clients otherwise than its server sent it: %s": "%s はサーバーが送ったものとは違う形でクライアントに見せています：%s",

	// What is wrong with a command line.
	"--lang must be one of %s":                                                               "--lang: 次のいずれかを指定してください：%s",
	"--transport must be stdio or http, not %q":                                              "--transport には stdio か http を指定してください（%qは使えません）",
	"`%s` needs %s; `%s --help` shows how":                                                   "`%s` には %s が必要です。使い方は `%s --help` で確認できます",
	"`%s` takes no argument, and %q was given":                                               "`%s` は引数を取りませんが、%qが指定されています",
	"`%s` has no place for %q; `%s --help` shows what it takes. Quote what belongs together": "`%s` に%qを指定する場所はありません。使い方は `%s --help` で確認できます。ひとまとまりのものは引用符で囲んでください",
	"there is no flag %s here; --help shows those there are":                                 "%s というオプションはありません。使えるフラグは --help で確認できます",
	"%s needs a value after it":                                                              "%s の後に値が必要です",
	"%s must be a time such as 30s or 5m, not %q":                                            "%s には 30s や 5m のような時間を指定してください（%qは使えません）",
	"%s must be a whole number, not %q":                                                      "%s には整数を指定してください（%qは使えません）",
	"%s is either there or not; leave out what follows it":                                   "%s は付けるか付けないかだけです。後ろの値は不要です",
	"%s cannot be %q": "%s に%qは指定できません",
	"`%s` has no command %q; did you mean `%s %s`?":                                                                "`%s` に%qというコマンドはありません。もしかして：`%s %s`",
	"`%s` has no command %q; `%s --help` lists those there are":                                                    "`%s` に%qというコマンドはありません。一覧は `%s --help` で確認できます",
	"there is no command %q; `genkan --help` lists them":                                                           "%qというコマンドはありません。一覧は `genkan --help` で確認できます",
	"there is no command %q. Did you mean one of these?\n%s":                                                       "%qというコマンドはありません。もしかして：\n%s",
	"standard output must be a file or a pipe":                                                                     "標準出力はファイルかパイプにしてください",
	"the arguments are not a JSON object; quote them, as in '{\"message\":\"hello\"}'":                             "引数が JSON オブジェクトではありません。'{\"message\":\"hello\"}' のように引用符で囲んでください",
	"no genkan serves %s; start it with `genkan serve`, or name its data directory with --data":                    "%s で動いている Genkan がありません。`genkan serve` で起動するか、--data でデータディレクトリを指定してください",
	"there is no admin token in %s; start genkan once with `genkan serve`, or name its data directory with --data": "%s に管理者トークンがありません。一度 `genkan serve` で Genkan を起動するか、--data でデータディレクトリを指定してください",

	// Help.
	"Usage:":                 "使い方：",
	"Aliases:":               "別名：",
	" (default %s)":          "（既定：%s）",
	"Available Commands:":    "コマンド：",
	"[flags]":                "[オプション]",
	"[command]":              "[コマンド]",
	"Flags:":                 "オプション：",
	"Global Flags:":          "共通オプション：",
	"Help about any command": "コマンドのヘルプを表示する",
	"Generate the autocompletion script for the specified shell": "シェルの補完スクリプトを生成する",
	"help for %s":    "%s のヘルプを表示する",
	"version for %s": "%s のバージョンを表示する",
	"Use \"%s [command] --help\" for more information about a command.": "コマンドの詳しい説明は \"%s コマンド --help\" で表示できます。",

	"The front door to your agent's tools": "エージェントのツールへの玄関",
	`Genkan unites the MCP servers you use behind one endpoint.

  genkan import        takes over the servers of your editors
  genkan connect       lets an editor's servers come through genkan
  genkan serve         starts the gateway on 127.0.0.1:3000
  genkan ui            opens the web UI
  genkan stdio         is for clients that spawn their servers
  genkan servers       shows how your servers are
  genkan login SERVER  signs in to a remote server
  genkan calls         shows which tools were called, and how it went
  genkan doctor        says what is wrong, and what mends it

Exit status: 0 fine, 1 the tool reported an error or the doctor a problem, 2 wrong
input, 3 not found, 4 not allowed, 5 conflict, 6 too much, 7 unavailable, 8 too
slow, 70 a fault of genkan's own, 130 canceled.`: `Genkan は、使っている MCP サーバーを 1 つのエンドポイントにまとめます。

  genkan import        エディターのサーバーを取り込む
  genkan connect       エディターのサーバーを Genkan 経由にする
  genkan serve         127.0.0.1:3000 でゲートウェイを起動する
  genkan ui            Web UI を開く
  genkan stdio         サーバーを自分で起動するクライアントのためのもの
  genkan servers       サーバーの状態を表示する
  genkan login SERVER  リモートサーバーにサインインする
  genkan calls         どのツールが呼び出され、どうなったかを表示する
  genkan doctor        問題と直し方を表示する

終了ステータス：0 正常、1 ツールがエラーを返した、または doctor が問題を見つけた、2 入力の誤り、3 見つからない、
4 許可されていない、5 競合、6 多すぎる、7 利用できない、8 時間切れ、70 Genkan 内部の不具合、130 キャンセル。`,
	"`directory` of the database, the admin token and the configuration":           "データベース、管理者トークン、設定ファイルを置く`ディレクトリ`",
	"configuration `file` (default DATA/genkan.yaml)":                              "設定`ファイル`（既定：DATA/genkan.yaml）",
	"`host:port` to listen on, or that genkan listens on (default 127.0.0.1:3000)": "待ち受けるアドレス、または Genkan が待ち受けているアドレス（`host:port`、既定：127.0.0.1:3000）",
	"`level` of the log: fatal, error, warn, info, debug, trace (default info)":    "ログの`レベル`：fatal、error、warn、info、debug、trace（既定：info）",
	"`language` of messages: en or ja (default: that of the locale, or en)":        "メッセージの`言語`：en、ja（既定：ロケールの言語、なければ en）",
	"print JSON":        "JSON で出力する",
	"Print the version": "バージョンを表示する",

	"Start the gateway": "ゲートウェイを起動する",
	`Start the gateway: the MCP endpoint /mcp, the REST API /v1 and the web UI /ui/ on
127.0.0.1:3000. At a terminal it prints the address of the web UI. Unless a browser
is signed in to it already, the address signs one in, and is opened.

The servers behind it are listed in the configuration file, by default
genkan.yaml in the data directory, in the shape that MCP clients use:

  mcpServers:
    everything:
      command: npx
      args: ["-y", "@modelcontextprotocol/server-everything"]

The file is read again when it changes, and on SIGHUP.`: `ゲートウェイを起動します。127.0.0.1:3000 で MCP エンドポイント /mcp、
REST API /v1、Web UI /ui/ を提供します。端末では Web UI のアドレスを表示します。
サインイン済みのブラウザーがなければ、サインインできるアドレスを表示して開きます。

奥のサーバーは設定ファイル（既定はデータディレクトリの genkan.yaml）に、
MCP クライアントと同じ形で書きます。

  mcpServers:
    everything:
      command: npx
      args: ["-y", "@modelcontextprotocol/server-everything"]

ファイルは、変更されたときと SIGHUP を受けたときに読み直されます。`,
	"Serve the client that spawned this process":                               "このプロセスを起動したクライアントに応答する",
	"`transport` to serve: stdio or http":                                      "`通信方式`：stdio、http",
	"`port` to listen on, 0 for one that is free (default 3000)":               "待ち受ける`ポート`（0 は空いているポート、既定：3000）",
	"`host` to listen on (default 127.0.0.1)":                                  "待ち受ける`ホスト`（既定：127.0.0.1）",
	"`name` beside localhost that requests may be for (repeatable)":            "localhost のほかにリクエストの宛先として許可する`名前`（複数指定可）",
	"listen beyond loopback without TLS, because a proxy before genkan has it": "前段のプロキシが TLS を終端するため、TLS なしでループバック以外でも待ち受ける",
	"certificate `file`": "証明書の`ファイル`",
	"key `file`":         "秘密鍵の`ファイル`",

	"Show how the servers are":        "サーバーの状態を表示する",
	"List the tools, or show one":     "ツールの一覧、または 1 つの詳細を表示する",
	"only the tools of this `server`": "この`サーバー`のツールだけ",
	"Call a tool":                     "ツールを呼び出す",
	`Call a tool. ARGUMENTS is a JSON object, or - to read one from standard input.

  genkan call everything__echo '{"message":"hello"}'

The texts of the answer are printed, and of images what they are; --json prints
the whole answer. The exit status is 1 when the tool reports an error.`: `ツールを呼び出します。ARGUMENTS は JSON オブジェクトです。- を指定すると標準入力から読み取ります。

  genkan call everything__echo '{"message":"hello"}'

応答のテキストを出力し、画像などは種類と大きさを示します。--json を付けると応答全体を出力します。
ツールがエラーを返した場合、終了ステータスは 1 です。`,
	"end the call after this `time`, such as 2m (default: when it made no progress for as long as timeout of the tool says, or 30s)": "この`時間`（2m など）が過ぎたら呼び出しを終える（既定：ツールの timeout の設定、または 30s の間、進捗がないとき）",

	"Give clients tokens, and take them back": "クライアントのアクセストークンを発行する、失効させる",
	`Every client that calls the URL of genkan needs a token, on this machine too; those
that start "genkan stdio" need none. The admin token is in the file admin-token of
the data directory. A token's name is the client's name in the
log and the metrics. A running genkan knows of changes at once; when a token was
last seen is written down once a minute.`: `Genkan の URL に接続するクライアントには、同じマシンからでもアクセストークンが
必要です。"genkan stdio" を起動するクライアントには不要です。管理者トークンは
データディレクトリのファイル admin-token にあります。アクセストークンの名前は、ログと
メトリクスでのクライアントの名前になります。変更は実行中の Genkan にすぐ反映されます。
最後に使われた時刻は 1 分ごとに記録されます。`,
	"Make a token and print it, once": "アクセストークンを発行し、一度だけ表示する",
	"List the tokens' names":          "アクセストークンの名前を一覧表示する",
	"Take a token back":               "アクセストークンを失効させる",
	"Speak MCP over standard input and output, for clients that spawn their servers.\n\n" +
		"All such processes of a data directory share one set of servers: this one joins\n" +
		"the genkan that runs for it (`genkan serve`, or one in the background), or\n" +
		"starts one in the background, which ends ten minutes after its last client\n" +
		"(GENKAN_BACKGROUND_IDLE sets another time, such as 1h). Its log is genkan.log in\n" +
		"the data directory.\n\n" +
		"What the running one cannot do as asked (it is of another version, has another\n" +
		"configuration file or language, or the configuration uses environment variables\n" +
		"that have other values here), this process does by itself, and says so in its\n" +
		"log; with --standalone it always does.\n\n" +
		"--only shows a part of the house: one server alone, under its own tool names, or\n" +
		"several with their prefixes.\n\n" +
		"--client says who the client is: `genkan doctor` then knows when it was last\n" +
		"seen, `clients` in the configuration means it, and the log names it\n" +
		"(local:NAME).": "サーバーを自分で起動するクライアントのために、標準入出力で MCP を話します。\n\n" +
		"同じデータディレクトリのプロセスは、一組のサーバーを共有します。このプロセスは、\n" +
		"動作中の Genkan（`genkan serve` またはバックグラウンドのもの）に参加します。なければ\n" +
		"バックグラウンドで起動します。それは最後のクライアントが去って 10 分後に終了します\n" +
		"（GENKAN_BACKGROUND_IDLE で 1h のように変更できます）。ログはデータディレクトリの\n" +
		"genkan.log です。\n\n" +
		"動作中の Genkan が求めに応じられないとき（バージョン、設定ファイル、言語、または\n" +
		"設定で使う環境変数の値が異なるとき）は、このプロセスが単独で動作し、ログに\n" +
		"理由を書きます。--standalone を付けると常に単独で動作します。\n\n" +
		"--only は一部だけを見せます。サーバーが 1 つなら元のツール名のまま、複数なら\n" +
		"プレフィックス付きです。\n\n" +
		"--client はクライアントの名前です。`genkan doctor` が最後の接続を示し、設定の\n" +
		"`clients` で指定でき、ログにも（local:NAME の形で）現れます。",
	"`name` of the client": "クライアントの`名前`",
	"start the servers in this process, for this client alone":                                     "サーバーをこのプロセスで、このクライアントのためだけに起動する",
	"`server` to show to this client (repeatable, or with commas)":                                 "このクライアントに見せる`サーバー`（複数指定可、カンマ区切りも可）",
	"Serve `genkan stdio` processes":                                                               "`genkan stdio` のプロセスにサービスを提供する",
	"no place for a socket could be had in the data directory":                                     "データディレクトリにソケットを作れませんでした",
	"%s must be a time such as 10m":                                                                "%s には 10m のような時間を指定してください",
	"--only %s names a server that is not configured, or is disabled; `genkan servers` lists them": "--only %s に、設定されていないか、オフのサーバーが含まれています。`genkan servers` で一覧を確認できます",
	"genkan's background process was lost while this call was under way; the call may or may not have been carried out, so check before you repeat it":                           "この呼び出しの途中で Genkan のバックグラウンドプロセスが失われました。呼び出しが実行されたかどうかは不明です。繰り返す前に確認してください",
	"genkan's background process was lost, and no other one could be reached in time; the call was not carried out. Try again, and look into genkan's log if that does not help": "Genkan のバックグラウンドプロセスが失われ、時間内に別のプロセスに接続できませんでした。呼び出しは実行されていません。やり直し、それでも解決しない場合は Genkan のログを確認してください",
	"genkan's background process was lost, and too many calls wait for another one; the call was not carried out. Try again in a moment":                                         "Genkan のバックグラウンドプロセスが失われ、待っている呼び出しが多すぎます。呼び出しは実行されていません。少し待ってからやり直してください",

	"Sign in to a server": "サーバーにサインインする",
	`Sign in to a remote server in the browser, once for all clients. Genkan renews
the sign-in by itself and keeps it encrypted on this machine. Without SERVER the
servers are listed with their sign-ins.

Where there is no browser, open the address that is shown on another machine,
and paste the address that the browser ends at, although its page does not load.`: `ブラウザーでリモートサーバーにサインインします。一度のサインインをすべての
クライアントで使えます。Genkan はサインインを自動で更新し、このマシンに暗号化して
保存します。SERVER を省くと、サーバーとサインインの状態を一覧表示します。

ブラウザーがない場合は、表示されたアドレスをほかのマシンで開き、最後に移動した
アドレスを貼り付けてください。そのページは読み込めなくてもかまいません。`,
	"open no browser, and ask for the address that one ended at":     "ブラウザーを開かず、移動先のアドレスの貼り付けを求める",
	"register genkan anew, where a sign-in service has forgotten it": "サインイン先で Genkan の登録が失われている場合に、登録し直す",
	"Sign out of a server": "サーバーからサインアウトする",
	"Sign out of a server: the sign-in is revoked where that is possible, and forgotten here.":                                        "サーバーからサインアウトします。可能な場合はサインインを失効させ、保存されたものを削除します。",
	"there is no server %q in the configuration; %s":                                                                                  "設定にサーバー%qはありません。%s",
	"server %s is a process on this machine, which nobody signs in to; a key that it needs goes into its env, best as ${secret:NAME}": "サーバー「%s」はこのマシン上のプロセスなので、サインインはありません。必要なキーは env に書いてください。${secret:NAME} の形を勧めます",
	"server %s has oauth: false in the configuration; remove that to sign in to it":                                                   "サーバー「%s」には設定で oauth: false が指定されています。サインインするには削除してください",
	"server %s cannot be signed in to: %s":                                                                                            "サーバー「%s」にはサインインできません。%s",
	"Asking %s where to sign in …":                                                                                                    "%s にサインイン先を問い合わせています…",
	"Signed in to %s.":                                                                                                                "%s にサインインしました。",
	"Signed in to %s until %s; it gave nothing to renew that with.":                                                                   "%s にサインインしました（%s まで）。自動更新の手段は与えられませんでした。",
	"Sign in to %s at this address:":                                                                                                  "次のアドレスで %s にサインインしてください：",
	"It is being opened in your browser; waiting for your answer there …":                                                             "ブラウザーで開いています。ブラウザーでの操作を待っています…",
	"No browser could be opened; please open it by hand.":                                                                             "ブラウザーを開けませんでした。アドレスを手動で開いてください。",
	"In a browser on another machine the last page will not load. Paste its address here:":                                            "ほかのマシンのブラウザーでは最後のページを読み込めません。そのアドレスをここに貼り付けてください：",
	"Nobody is signed in to %s.":                                                                                                      "%s にはサインインしていません。",
	"Signed out of %s.":                                                                                                               "%s からサインアウトしました。",
	"No genkan runs here now; the next one will use it.":                                                                              "現在ここで動作している Genkan はありません。次に起動したときに使われます。",
	"The genkan that runs here does not serve %s now.":                                                                                "動作中の Genkan は現在 %s を提供していません。",
	"%s is ready, with %d tools.":                                                                                                     "%s が稼働中です（ツール %d 個）。",
	"%s is %s: %s":                                                                                                                    "%s は %s です：%s",
	"%s is still starting; `genkan servers %s` shows how it is.":                                                                      "%s はまだ起動中です。状態は `genkan servers %s` で確認できます。",
	"sign-in":                              "サインイン",
	"signed in; the token at hand ends %s": "サインイン済み（現在のトークンの期限 %s）",
	"signed in":                            "サインイン済み",
	"ready":                                "稼働中",
	"starting":                             "起動中",
	"down":                                 "停止",
	"needs sign-in":                        "要サインイン",
	"No server of the configuration has a url, so there is nothing to sign in to.": "設定に url を持つサーバーがないため、サインイン先はありません。",
	"SIGN-IN":                          "サインイン",
	"WHAT NEXT":                        "次の操作",
	"none, or not needed":              "なし、または不要",
	"needed":                           "必要",
	"%s asks for more permissions: %s": "%s で追加の権限を求めます：%s",
	"ends %s; then %s":                 "%s に期限切れ。その後は %s",

	"No genkan ran for %s; one was started in the background.":                                       "%s で動いている Genkan がなかったため、バックグラウンドで起動しました。",
	"Still starting, so that their tools are missing here: %s. `genkan servers` shows how they are.": "まだ起動中のため、次のサーバーのツールはここにありません：%s。状態は `genkan servers` で確認できます。",
	"not responding": "応答なし",
	"There are no tokens besides the admin token. `genkan tokens add NAME` makes one.":                                       "管理者トークンのほかにアクセストークンはありません。`genkan tokens add NAME` で発行できます。",
	"The genkan that runs uses the configuration %s; --config %s has no effect on it. Stop it first, or leave out --config.": "動いている Genkan の設定は %s です。--config %s は効きません。先に止めるか、--config を外してください。",
	"the backup broke off; look into genkan's log, and try again":                                                            "バックアップが途中で切れました。Genkan のログを確認し、もう一度試してください",
	"a backup is being made or downloaded already; wait until that is done":                                                  "バックアップはすでに作成中またはダウンロード中です。終わるまで待ってください",
	"--%s is empty; give it a value, or leave it out to have no such limit":                                                  "--%s が空です。値を指定するか、絞り込まない場合は外してください",
	"[deprecated]": "[非推奨]",
}
