package lang

// jaVault are the words of vault: secrets that this machine keeps.
var jaVault = map[string]string{
	"the kept secrets in %s cannot be read; remove that folder, sign in to servers again, and set the secrets of the configuration again":                                                              "%s に保存されている秘密の値を読み取れません。そのフォルダーを削除し、サーバーへのサインインと、設定で使う秘密の値の登録をやり直してください",
	"secrets cannot be kept in %s; check that genkan may write there and that the disk is not full":                                                                                                    "秘密の値を %s に保存できません。genkan に書き込み権限があるか、ディスクに空きがあるかを確認してください",
	"others can read %s, the key of the kept secrets; run `chmod 600 %s`, and make new ones if this is a machine that you share":                                                                       "保存されている秘密の値の鍵 %s を、ほかの利用者が読み取れます。`chmod 600 %s` を実行し、共用のマシンであれば秘密の値を作り直してください",
	"the key of the kept secrets is in this machine's keyring, which does not give it out; unlock the keyring, or remove %s, sign in to servers again, and set the secrets of the configuration again": "保存されている秘密の値の鍵はこのマシンのキーリングにありますが、取り出せません。キーリングのロックを解除するか、%s を削除し、サインインと秘密の値の登録をやり直してください",
}
