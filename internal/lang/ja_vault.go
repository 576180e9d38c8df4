package lang

// jaVault are the words of vault: secrets that this machine keeps.
var jaVault = map[string]string{
	"the key of the kept secrets in %s is gone; put it back from a backup of that folder, or, if there is none, move the folder away, sign in to servers again, and set the secrets of the configuration again":                                                     "%s に保存されているシークレットの暗号鍵がありません。そのフォルダーのバックアップから暗号鍵を戻してください。なければフォルダーを別の場所へ移し、サーバーへのサインインと、設定で使うシークレットの登録をやり直してください",
	"the kept secrets in %s cannot be read; put that folder back from a backup, or move it away (do not remove it: what `genkan undo` puts back is in it), sign in to servers again, and set the secrets of the configuration again":                                "%s に保存されているシークレットを読み取れません。フォルダーをバックアップから戻すか、別の場所へ移し（`genkan undo` で戻す内容も入っているため、削除しないでください）、サーバーへのサインインと、設定で使うシークレットの登録をやり直してください",
	"%s, a kept secret, cannot be read; put that file back from a backup, or move it away (leave the others where they are), and sign in or set the secret again":                                                                                                   "保存されているシークレット「%s」を読み取れません。そのファイルをバックアップから戻すか、そのファイルだけを別の場所へ移し（ほかはそのままにしてください）、サインインまたはシークレットの登録をやり直してください",
	"secrets cannot be kept in %s; check that genkan may write there and that the disk is not full":                                                                                                                                                                 "シークレットを %s に保存できません。Genkan に書き込み権限があるか、ディスクに空きがあるかを確認してください",
	"others can read %s, the key of the kept secrets; run `chmod 600 %s`, and make new ones if this is a machine that you share":                                                                                                                                    "保存されているシークレットの暗号鍵 %s を、ほかの利用者が読み取れます。`chmod 600 %s` を実行し、共用のマシンであればシークレットを作り直してください",
	"the key of the kept secrets is in this machine's keyring, which does not give it out; unlock the keyring, or move %s away (do not remove it: what `genkan undo` puts back is in it), sign in to servers again, and set the secrets of the configuration again": "保存されているシークレットの暗号鍵はこのマシンのキーリングにありますが、取り出せません。キーリングのロックを解除するか、%s を別の場所へ移し（`genkan undo` で戻す内容も入っているため、削除しないでください）、サインインとシークレットの登録をやり直してください",

	// genkan secrets, genkan reload.
	"only an administrator may do this": "この操作は管理者だけができます",
	"Keep the keys that servers need":   "サーバーに必要なシークレットを保管する",
	"Keys and passwords need not stand in the configuration: keep them here, and\nwrite ${secret:NAME} where one is needed. They are encrypted; the key is in this\nmachine's keyring, or in a file of the data directory where there is none.": "API キーやパスワードを設定ファイルに書く必要はありません。ここに保管し、必要な場所に\n${secret:NAME} と書いてください。値は暗号化されます。暗号鍵はこのマシンのキーリングに、\nキーリングがなければデータディレクトリのファイルに置かれます。",
	"Keep a secret, typed or from standard input":            "シークレットを保管する（キー入力または標準入力から）",
	"Value of %s (it is not shown): ":                        "%s の値（表示されません）：",
	"Secret %s is kept. Refer to it with ${secret:%s}.":      "シークレット「%s」を保管しました。${secret:%s} で参照できます。",
	"a secret has at most %d bytes":                          "シークレットは %d バイト以内にしてください",
	"the secret is empty; nothing was kept":                  "値が空です。何も保管していません",
	"List the names of the kept secrets":                     "保管しているシークレットの名前を一覧表示する",
	"Forget a secret":                                        "シークレットを削除する",
	"no secret %s is kept; `genkan secrets list` shows them": "シークレット「%s」は保管されていません。`genkan secrets list` で一覧を確認できます",
	"Secret %s is forgotten.":                                "シークレット「%s」を削除しました。",
	"Have a running genkan read its configuration again":     "動作中の Genkan に設定を読み直させる",
	"Have a running genkan read its configuration again, with the secrets that it\nrefers to. It does so by itself when the file changes.": "動作中の Genkan に、設定とそこから参照されるシークレットを読み直させます。\nファイルが変わったときは自動的に読み直します。",
	"server %s cannot be used: %s":                                                                        "サーバー「%s」は使えません。%s",
	"it lacks something: %s":                                                                              "足りないものがあります：%s",
	"No secrets are kept. `genkan secrets set NAME` keeps one.":                                           "保存されているシークレットはありません。`genkan secrets set NAME` で保存できます。",
	"Servers of the configuration refer to it and will not start without it: %s.":                         "設定の次のサーバーが参照していて、これがないと起動しません：%s。",
	"the name of a secret has 1 to %d letters, digits, '.', '_' and '-', and is neither \".\" nor \"..\"": "シークレットの名前は、半角英数字と「.」「_」「-」を使い、%d 文字以内で入力してください（「.」と「..」は使えません）",
	"there is no secret %s; `genkan secrets set %s` keeps one":                                            "シークレット「%s」はありません。`genkan secrets set %s` で保存できます",
}
