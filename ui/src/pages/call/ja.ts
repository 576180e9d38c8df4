export default {
	"failed calls": "失敗した呼び出し",
	"Copied. Put the real value in place of {mask} before you run it.":
		"コピーしました。実行する前に、{mask} を本来の値に書き換えてください。",
	"not for this tool": "このツールは対象外",
	"With the name of the tool.": "ツールの名前を含みます。",
	"Before values were masked for this page.": "値を伏せる前の大きさです。",
	"Why it failed": "失敗の理由",
	"There is no record of a workflow around this call.": "この呼び出しには、ワークフローの記録がありません。",
	"None ran, or the record was not kept: Genkan keeps those of the last calls since it started.":
		"実行されていないか、記録が残っていません。ノードごとの記録が残るのは、Genkan を起動してからの直近の呼び出しだけです。",
	"It would have denied the call.": "実際に動いていれば、呼び出しを拒否していました。",
	"The tool was called, and its answer was withheld.": "ツールは呼び出されましたが、応答は渡されませんでした。",
	"It would have withheld the answer.": "実際に動いていれば、応答を渡しませんでした。",
	"It would have failed, and withheld the answer.": "実際に動いていれば、失敗し、応答を渡しませんでした。",
	"It would have failed, and refused the call.": "実際に動いていれば、失敗して呼び出しを拒否していました。",
	"It was not run, so nobody knows what it would have done.": "実行されなかったため、どう動いたかは分かりません。",
	"It would have changed the request and the answer.": "実際に動いていれば、送信内容と応答を変更していました。",
	"It would have changed the request.": "実際に動いていれば、送信内容を変更していました。",
	"It would have changed the answer.": "実際に動いていれば、応答を変更していました。",
	"It would have let the call through as it was.": "実際に動いていても、呼び出しをそのまま通していました。",
	"Nothing was changed.": "何も変更していません。",
	"The workflow was in shadow mode at this call: it only watched.":
		"この呼び出しのとき、ワークフローはシャドーで、記録だけを行いました。",
	"would have denied": "拒否していたところ",
	"not carried out": "適用していません",
	"beside the call": "呼び出しと並行",
	removed: "削除",
	"Here is what the step wrote, not what that replaced. A replay through the workflow shows both.":
		"ここに表示しているのは変更後の内容です。「ワークフローで試す」を使うと、変更前の内容も確かめられます。",
	"Parts of the call": "呼び出しの内容",
	"Request and answer": "リクエストと応答",
	"Changes per step": "ノードごとの変更",
	Raw: "生データ",
	"As the API tells it": "API の応答そのまま",
	"All calls of this tool": "このツールの呼び出しをすべて表示",
	"queue {time}": "待機 {time}",
	"workflows {time}": "ワークフロー {time}",
	"waited for a person {time}": "人への確認 {time}",
	"server {time}": "サーバー {time}",
	"server not called": "サーバーは呼び出していません",
	"{n} attempts": "試行 {n} 回",
	"{client} called {tool} at {time}: {took} ({parts}).":
		"{client} が {time} に {tool} を呼び出しました。所要時間：{took}（{parts}）。",
	"{client} called {tool} at {time}. The workflow “{workflow}” denied it after {took} ({parts}).":
		"{client} が {time} に {tool} を呼び出し、ワークフロー「{workflow}」が拒否しました。所要時間：{took}（{parts}）。",
	"{client} called {tool} at {time}. It was canceled after {took} ({parts}).":
		"{client} が {time} に {tool} を呼び出し、キャンセルされました。所要時間：{took}（{parts}）。",
	"The workflow “{name}” was in shadow mode at this call.":
		"この呼び出しのとき、ワークフロー「{name}」はシャドーでした。",
	"{client} called {tool} at {time}. It failed after {took} ({parts}): {outcome}.":
		"{client} が {time} に {tool} を呼び出し、失敗しました（{outcome}）。所要時間：{took}（{parts}）。",
	"{client} called {tool} at {time}. The call has not ended yet; this page shows it when it has.":
		"{client} が {time} に {tool} を呼び出しました。まだ終わっていません。終わると、結果がここに表示されます。",
	"It came through {through}.": "{through} 経由の呼び出しです。",
	"The call {parent} made it.": "呼び出し {parent} の中で行われました。",
	"The answer cost {n} tokens.": "応答は {n} トークンです。",
	"An outline saved {saved} tokens.": "概要により {saved} トークンを節約しました。",
	"This view masks values that match the rules {rules}, also those that a workflow put in.":
		"この画面では、ルール {rules} に該当する値を伏せています（ワークフローが入れた値も含みます）。",
	"Marks like {mark} are of this view. No workflow made them.":
		"{mark} のような印はこの画面で伏せた部分で、ワークフローによるものではありません。",
	"This view masks values that match the rules {rules}. The client sent the real value.":
		"この画面では、ルール {rules} に該当する値を伏せています。クライアントは本来の値を送りました。",
	"This view masks values that match the rules {rules}. The client got the real value.":
		"この画面では、ルール {rules} に該当する値を伏せています。クライアントは本来の値を受け取りました。",
	"Taken out by the workflows {names}. The client did not get it.":
		"黄色の部分は「{names}」が伏せました。元の値はクライアントに渡っていません。",
	"The answer was large, so the client got this outline of it. All of it is stored; {tool} reads its parts.":
		"応答が大きいため、クライアントはこの概要を受け取りました。全体は保存してあり、{tool} で一部ずつ読めます。",
	"No earlier call failed.": "これより前に失敗した呼び出しはありません。",
	"No later call failed.": "これより後に失敗した呼び出しはありません。",
	"The failed call before this one": "前の失敗",
	"The failed call after this one": "次の失敗",
	"Copy as": "コピー",
	Link: "リンク",
	"Markdown for an agent": "エージェント向け Markdown",
	"Only calls of tools that are there can be run again.": "再実行できるのは、現在使えるツールの呼び出しだけです。",
	"The arguments are not kept whole, so this call cannot be run again.":
		"引数の全体が記録されていないため、再実行できません。",
	"This view masks secrets in the arguments, so the call cannot be run again from here.":
		"この画面では引数のシークレットを伏せているため、ここからは再実行できません。",
	"The tool is not there any more.": "このツールは現在ありません。",
	"Run again": "再実行",
	"Run {tool} again?": "{tool} を再実行しますか？",
	"It changes something. It is called with the same arguments, as you:":
		"このツールはデータを変更します。サインイン中のユーザーの権限で、同じ引数を使って呼び出します。",
	"It may change or delete something. It is called with the same arguments, as you:":
		"このツールはデータを変更または削除する可能性があります。サインイン中のユーザーの権限で、同じ引数を使って呼び出します。",
	"{tool} answered after {time}": "{tool} が {time} で応答しました",
	"It did not reach a server, or what was sent and answered is not kept whole, so it cannot be replayed.":
		"サーバーに届かなかったか、送受信した内容の全体が記録されていないため、ワークフローで試せません。",
	"Replay through a draft": "ワークフローで試す",
	"Make a workflow from this call": "この呼び出しからワークフローを作成",
	"Calls that it made": "この呼び出しから行われた呼び出し",
	"What was sent and received is not here.": "送受信した内容の記録がありません。",
	"It is kept only for clients of this machine's user, and this client has a token.":
		"内容を保存するのは、このマシンのユーザーのクライアントの分だけです。このクライアントはトークンを使っています。",
	"It was not kept when the call was made.": "呼び出したときの設定では、内容を保存していませんでした。",
	"“What was sent and received” in Settings, History, chooses whose is kept, from then on.":
		"「設定」の「記録」にある「送受信の内容」で、これからどのクライアントの分を保存するかを選べます。",
	"To Settings, History": "「記録」の設定を開く",
	"What was sent and received is not kept, so this says only which parts a node changed.":
		"送受信した内容を保存していないため、ノードが変更した箇所だけを表示しています。",
	"Yellow marks are what a workflow took out.": "黄色の箇所は、ワークフローが伏せた値です。",
	"This is the answer as the client gets it. Secrets in it are not masked here.":
		"クライアントが受け取る応答をそのまま表示しています。シークレットは伏せていません。",
	"Show the call in the record": "この呼び出しの記録を表示",
	"What the client sent": "クライアントの送信内容",
	"What the client got": "クライアントの受信内容",
	"{n} tokens": "{n} トークン",
	Rendered: "整形",
	Bytes: "バイト列",
	"Nothing is kept.": "記録がありません。",
	"Genkan added for the client: {notice}": "Genkan がクライアントに添えたお知らせ：{notice}",
	"Only the beginning is kept, because it is large.": "サイズが大きいため、先頭の部分だけを記録しています。",
	"Where the time went": "時間の内訳",
	workflows: "ワークフロー",
	queue: "待機",
	"waited for a person": "人への確認",
	"wait for a person": "承認待ち",
	"not called": "呼び出しなし",
	skipped: "スキップ",
	"Changed by {names}. The client did not get what the server answered.":
		"{names} が変更しました。サーバーの元の応答はクライアントに渡っていません。",
} as Record<string, string>;
