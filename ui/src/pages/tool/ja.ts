export default {
	"About the tool": "ツールの情報",
	Schema: "スキーマ",
	"Description and tags": "説明と分類",
	"As clients see it": "クライアントに見える内容",
	"How to write the arguments": "引数の書き方",
	Example: "例",
	Arguments: "引数",
	"Correct the JSON first. Nothing was done.": "先に JSON を直してください。何も実行していません。",
	"Try it": "試す",
	Run: "実行",
	Answer: "応答",
	"Waiting for {server}…": "{server} の応答を待っています…",
	"Waiting for approval…": "承認を待っています…",
	"This tool is off for clients: nobody can call it, and no workflow runs around it.":
		"このツールはクライアントに非公開のため、呼び出せません。ワークフローも動きません。",
	"There is no tool {name}": "{name} というツールはありません",
	"All tools": "ツール一覧へ",
	"It may have another name now, or its server is gone or has not started yet.":
		"名前が変わったか、サーバーが削除されたか、まだ起動していません。",
	"Server {name}": "サーバー {name}",
	"Its server: {name}": "サーバー：{name}",
	"Cancel the call": "呼び出しをキャンセル",
	"{n} s": "{n} 秒",
	"Nothing was called. Look at the marked fields.": "まだ呼び出していません。エラーのある欄を確認してください。",
	"Call it anyway": "このまま呼び出す",
	"A workflow may fill in or change arguments before they are checked.":
		"ワークフローが、引数を確認する前に補ったり変更したりすることがあります。",
	"What the tool answers appears here.": "実行結果がここに表示されます。",
	"Run {name}?": "{name} を実行しますか？",
	"Its server says that this tool can destroy things.":
		"サーバーの情報によると、このツールはデータを削除または上書きする可能性があります。",
	"Saved. Searches use it at once.": "保存しました。検索にはすぐに反映されます。",
	Description: "説明",
	"Shown to agents in place of the server's. Empty gives the word back to the server.":
		"サーバーの説明の代わりに、エージェントに表示されます。空にすると、サーバーの説明に戻ります。",
	Category: "カテゴリ",
	"Tags, with commas between them": "タグ（「、」または「,」区切り）",
} as Record<string, string>;
