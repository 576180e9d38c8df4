export default {
	"Only an administrator sees the clients.": "クライアントは管理者だけが見られます。",
	"The files of {title} are as they were.": "{title} のファイルを元に戻しました。",
	"On this machine": "このマシン",
	"No client was found on this machine": "このマシンにクライアントが見つかりません",
	"Install Claude Code, Cursor, VS Code or another one, or connect one by hand below.":
		"Claude Code、Cursor、VS Code などを入れるか、下の方法で手動でつないでください。",
	connected: "接続済み",
	"not connected": "未接続",
	"{n} servers": "サーバー {n} 台",
	"{n} through Genkan": "うち {n} 台が Genkan 経由",
	"Put back": "元に戻す",
	Connect: "つなぐ",
	"{title} is connected. Restart it, so that it reads its file again.":
		"{title} をつなぎました。ファイルを読み直すように、再起動してください。",
	"Connect {title}": "{title} をつなぐ",
	"These entries would lead to Genkan. Every tool keeps its name; everything else in the file stays, and the file from before is kept.":
		"次の項目が Genkan を経由するようになります。ツールの名前は変わりません。ファイルのほかの部分はそのままで、変更前のファイルも保管します。",
	"Nothing would change: import its servers first.": "変更するものがありません。先にサーバーを取り込んでください。",
	"Stay as they are, because Genkan does not have them: {names}": "Genkan にないため、そのまま残るもの: {names}",
	Tokens: "トークン",
	"Name of a client on another machine, or of a script": "別のマシンのクライアント、またはスクリプトの名前",
	"Make a token": "トークンを作る",
	"The token of {name}. It is shown only now: copy it.":
		"{name} のトークンです。表示は今だけなので、コピーしてください。",
	"None yet. Clients on this machine that start Genkan themselves need none.":
		"まだありません。このマシンで Genkan を自分で起動するクライアントには不要です。",
	administrator: "管理者",
	"last seen {time}": "最後の利用: {time}",
	"never used": "未使用",
	"Its calls": "呼び出し",
	Revoke: "取り消す",
	"Revoke the token of {name}?": "{name} のトークンを取り消しますか?",
	"Whoever uses it is refused from now on.": "使っている相手は、これ以降拒否されます。",
	"By hand": "手動",
	"A client on this machine": "このマシンのクライアント",
	"A client elsewhere, with a token": "別の場所のクライアント(トークン使用)",
} as Record<string, string>;
