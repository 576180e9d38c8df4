export default {
	"No workflow ran around this call.": "この呼び出しでは、ワークフローは実行されていません。",
	"Or it was too long ago: what nodes did is known of the last calls since Genkan started.":
		"記録が残っていない可能性もあります。ノードごとの記録は、Genkan の起動後の最近の呼び出しだけに残ります。",
	"version {n}": "バージョン {n}",
	"only watches": "シャドー",
	"beside the call": "呼び出しと並行",
	removed: "削除",
	"What was there before is not kept.": "変更前の内容は残っていません。",
	"line {n}": "{n} 行目",
	"Parts of the call": "呼び出しの内容",
	"Request and answer": "リクエストと応答",
	"Changes per node": "ノードごとの変更",
	Raw: "生データ",
	"As the API tells it": "API の応答そのまま",
	"All calls of this tool": "このツールの呼び出しをすべて表示",
	"queue {time}": "待機 {time}",
	"workflows {time}": "ワークフロー {time}",
	"questions to you {time}": "あなたへの確認 {time}",
	"server {time}": "サーバー {time}",
	"server not called": "サーバーは呼び出していません",
	"{n} attempts": "試行 {n} 回",
	"{client} called {tool} at {time}: {took} ({parts}).":
		"{client} が {time} に {tool} を呼び出しました。所要時間は {took} です（{parts}）。",
	"{client} called {tool} at {time}. The workflow {workflow} denied it after {took} ({parts}).":
		"{client} が {time} に {tool} を呼び出し、ワークフロー「{workflow}」が {took} で拒否しました（{parts}）。",
	"{client} called {tool} at {time}. It failed after {took} ({parts}): {outcome}.":
		"{client} が {time} に {tool} を呼び出し、{took} で失敗しました（{parts}）。結果：{outcome}。",
	"{client} called {tool} at {time}. The call has not ended yet; this page shows it when it has.":
		"{client} が {time} に {tool} を呼び出しました。まだ終わっていません。終わると、結果がここに表示されます。",
	"It came through {through}.": "{through} 経由の呼び出しです。",
	"The call {parent} made it.": "呼び出し {parent} の中で行われました。",
	"The answer cost {n} tokens.": "応答は {n} トークンです。",
	"An outline saved {saved} tokens.": "要約により {saved} トークンを節約しました。",
	"This record masks what {rules} found; the call itself had the real values.":
		"{rules} に当たる値は、この記録の中だけで伏せています。実際の呼び出しには本来の値が使われました。",
	"Masked in this record only, by the rules {rules}. The client sent the real value.":
		"ルール {rules} により、この記録の中だけで伏せています。クライアントは本来の値を送りました。",
	"Masked in this record only, by the rules {rules}. The client got the real value.":
		"ルール {rules} により、この記録の中だけで伏せています。クライアントは本来の値を受け取りました。",
	"Taken out by the workflows {names}. The client did not get it.":
		"色付きの部分は「{names}」が伏せました。元の値はクライアントに渡っていません。",
	"The answer was large, so the client got this outline of it. All of it is stored; {tool} reads its parts.":
		"応答が大きいため、クライアントはこの概要を受け取りました。全体は保存してあり、{tool} で一部ずつ読めます。",
	"No earlier call failed.": "これより前に失敗した呼び出しはありません。",
	"No later call failed.": "これより後に失敗した呼び出しはありません。",
	"The failed call before this one": "これより前に失敗した呼び出しへ",
	"The failed call after this one": "これより後に失敗した呼び出しへ",
	"Copy as": "コピー",
	Link: "リンク",
	"Markdown for an agent": "エージェント向け Markdown",
	"Only calls of tools that are there can be run again.": "再実行できるのは、現在使えるツールの呼び出しだけです。",
	"The arguments are not kept whole, so this call cannot be run again.":
		"引数の全体が記録されていないため、再実行できません。",
	"Secrets were taken out of the arguments, so this call cannot be run again.":
		"引数のシークレットを伏せてあるため、再実行できません。",
	"The tool is not there any more.": "このツールは現在ありません。",
	"Run again": "再実行",
	"Run {tool} again?": "{tool} を再実行しますか？",
	"It changes something. It is called with the same arguments, as you:":
		"このツールはデータを変更します。あなたの権限で、同じ引数を使って呼び出します。",
	"It may change or delete something. It is called with the same arguments, as you:":
		"このツールはデータを変更または削除する可能性があります。あなたの権限で、同じ引数を使って呼び出します。",
	"{tool} answered after {time}": "{tool} が {time} で応答しました",
	"What was sent and received is not kept whole, so it cannot be replayed.":
		"送受信した内容の全体が記録されていないため、再生できません。",
	"Replay through a draft": "ワークフローで再生",
	"Make a workflow from this call": "この呼び出しからワークフローを作成",
	draft: "下書き",
	"A new workflow": "新しいワークフロー",
	"Calls that it made": "この呼び出しから行われた呼び出し",
	"What was sent and received is not here.": "送受信した内容の記録がありません。",
	"What the client sent": "クライアントの送信内容",
	"What the client got": "クライアントの受信内容",
	"{n} tokens": "{n} トークン",
	Shown: "表示",
	Bytes: "バイト",
	"Nothing is kept.": "記録がありません。",
	"Only the beginning is kept, because it is large.": "サイズが大きいため、先頭の部分だけを記録しています。",
	"Where the time went": "時間の内訳",
	workflows: "ワークフロー",
	queue: "待機",
	"questions to you": "あなたへの確認",
	"wait for a person": "承認待ち",
	"not called": "呼び出しなし",
	skipped: "スキップ",
} as Record<string, string>;
