export default {
	"no call yet": "呼び出しはまだありません",
	"last call {time}": "最後の呼び出し：{time}",
	"Only an administrator sees the clients.": "クライアントを表示できるのは管理者だけです。",
	"The files of {title} are as they were.": "{title} のファイルを元に戻しました。",
	"The entries of {title} are as they were. What was changed in its files since then stays.":
		"{title} の設定のエントリを元に戻しました。そのあとでファイルに加えられた変更はそのままです。",
	"The file of {title} cannot be read: {problem}. Correct it by hand.":
		"{title} のファイルを読み取れません：{problem}。手で直してください。",
	"On this machine": "このマシン",
	"No client was found on this machine": "このマシンにはクライアントが見つかりません",
	"Install Claude Code, Cursor, VS Code or another one, or connect one by hand below.":
		"Claude Code、Cursor、VS Code などをインストールするか、下の「手動で設定する」の手順でつないでください。",
	"Not found on this machine: {n}": "このマシンで見つからないクライアント（{n}）",
	"When one of them is installed, its command gives it an entry for Genkan, with the tools of all servers.":
		"インストールしたあとでコマンドを実行すると、クライアントの設定に、すべてのサーバーのツールが使える Genkan のエントリを追加します。",
	connected: "接続済み",
	"not connected": "未接続",
	"{n} servers": "サーバー {n} 個",
	", {n} through Genkan": "（うち {n} 個が Genkan 経由）",
	"Its entries for {names} do not work: such a server is not configured, or is off.":
		"設定のエントリ {names} は使えません。指しているサーバーが登録されていないか、オフです。",
	"Disconnect it, or delete these entries from the file.":
		"「接続を解除」で接続前の状態に戻すか、そのエントリをファイルから削除してください。",
	Disconnect: "接続を解除",
	"Put the file back": "ファイルを元に戻す",
	"Disconnect {title}?": "{title} の接続を解除しますか？",
	"Put the file of {title} back?": "{title} のファイルを元に戻しますか？",
	"Its file gets back what it had before Genkan. What else was changed there since then stays.":
		"ファイルの設定が、Genkan につなぐ前の内容に戻ります。そのあとでファイルに加えられたほかの変更は残ります。",
	"{n} entries lead to Genkan now.": "現在、{n} 個のエントリが Genkan 経由です。",
	"The servers that the file had before are called without Genkan and its workflows, and those that came with Genkan are no longer reached.":
		"以前からファイルにあったサーバーは、Genkan とワークフローを通さずに呼び出されるようになります。Genkan で追加されたサーバーは使えなくなります。",
	"Add the server, or delete these entries from the file.":
		"サーバーを追加するか、そのエントリをファイルから削除してください。",
	"Lower case letters, digits, . _ and -, at most 64 characters, a letter or digit first.":
		"半角の英小文字、数字、. _ - が使えます。英小文字か数字で始め、64 文字以内で入力してください。",
	Connect: "つなぐ",
	"{title} is connected. Restart it, so that it reads its file again.":
		"{title} をつなぎました。{title} を再起動すると反映されます。",
	"Connect {title}": "{title} をつなぐ",
	"These entries would lead to Genkan. Every tool keeps its name; one more, read_result, reads large answers in parts. Everything else in the file stays, and the file from before is kept.":
		"次の設定のエントリが Genkan 経由になります。ツールの名前は変わりません。大きな応答を分けて読むツール read_result が 1 つ加わります。ファイルのほかの部分は変更せず、変更前のファイルも保管します。",
	"One entry leads to all servers. Tools are called by their server and their name, such as github__list_issues.":
		"1 つのエントリで、すべてのサーバーにつながります。ツールの名前は github__list_issues のように、サーバーの名前が前に付きます。",
	"The file of {title} was changed meanwhile. Look at the change again.":
		"{title} のファイルがその間に変更されました。変更内容をもう一度確認してください。",
	"There is no server yet to connect it to.": "つなぐサーバーがまだありません。",
	"Nothing would change: import its servers first.": "変更するものがありません。先にサーバーを取り込んでください。",
	"Stay as they are, because Genkan does not have them: {names}": "Genkan にないため、変更しないサーバー：{names}",
	"Access tokens": "アクセストークン",
	"Name of a client on another machine, or of a script": "別のマシンのクライアント、またはスクリプトの名前",
	"Make a token": "アクセストークンを発行",
	"The token of “{name}”. It is shown only now: copy it.":
		"「{name}」のアクセストークンです。表示されるのは今回だけです。コピーしてください。",
	"None yet. Clients on this machine that start Genkan themselves need none.":
		"アクセストークンはまだありません。このマシン上で `genkan stdio` を起動するクライアントには不要です。",
	administrator: "管理者",
	"last seen {time}": "最終利用：{time}",
	"never used": "未使用",
	"Its calls": "呼び出し一覧",
	Revoke: "失効させる",
	"Revoke the token of “{name}”?": "「{name}」のアクセストークンを失効させますか？",
	"Whoever uses it is refused from now on.": "このアクセストークンを使っているクライアントは接続できなくなります。",
	"By hand": "手動で設定する",
	"A client on this machine": "このマシンのクライアント",
	"A client with a token": "アクセストークンを使うクライアント",
	"It has the tools of all servers and the knowledge base.": "すべてのサーバーのツールとナレッジベースが使えます。",
	"The token above stands in it.": "上のアクセストークンが入っています。",
	"Make a token above, and it stands here in place of TOKEN.":
		"上でアクセストークンを発行すると、TOKEN の場所に入ります。",
	"The address {address} works on this machine alone. For a client elsewhere, let Genkan listen on an address that it reaches, with TLS: the keys listen and tls of genkan.yaml.":
		"{address} はこのマシンでしか使えません。別のマシンから使うには、genkan.yaml の listen と tls で、外部から接続できるアドレスと TLS を設定してください。",
	"{title} has {names} now. Restart it, so that it reads its file again.":
		"{title} に {names} を追加しました。{title} を再起動すると反映されます。",
	"Add servers to {title}": "{title} にサーバーを追加",
	"An agent reaches only the servers that its client has an entry for. These are added; everything else in the file stays, and the file from before is kept.":
		"エージェントが使えるのは、クライアントに設定のエントリがあるサーバーだけです。次のエントリを追加します。ファイルのほかの部分はそのままで、変更前のファイルも保管します。",
	"the knowledge base": "ナレッジベース",
	"knowledge base": "ナレッジベース",
	"It has no entry for {names}.": "設定に {names} がまだありません。",
	"Add {name}": "{name} を追加",
	"Add {n} servers…": "サーバー {n} 個を追加…",
	"These clients are connected, but have no entry for {name}, so their agents do not reach it.":
		"次のクライアントの設定に、{name} がまだありません。追加すると、エージェントから使えるようになります。",
	"What it may use": "使える範囲",
	"may use only {servers}": "使えるサーバー：{servers} のみ",
	"may use all servers": "すべてのサーバーを使えます",
	"only tools that read": "読み取り専用のツールのみ",
	"is shown the profile “{name}”": "プロファイル「{name}」を表示",
	"May use": "使える範囲",
	"all servers": "すべてのサーバー",
	"only these servers": "選んだサーバーのみ",
	"Only tools that read": "読み取り専用のツールのみ",
	"Only tools that their servers mark as read-only. A tool that says nothing is left out.":
		"サーバーが読み取り専用と示しているツールだけです。何も示していないツールは使えません。",
	"kb, the knowledge base": "kb（ナレッジベース）",
	"Choose at least one.": "1 つ以上選んでください。",
	"Saved. It holds from now on.": "保存しました。これから有効です。",
	"What “{name}” may use": "「{name}」が使える範囲",
	"Tools beyond this are neither listed for it nor called; prompts and resources of other servers are refused. This also holds while all workflows are turned off.":
		"範囲外のツールは一覧に出ず、呼び出せません。ほかのサーバーのプロンプトとリソースは拒否されます。すべてのワークフローを一時停止しても、この制限は有効です。",
	"The profile “{name}” of genkan.yaml only chooses what it is shown first; it is no limit.":
		"genkan.yaml のプロファイル「{name}」は最初に見せるものを選ぶだけで、制限ではありません。",
} as Record<string, string>;
