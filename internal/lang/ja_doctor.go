package lang

// jaDoctor are the words of doctor, and of its command.
var jaDoctor = map[string]string{
	"Find out what is wrong, and what mends it": "問題と、その直し方を調べる",
	"Look at everything that has to work: this program, the data directory, the\n" +
		"configuration, the port, each server (it is started if need be), and each\n" +
		"client's file. Whatever is wrong is said with the command or the edit that mends\n" +
		"it. Without --rebuild nothing is changed. Names of servers limit the look to those.\n\n" +
		"--full also reads the whole database, and compares the index and the graph of the\n" +
		"knowledge base with every item. --rebuild does that, too, and mends what can be:\n" +
		"indexes are made anew, and what leads to nothing is removed. Both take minutes for\n" +
		"a million items; genkan answers meanwhile.\n\n" +
		"The genkan that runs is asked; if none does, one is started in the background,\n" +
		"as `genkan stdio` does, unless --no-start is given.\n\n" +
		"The exit status is 0 when nothing is a problem, and 1 when something is. Notes\n" +
		"and warnings do not count. What looks like a key is not shown.": "動作に必要なものをすべて調べます。このプログラム、データディレクトリ、設定、\n" +
		"ポート、各サーバー（必要なら起動します）、各クライアントのファイルです。問題は、\n" +
		"直すためのコマンドや編集とともに表示します。--rebuild がなければ何も変更しません。サーバーの名前を\n" +
		"指定すると、それだけを調べます。\n\n" +
		"--full を付けると、データベース全体を読み、ナレッジベースの索引とグラフをすべての\n" +
		"アイテムと比べます。--rebuild はさらに、直せるものを直します。索引を作り直し、\n" +
		"存在しないものを指す情報を取り除きます。100 万アイテムでは数分かかりますが、その間も\n" +
		"genkan は応答します。\n\n" +
		"動作中の genkan に尋ねます。なければ `genkan stdio` と同じようにバックグラウンドで\n" +
		"起動します。--no-start を付けると起動しません。\n\n" +
		"問題がなければ終了ステータスは 0、あれば 1 です。メモと警告は数えません。\n" +
		"鍵のように見えるものは表示しません。",
	"do not start a genkan when none runs":                   "動作中の genkan がなくても起動しない",
	"No genkan runs for %s: starting one in the background.": "%s で動いている genkan がないため、バックグラウンドで起動します。",
	"Problems: %d. Warnings: %d.":                            "問題: %d 件、警告: %d 件。",
	"Nothing is a problem. Warnings: %d.":                    "問題はありません。警告: %d 件。",
	"All is well.":                                           "すべて正常です。",
	"Program":                                                "プログラム",
	"Data":                                                   "データ",
	"Configuration":                                          "設定",
	"Port":                                                   "ポート",
	"Servers":                                                "サーバー",
	"Clients":                                                "クライアント",
	"ok":                                                     "正常",
	"note":                                                   "メモ",
	"warning":                                                "警告",

	// The program and who runs.
	"no genkan runs for this data directory, and none could be started": "このデータディレクトリで動いている genkan がなく、起動もできませんでした",
	"no genkan runs for this data directory":                            "このデータディレクトリで動いている genkan はありません",
	"it is not a folder":                                                "フォルダーではありません",
	"name another one with --data":                                      "--data で別のディレクトリを指定してください",
	"no genkan runs for this data directory, so servers were not tried": "このデータディレクトリで動いている genkan がないため、サーバーは試していません",
	"the genkan that runs is %s (process %d), this one is %s":           "動作中の genkan は %s（プロセス %d）、このプログラムは %s です",
	"they do not share servers, so editors may start each server twice; the database was not opened beside the other one": "サーバーを共有しないため、エディターが各サーバーを二重に起動することがあります。動作中の genkan を妨げないよう、データベースは開いていません",
	"stop process %d and start genkan again, or use the program that it was started with":                                 "プロセス %d を止めて genkan を起動し直すか、それを起動したプログラムを使ってください",
	"none was running; one was started in the background (process %d), and ends ten minutes after its last client":        "動作中のものがなかったため、バックグラウンドで起動しました（プロセス %d）。最後のクライアントが去って 10 分後に終了します",
	"it serves this data directory on %s (process %d)":                                                                    "%s でこのデータディレクトリを提供しています（プロセス %d）",
	"it serves this data directory in the background, for processes of yours only (process %d)":                           "バックグラウンドで、あなたのプロセスだけにこのデータディレクトリを提供しています（プロセス %d）",
	"%s %s, for %s": "%s %s（%s で使用）",

	// The data directory.
	"the data directory %s cannot be used":                             "データディレクトリ %s を使えません",
	"if it is yours; otherwise name another one with --data":           "自分のものでなければ --data で別のディレクトリを指定してください",
	"the data directory %s is not there yet; the first start makes it": "データディレクトリ %s はまだありません。最初の起動で作られます",
	"other users of this machine can look into the data directory %s":  "このマシンのほかのユーザーがデータディレクトリ %s を見ることができます",
	"data directory %s": "データディレクトリ %s",
	"other users of this machine can read the admin token":                                           "このマシンのほかのユーザーが管理者トークンを読むことができます",
	"whoever has it may start programs through genkan":                                               "これを持つ人は genkan を通じてプログラムを起動できます",
	"if somebody may have seen it, remove the file and restart genkan: it makes a new one":           "見られた可能性があれば、ファイルを削除して genkan を再起動してください。新しいものが作られます",
	"processes cannot meet in this data directory, so each `genkan stdio` starts servers of its own": "このデータディレクトリではプロセス同士が接続できないため、`genkan stdio` はそれぞれ自分のサーバーを起動します",
	"the kept secrets cannot be read":                                                                "保管された秘密を読み取れません",
	"%d secrets and sign-ins are kept; their key is in this machine's keyring":                       "秘密とサインインを %d 件保管しています。鍵はこのマシンのキーリングにあります",
	"%d secrets and sign-ins are kept; their key is in a file, because this machine has no keyring":  "秘密とサインインを %d 件保管しています。このマシンにキーリングがないため、鍵はファイルにあります",
	"the disk of the data directory has only %d MB left":                                             "データディレクトリのディスクの空きが %d MB しかありません",
	"when it is full, nothing more is written down":                                                  "いっぱいになると、何も記録できなくなります",
	"free some space":               "空き容量を増やしてください",
	"the database cannot be opened": "データベースを開けません",
	"database: %d KB":               "データベース: %d KB",

	// The configuration.
	"the configuration has mistakes": "設定に誤りがあります",
	"the configuration has mistakes; the genkan that runs still uses the former one": "設定に誤りがあります。動作中の genkan は以前の設定を使い続けています",
	"mend %s; a running genkan reads it again by itself":                             "%s を直してください。動作中の genkan は自動で読み直します",
	"no servers are configured":                                                      "サーバーが設定されていません",
	"takes over those of your editors; or add some to %s":                            "エディターのサーバーを取り込みます。または %s に追加してください",
	"%s: %d servers": "%s: サーバー %d 個",
	"%s of server %s has a key that stands in the file as it is": "%[2]s サーバーの %[1]s に、鍵がそのまま書かれています",
	"whoever sees the file has the key":                          "ファイルを見た人は誰でも鍵を使えます",
	"then write %s in its place":                                 "その後、代わりに %s と書いてください",
	"other users of this machine can read %s":                    "このマシンのほかのユーザーが %s を読むことができます",

	// The port.
	"%s is this data directory's":                                       "%s はこのデータディレクトリのものです",
	"%s is taken by a genkan of another data directory":                 "%s は別のデータディレクトリの genkan が使っています",
	"%s is taken by another program, so `genkan serve` could not start": "%s は別のプログラムが使っているため、`genkan serve` は起動できません",
	"stop that one, or set another port: listen in %s, or --port":       "それを止めるか、%s の listen か --port で別のポートを指定してください",
	"%s is free": "%s は空いています",
	"%s can be reached from other machines, and tokens would travel unencrypted":                    "%s にはほかのマシンから接続でき、トークンが暗号化されずに送られます",
	"set tls.cert and tls.key, or behindProxy if a proxy in front ends TLS, or listen on 127.0.0.1": "tls.cert と tls.key を設定するか、前段のプロキシが TLS を終端するなら behindProxy を設定するか、127.0.0.1 で待ち受けてください",
	"%s can be reached from other machines":                                                         "%s にはほかのマシンから接続できます",
	"the TLS certificate cannot be used":                                                            "TLS 証明書を使えません",
	"mend tls.cert and tls.key":                                                                     "tls.cert と tls.key を直してください",
	"the TLS certificate has expired":                                                               "TLS 証明書の期限が切れています",
	"the TLS certificate expires in %d days":                                                        "TLS 証明書の期限まであと %d 日です",
	"renew it, and restart genkan":                                                                  "更新して genkan を再起動してください",

	// Servers.
	"it needs the secret %s, which is not kept here or cannot be read":     "秘密 %s が必要ですが、保管されていないか、読み取れません",
	"it needs the environment variable %s, which is not set":               "環境変数 %s が必要ですが、設定されていません",
	"or set it where genkan starts":                                        "または、genkan を起動する環境で設定してください",
	"disabled":                                                             "無効",
	"it wants you to sign in":                                              "サインインが必要です",
	"it has not finished starting within %s":                               "%s 以内に起動が終わりませんでした",
	"it may still be downloading, or the command is no MCP server":         "まだダウンロード中か、コマンドが MCP サーバーではない可能性があります",
	"shows what it prints; a slow one needs a longer startupTimeout in %s": "出力を表示します。遅いサーバーには %s でより長い startupTimeout を指定してください",
	"not tried":                                "試していません",
	"ready; %d tools; MCP %s over %s":          "準備完了。ツール %d 個。MCP %s（%s）",
	"ready after %s; %d tools; MCP %s over %s": "%s で準備完了。ツール %d 個。MCP %s（%s）",
	"ready after %s at its first start, perhaps with a download; %d tools; MCP %s over %s": "%s で準備完了（初回起動のため、ダウンロードを含むことがあります）。ツール %d 個。MCP %s（%s）",
	"ready after %s, which is slow; %d tools; MCP %s over %s":                              "%s で準備完了（遅い）。ツール %d 個。MCP %s（%s）",
	"install it, so that its command need not look for it or download it at each start":    "インストールしておくと、起動のたびに探したりダウンロードしたりせずに済みます",
	"tools.allow and tools.deny hide %d tools: %s":                                         "tools.allow と tools.deny がツール %d 個を隠しています: %s",
	"it lists no tools": "ツールがありません",
	"down: %s":          "停止中: %s",
	"shows all that it printed; its command is in %s, and is tried again by itself":     "出力をすべて表示します。コマンドは %s にあり、自動で再試行されます",
	"see that its address in %s is right and that it runs; it is tried again by itself": "%s のアドレスが正しいか、動いているかを確認してください。自動で再試行されます",
	"its command %s is not there":                         "コマンド %s がありません",
	"install %s (%s), or write the full path of %s in %s": "%s（%s）をインストールするか、%s の絶対パスを %s に書いてください",
	"install it, or write its full path in %s":            "インストールするか、絶対パスを %s に書いてください",
	"%d resources have addresses that server %s has too, so where both are shown together they are left out: %s": "リソース %d 個のアドレスがサーバー %s にもあるため、両方をまとめて見せるところでは除外されます: %s",
	"%s is left out, because server %s has a tool of that name":                                                  "%s は除外されています。サーバー %s に同じ名前のツールがあります",
	"%s is left out, because server %s has a prompt of that name":                                                "%s は除外されています。サーバー %s に同じ名前のプロンプトがあります",
	"%s is left out, because server %s, which overwrites too and comes first, has a tool of that name":           "%s は除外されています。同じく overwrite を指定され、先に書かれているサーバー %s に同じ名前のツールがあります",
	"%s stands twice in its list, and the first one is used":                                                     "%s は一覧に 2 回あり、最初のものを使います",
	"it is the server's to mend":                        "サーバー側で直す必要があります",
	"give %s a prefix of its own in %s: \"prefix: %s\"": "%s に専用のプレフィックスを %s で指定してください: \"prefix: %s\"",
	"give %s a prefix of its own in %s: \"prefix: %s\"; or let it have the name: \"overwrite: true\"":            "%s に専用のプレフィックスを %s で指定してください: \"prefix: %s\"。名前を譲らせる場合は \"overwrite: true\" を指定してください",
	"%d of its tools are replaced by those of server %s: %s":                                                     "%d 個のツールがサーバー %s のツールに置き換えられています: %s",
	"%d of its tools stand in the place of others of their name: %s":                                             "%d 個のツールが同じ名前の別のツールを置き換えています: %s",
	"without \"overwrite\" of %s in %s those are back":                                                           "%s の \"overwrite\" を %s から外すと、置き換えられたツールが元に戻ります",
	"%d tools have no description, so that agents have to guess and a search finds them by their names only: %s": "%d 個のツールに説明がありません。エージェントは推測するしかなく、検索では名前でしか見つかりません: %s",
	"gives one to all clients": "すべてのクライアントに説明を表示します",
	"its definition would make clients drop all tools of the server, so it is the server's to mend": "この定義があるとクライアントがサーバーの全ツールを捨ててしまいます。サーバー側で直す必要があります",
	"%d definitions were mended, so that clients take them: %s":                                     "クライアントが受け付けるよう %d 個の定義を直しました: %s",
	"%d names of tools have more than letters, digits, _ and -, which clients may refuse: %s":       "%d 個のツール名に英数字・_・- 以外の文字があり、クライアントに拒否されることがあります: %s",
	"give the server a prefix in %s, and genkan replaces the rest; or hide them with tools.deny":    "%s でサーバーにプレフィックスを指定すると、genkan がほかの文字を置き換えます。または tools.deny で隠してください",
	"%d names of tools are longer than clients take with their own prefix: %s":                      "クライアントが付けるプレフィックスを含めると長すぎるツール名が %d 個あります: %s",
	"give the server a prefix in %s, and genkan shortens them; or hide them with tools.deny":        "%s でサーバーにプレフィックスを付けると genkan が短くします。または tools.deny で隠してください",
	"%d names of tools were shortened to what clients take: %s":                                     "クライアントが受け付ける長さに %d 個のツール名を縮めました: %s",
	"a shorter \"prefix\" in %s leaves more of them":                                                "%s の \"prefix\" を短くすると、より多くの文字が残ります",

	// Clients.
	"its file cannot be read, by genkan or by %s": "ファイルを genkan でも %s でも読み取れません",
	"mend %s by hand":                                                                             "%s を手で直してください",
	"%s has no MCP servers, genkan among them":                                                    "%s には genkan を含め MCP サーバーがありません",
	"%s takes about %d tools, and its entries show it %d":                                         "%s が扱えるツールは約 %d 個ですが、%d 個見せています",
	"which of them it leaves out is not said":                                                     "どれが省かれるかは示されません",
	"hide those that you do not need with tools.deny in %s, or take out entries":                  "不要なものを %s の tools.deny で隠すか、エントリーを減らしてください",
	"%s: all entries lead to genkan: %d":                                                          "%s: すべてのエントリーが genkan につながっています: %d 個",
	"%s: no entry leads to genkan: %s":                                                            "%s: どのエントリーも genkan につながっていません: %s",
	"%s: %d of %d entries do not lead to genkan: %s":                                              "%s: %[3]d 個中 %[2]d 個のエントリーが genkan につながっていません: %[4]s",
	"the entry %s in %s leads to %s, which is not configured or disabled":                         "%[2]s のエントリー %[1]s は %[3]s を指していますが、設定されていないか無効です",
	"lists those there are; or take out the entry":                                                "一覧を表示します。またはエントリーを削除してください",
	"the entry %s calls %s, where nobody answers":                                                 "エントリー %s の接続先 %s が応答しません",
	"the entry %s starts %s, which is not there":                                                  "エントリー %s が起動する %s がありません",
	"the token in %s is not known here: it was revoked, or is another genkan's":                   "%s のトークンはここでは不明です。失効しているか、別の genkan のものです",
	"%s has the admin token, with which programs can be started":                                  "%s に管理者トークンが書かれています。これがあるとプログラムを起動できます",
	"it has the token %s, and was never seen":                                                     "トークン %s を持っていますが、まだ一度も接続していません",
	"restart %s, so that it reads its file again":                                                 "%s を再起動して、ファイルを読み直させてください",
	"it has the token %s; last seen %s as %s":                                                     "トークン %s を持っています。最後の接続は %s（%s）です",
	"the entry %s in %s does not say who starts genkan, so it is not known when it was last seen": "%[2]s のエントリー %[1]s にはクライアント名の指定がないため、最後の接続がわかりません",
	"or add --client %s to its arguments":                                                         "または引数に --client %s を加えてください",
	"it comes as %s, and was never seen":                                                          "%s として接続しますが、まだ一度も接続していません",
	"it comes as %s; last seen %s as %s":                                                          "%s として接続します。最後の接続は %s（%s）です",
	"it comes as %s; last seen %s":                                                                "%s として接続します。最後の接続は %s です",
	"it has the token %s; last seen %s":                                                           "トークン %s を持っています。最後の接続は %s です",

	"a URL works only while `genkan serve` runs":                                                                                                                     "URL は `genkan serve` が動いている間だけ使えます",
	"makes the entry start genkan by itself":                                                                                                                         "項目が genkan を起動するようにします",
	"a server has the name kb, so the knowledge base is hidden from all clients":                                                                                     "kb という名前のサーバーがあるため、ナレッジベースはどのクライアントからも見えません",
	"what it holds is kept":                                                                                                                                          "中身は保たれています",
	"give that server another name in %s, and in the entries of clients that start genkan with --only kb":                                                            "%s でそのサーバーの名前を変え、--only kb で genkan を起動するクライアントの項目も合わせてください",
	"%d definitions may mislead people or agents":                                                                                                                    "人やエージェントを誤解させるおそれのある定義が %d 件あります",
	"look at them before you go on using the server; `genkan tools disable NAME` switches a tool off":                                                                "このサーバーを使い続ける前に確認してください。ツールは `genkan tools disable NAME` で無効にできます",
	"it changed the definitions of %d tools in the last seven days":                                                                                                  "過去 7 日間に %d 個のツールの定義が変更されました",
	"that is usual after an update of the server; otherwise look at them before you go on using it":                                                                  "サーバーの更新後であれば普通のことです。そうでなければ、使い続ける前に確認してください",
	"it does not respond: %s":                                                                                                                                        "応答しません: %s",
	"restarts it now; genkan does so itself if it stays silent. For a tool that takes long, raise timeout in %s":                                                     "で今すぐ再起動します。応答がないままなら genkan が自動的に再起動します。時間のかかるツールなら %s の timeout を延ばしてください",
	"correct the host name in its url in %s, or see that this machine has a network; it is tried again by itself":                                                    "%s の url のホスト名を直すか、このマシンのネットワークを確認してください。自動的に再試行されます",
	"start that server, or correct the port in its url in %s; it is tried again by itself":                                                                           "そのサーバーを起動するか、%s の url のポートを直してください。自動的に再試行されます",
	"see that the server runs on that machine, or correct the port in its url in %s; it is tried again by itself":                                                    "そのマシンでサーバーが動いているか確認するか、%s の url のポートを直してください。自動的に再試行されます",
	"check this machine's network, proxy, VPN and firewall, and the url in %s; it is tried again by itself":                                                          "このマシンのネットワーク、プロキシ、VPN、ファイアウォールと、%s の url を確認してください。自動的に再試行されます",
	"renew the certificate of the server; if it is still valid, correct the clock of this machine":                                                                   "サーバーの証明書を更新してください。まだ有効なら、このマシンの時計を直してください",
	"if you trust the server, add its authority to the certificates of this machine, or set SSL_CERT_FILE to a file with it where genkan starts, and restart genkan": "サーバーを信頼できるなら、その認証局をこのマシンの証明書に追加するか、genkan を起動する環境の SSL_CERT_FILE にその証明書のファイルを設定して、genkan を再起動してください",
	"write the host name that the certificate is for in its url in %s, or give the server a certificate for this one":                                                "%s の url に証明書のホスト名を書くか、サーバーにこのホスト名の証明書を設定してください",
	"write http:// instead of https:// in its url in %s, or turn on TLS in the server":                                                                               "%s の url を https:// ではなく http:// にするか、サーバーで TLS を有効にしてください",
	"write https:// instead of http:// in its url in %s, or correct the port":                                                                                        "%s の url を http:// ではなく https:// にするか、ポートを直してください",
	"see that its url in %s is that of an MCP endpoint, and look into the log of the server; it is tried again by itself":                                            "%s の url が MCP のエンドポイントのものか確認し、サーバーのログを調べてください。自動的に再試行されます",
	"see that its url in %s is right, https:// or http:// too, and look into the log of the server; it is tried again by itself":                                     "%s の url が（https:// か http:// かも含めて）正しいか確認し、サーバーのログを調べてください。自動的に再試行されます",
	"it has not responded within %s, and calls wait for its answers":                                                                                                 "%s 以内に応答がなく、呼び出しが応答を待っています",
	"a server that works on one call at a time responds to nothing else meanwhile":                                                                                   "一度に一つの呼び出ししか処理しないサーバーは、その間ほかの要求に応答しません",
	"if it stays so; calls under way fail then":                                                                                                                      "この状態が続く場合。処理中の呼び出しは失敗します",
	"it does not respond: nothing came from it within %s":                                                                                                            "応答しません: %s 以内に何も届きませんでした",
	"its process is stopped or stuck, or the way to it is cut; calls of its tools would wait in vain":                                                                "プロセスが停止しているか固まっている、または接続が途切れています。ツールを呼び出しても応答は返りません",
	"asking for a sign of life: %s":                                                                                                                                  "応答を確認しています: %s",
}
