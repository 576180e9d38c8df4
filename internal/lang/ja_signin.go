package lang

// jaSignIn are the words of signin: signing genkan in to remote servers.
var jaSignIn = map[string]string{
	// What calls are told.
	"server %s needs sign-in; run `genkan login %s`":                                                                                              "サーバー「%s」にはサインインが必要です。`genkan login %s` を実行してください",
	"the sign-in to %s has ended; run `genkan login %s`":                                                                                          "%s へのサインインの有効期限が切れたか、取り消されました。`genkan login %s` を実行してください",
	"the sign-in to %s could not be renewed (%s); try again later, or run `genkan login %s`":                                                      "%s へのサインインを更新できませんでした（%s）。後でもう一度試すか、`genkan login %s` を実行してください",
	"what was kept of the sign-in to %s cannot be read; run `genkan login %s`":                                                                    "保存されている %s へのサインインを読み取れません。`genkan login %s` を実行してください",
	"server %s does not take the token that it was just given; run `genkan login %s`, and if that does not help, tell whoever runs the server":    "サーバー「%s」は発行されたばかりのトークンを受け付けません。`genkan login %s` を実行し、それでも直らない場合はサーバーの管理者に知らせてください",
	"server %s refuses this (HTTP %d), and signing in again would not help":                                                                       "サーバー「%s」に拒否されました（HTTP %d）。サインインし直しても変わりません",
	"server %s wants more permissions for this (%s); run `genkan login %s`, which asks for them":                                                  "サーバー「%s」のこの操作には追加の権限（%s）が必要です。`genkan login %s` を実行すると、その権限を求めます",
	"server %s wants more permissions than its sign-in has, and does not say which; tell whoever runs it":                                         "サーバー「%s」は現在のサインインにない権限を求めていますが、どの権限かを示していません。管理者に知らせてください",
	"server %s says that its sign-in lacks permissions which it has (%s); tell whoever runs it":                                                   "サーバー「%s」は権限が足りないとしていますが、その権限（%s）はすでに与えられています。管理者に知らせてください",
	"server %s wants permissions (%s) that were asked for when signing in and not given; sign in as somebody who has them with `genkan login %s`": "サーバー「%s」が求める権限（%s）は、サインインのときに求めましたが与えられませんでした。権限を持つ利用者として `genkan login %s` でサインインしてください",
	"genkan is stopping": "Genkan は終了処理中です",

	// Finding out where to sign in.
	"server %s does not ask for sign-in; `genkan servers %s` shows how it is":                                                                                       "サーバー「%s」はサインインを求めていません。状態は `genkan servers %s` で確認できます",
	"server %s describes itself as %q, which is not its address; a token for that would be a token for somebody else. Check its url in the configuration":           "サーバー「%s」は自身を%qと説明していますが、これはこのサーバーのアドレスではありません。そのトークンはほかの相手のものになってしまいます。設定の url を確認してください",
	"server %s signs in at %s, which says that it is %q; genkan does not sign in to somebody who goes by another name. Tell whoever runs it":                        "サーバー「%s」のサインイン先 %s は自身を%qと名乗っています。名前が一致しない相手にはサインインしません。管理者に知らせてください",
	"server %s signs in at %s, which does not say that it protects codes with PKCE (S256); without it others could take over the sign-in. Tell whoever runs it":     "サーバー「%s」のサインイン先 %s は PKCE（S256）への対応を示していません。PKCE がないとサインインを乗っ取られるおそれがあります。管理者に知らせてください",
	"server %s wants sign-in at an address without encryption; only HTTPS is used, and HTTP on this machine":                                                        "サーバー「%s」は暗号化されていないアドレスでのサインインを求めています。使えるのは HTTPS と、このマシン上の HTTP だけです",
	"signing in to %s leads to %s, an address inside a network, where that server must not send genkan; if it is right, name the host in the server's privateHosts": "%s へのサインインは、内部ネットワークのアドレス %s に向けられています。このサーバーがそこへ Genkan を向かわせることは許されません。正しい場合は、サーバーの privateHosts にそのホストを書いてください",
	"%s, where server %s sends genkan to sign in, redirects to an address without encryption; tell whoever runs it":                                                 "%s（サーバー「%s」のサインイン先）が、暗号化されていないアドレスへリダイレクトしています。管理者に知らせてください",
	"%s, where server %s sends genkan to sign in, does not answer in time; try again later":                                                                         "%s（サーバー「%s」のサインイン先）が時間内に応答しません。後でもう一度試してください",
	"%s, where server %s sends genkan to sign in, cannot be reached: %s; check the network and try again":                                                           "%s（サーバー「%s」のサインイン先）に接続できません：%s。ネットワークを確認して、もう一度試してください",
	"%s, where server %s sends genkan to sign in, gives an answer that cannot be used; tell whoever runs it":                                                        "%s（サーバー「%s」のサインイン先）の応答を利用できません。管理者に知らせてください",

	// Registering genkan.
	"server %s now signs in at %q, and not where its client id is from; if that is right, register genkan there and change the client in the configuration":               "サーバー「%s」のサインイン先は現在%qで、クライアント ID の発行元とは異なります。正しい場合は、そこで Genkan を登録し、設定のクライアントを変更してください",
	"server %s signs in at %s, where genkan cannot register itself; register it there by hand with the redirect address %s, and put the client id into the configuration": "サーバー「%s」のサインイン先 %s では、Genkan は自動登録できません。リダイレクト先 %s を指定して手動で登録し、クライアント ID を設定に書いてください",
	"%s does not register genkan for server %s (%s); register it there by hand with the redirect address %s, and put the client id into the configuration":                "%s は、サーバー「%s」のための Genkan の登録を受け付けません（%s）。リダイレクト先 %s を指定して手動で登録し、クライアント ID を設定に書いてください",

	// In front of the browser.
	"This is not the sign-in that genkan waits for. Start it again from the terminal.":                                                                                            "これは Genkan が待っているサインインではありません。ターミナルからやり直してください。",
	"The sign-in did not work. The terminal says why; you can close this window.":                                                                                                 "サインインできませんでした。理由はターミナルに表示されています。このウィンドウは閉じてかまいません。",
	"Genkan has your answer. You can close this window and go back to the terminal.":                                                                                              "Genkan が応答を受け取りました。このウィンドウを閉じて、ターミナルに戻ってください。",
	"genkan cannot listen on 127.0.0.1, where the browser comes back to after signing in; check what forbids it":                                                                  "サインイン後にブラウザーが戻ってくる 127.0.0.1 で待ち受けできません。何が妨げているかを確認してください",
	"port %d, where the browser comes back to after signing in to %s, is taken; end the program that has it":                                                                      "ポート %d（%s へのサインイン後にブラウザーが戻る先）が使用中です。使用しているプログラムを終了してください",
	"no browser could be opened to sign in to %s; run `genkan login %s` where there is one":                                                                                       "%s へのサインインのためのブラウザーを開けませんでした。ブラウザーのある環境で `genkan login %s` を実行してください",
	"nobody signed in to %s in time; run `genkan login %s` to start again":                                                                                                        "%s へのサインインが時間内に完了しませんでした。`genkan login %s` でやり直してください",
	"the sign-in to %s was given up; run `genkan login %s` to start again":                                                                                                        "%s へのサインインは中止されました。`genkan login %s` でやり直せます",
	"the sign-in to %s was refused in the browser; run `genkan login %s` to try again":                                                                                            "%s へのサインインはブラウザーで拒否されました。`genkan login %s` でやり直せます",
	"the sign-in to %s was not completed (%s); run `genkan login %s` again":                                                                                                       "%s へのサインインは完了しませんでした（%s）。もう一度 `genkan login %s` を実行してください",
	"%s does not let genkan sign in to %s (%s); run `genkan login %s` again":                                                                                                      "%s は、%s への Genkan のサインインを許可しません（%s）。もう一度 `genkan login %s` を実行してください",
	"the answer to signing in to %s did not come from %s, which was asked; nothing was sent to it. Run `genkan login %s` again, and if this comes back, do not trust that server": "%s へのサインインの応答は、要求先の %s から来たものではありません。何も送信していません。もう一度 `genkan login %s` を実行し、再び起きる場合はそのサーバーを信用しないでください",
	"what was pasted is not the address that this sign-in to %s ended at; run `genkan login %s` again, and copy the whole address from the browser's address bar":                 "貼り付けられたものは、この %s へのサインインが終わったアドレスではありません。もう一度 `genkan login %s` を実行し、ブラウザーのアドレス欄からアドレス全体をコピーしてください",

	// Keeping it.
}
