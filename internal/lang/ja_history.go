package lang

// jaHistory is for the call history and its commands.
var jaHistory = map[string]string{
	"the call history in %s cannot be read; check that the folder is yours and that the disk works":                                   "%s の呼び出し履歴を読めません。フォルダーの所有者が自分であることと、ディスクが正常であることを確認してください",
	"there is no call %s in the history; `genkan calls` lists what there is. Calls are kept for some days, and clients see their own": "履歴に呼び出し %s はありません。`genkan calls` で一覧を確認できます。呼び出しが残るのは数日間で、クライアントに見えるのは自分の呼び出しだけです",
	"what was sent and received in this call cannot be read: it is damaged, or the key in the vault is another one now":               "この呼び出しで送受信した内容を読めません。壊れているか、保管庫の鍵が変わっています",
	"after must be the next of an earlier page": "after には、前のページの next を指定してください",

	"there is no call %s: the call history is off (record in the configuration)":                                                                                                                "呼び出し %s はありません。呼び出し履歴はオフです（設定の record）",
	"What was sent and received is not kept: the configuration said so when the call was made (record: {bodies: off}).":                                                                         "送受信した内容は残っていません。呼び出しの時点で、設定がそうなっていました（record: {bodies: off}）。",
	"What was sent and received is kept only for clients of this machine's user, and this one has a token. record: {bodies: all} in the configuration keeps it for every client, from then on.": "送受信した内容が残るのは、このマシンのユーザー自身のクライアントだけです。このクライアントはトークンを使っています。設定を record: {bodies: all} にすると、それ以後はすべてのクライアントについて残ります。",
	"What was sent and received is lost: calls came faster than they could be written.":                                                                                                         "送受信した内容は失われました。書き込みが追いつかないほど呼び出しが続きました。",
	"What was sent and received cannot be read: it is damaged, or it was encrypted with a key that the vault does not have any more.":                                                           "送受信した内容を読めません。壊れているか、保管庫にもうない鍵で暗号化されています。",

	"calls are not kept: the disk is full":  "ディスクに空きがないため、呼び出しを記録できません",
	"what is sent and received is not kept": "送受信した内容を記録できません",
	"calls are not kept":                    "呼び出しを記録できません",
	"what is sent and received is not kept: the key of the vault cannot be had: %s": "保管庫の鍵が使えないため、送受信した内容を記録できません: %s",
	"calls are not kept: %s":    "呼び出しを記録できません: %s",
	"outcome must be one of %s": "outcome は次のいずれかでなければなりません: %s",
	"%s must be a time such as 2026-11-15T14:00:00Z, or an age such as 10m, 2h or 7d; is %s": "%s には 2026-11-15T14:00:00Z のような時刻か、10m・2h・7d のような経過時間を指定してください（現在の値 %s）",
	"until is earlier than since, so no call can be between them":                            "until が since より前なので、その間の呼び出しはありません",
}
