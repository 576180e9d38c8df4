package lang

// jaHistory are the words of the call history.
var jaHistory = map[string]string{
	"after must be the next of an earlier page":                                                                                       "after には前のページの next の値を指定してください",
	"the call history in %s cannot be read; check that the folder is yours and that the disk works":                                   "%s にある呼び出し履歴を読み出せません。フォルダーの所有者とディスクの状態を確認してください",
	"there is no call %s in the history; `genkan calls` lists what there is. Calls are kept for some days, and clients see their own": "呼び出し %s は履歴にありません。`genkan calls` で一覧を確認できます。履歴の保存期間は数日で、クライアントに見えるのは自分の呼び出しだけです",
	"what was sent and received in this call cannot be read: it is damaged, or the key in the vault is another one now":               "この呼び出しの送受信内容を読み出せません。データが壊れているか、保管庫の鍵が変わっています",
}
