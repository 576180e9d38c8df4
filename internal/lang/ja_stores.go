package lang

// jaStores are the words of identity, kb and sqlite: tokens, what is derived
// from items, and the data directory.
var jaStores = map[string]string{
	// identity
	"a token is needed: send it as \"Authorization: Bearer <token>\"; `genkan tokens add NAME` makes one":                           "アクセストークンが必要です。`Authorization: Bearer <token>` の形で送ってください。`genkan tokens add NAME` で発行できます",
	"the token is not known here, or was revoked: check it for missing characters, or make a new one with `genkan tokens add NAME`": "アクセストークンが登録されていないか、失効しています。文字の欠けがないか確認するか、`genkan tokens add NAME` で新しく作ってください",
	"the token is revoked, but the running genkan could not confirm it yet; it stops working there within 30 seconds":               "アクセストークンは失効しましたが、実行中の Genkan ではまだ確認できていません。30 秒以内に使えなくなります",
	"tokens cannot be checked, because the database does not answer; try again in a moment, and see genkan's log if it lasts":       "データベースが応答しないため、アクセストークンを確認できません。少し待ってからもう一度試し、続く場合は Genkan のログを確認してください",
	"%q cannot be the name of a client: %s":                                                                    "%qはクライアントの名前に使えません（%s）",
	"the client name %q is reserved: choose another":                                                           "クライアント名%qは予約されています。別の名前を選んでください",
	"%q cannot be the name of a token: %s":                                                                     "%qはアクセストークンの名前に使えません（%s）",
	"the token name %q is reserved: choose another":                                                            "アクセストークンの名前%qは予約されています。別の名前を選んでください",
	"the admin token is a file in the data directory: remove the file and restart genkan to get a new one":     "管理者トークンはデータディレクトリのファイルです。新しくするには、ファイルを削除して Genkan を再起動してください",
	"the admin token file can be read by other users, and that cannot be changed; it must belong to this user": "管理者トークンのファイルがほかのユーザーに読める状態で、変更もできません。このユーザーの所有にしてください",
	"the admin token file cannot be read":                                                                      "管理者トークンのファイルを読み取れません",
	"the admin token file cannot be read; it must belong to this user":                                         "管理者トークンのファイルを読み取れません。このユーザーの所有にしてください",
	"the admin token file cannot be written; make the data directory writable for this user":                   "管理者トークンのファイルを書き込めません。データディレクトリをこのユーザーが書き込めるようにしてください",
	"the admin token file changed while it was read; try again":                                                "管理者トークンのファイルが読み取り中に変更されました。もう一度試してください",
	"the admin token file could be read by other users (mode %04o) and is now closed to them; if somebody may have seen it, remove it, and the next start makes a new one": "管理者トークンのファイルがほかのユーザーに読める状態（モード %04o）だったため、読めないようにしました。見られた可能性がある場合は削除してください。次の起動時に新しく作られます",
	"the admin token file does not hold a token of %d to %d letters, digits and signs on one line; remove it, and the next start makes a new one":                          "管理者トークンのファイルに、%d〜%d 文字の英数字・記号 1 行のトークンがありません。削除すると、次の起動時に新しく作られます",
	"the admin token file is not a regular file; remove it, and the next start makes a new one":                                                                            "管理者トークンのファイルが通常のファイルではありません。削除すると、次の起動時に新しく作られます",

	// kb
	"another process is building the text index of the knowledge base: wait until it is done, and try again if that is still needed": "別のプロセスがナレッジベースの全文索引を作成中です。終わるまで待ち、必要であればもう一度試してください",

	// sqlite
	"genkan is closing its database": "Genkan はデータベースを閉じています",
	"the data directory cannot be written: make it and the files in it writable for the user that runs genkan, or use another data directory": "データディレクトリに書き込めません。ディレクトリとその中のファイルを Genkan の実行ユーザーが書き込めるようにするか、別のデータディレクトリを使ってください",
	"the database belongs to another program: move it away, or use another data directory":                                                    "データベースは別のプログラムのものです。移動するか、別のデータディレクトリを使ってください",
	"the database failed in a way that genkan does not know; its log has the details":                                                         "データベースで原因不明のエラーが起きました。詳細は Genkan のログにあります",
	"the database is damaged: stop genkan, restore the file from a backup or move it away, and start again":                                   "データベースが壊れています。Genkan を止め、ファイルをバックアップから復元するか移動して、起動し直してください",
	"the database is locked by another program: try again, and if it lasts, end the program that holds it open":                               "データベースが別のプログラムにロックされています。もう一度試し、続く場合は、開いているプログラムを終了してください",
	"the database is not a regular file: use another data directory":                                                                          "データベースが通常のファイルではありません。別のデータディレクトリを使ってください",
	"the database was written by a newer genkan (its schema is %d, this genkan knows %d): update genkan, or use another data directory":       "データベースは新しいバージョンの Genkan で書かれています（スキーマは %d、この Genkan の対応は %d まで）。Genkan を更新するか、別のデータディレクトリを使ってください",
	"the disk failed to read or write the database: check that it is healthy and has free space, and see genkan's log":                        "データベースの読み書き中にディスクでエラーが起きました。ディスクの状態と空き容量、Genkan のログを確認してください",
	"the disk is full, and nothing was saved: free some space, and genkan goes on by itself":                                                  "ディスクに空きがないため、保存できませんでした。空き容量を増やすと、Genkan は自動的に再開します",
	"there is a token named %q already: choose another name, or revoke that one first":                                                        "%qという名前のアクセストークンはすでにあります。別の名前を選ぶか、先にそのアクセストークンを失効させてください",
	"there is no token named %q: `genkan tokens list` shows all":                                                                              "%qという名前のアクセストークンはありません。一覧は `genkan tokens list` で確認できます",
	"the database was removed, moved or replaced while genkan was running, and nothing was saved: genkan stops; " +
		"put the data directory back, and start genkan again": "Genkan の実行中にデータベースが削除、移動、または置き換えられたため、何も保存されませんでした。Genkan は終了します。データディレクトリを元に戻してから、Genkan を起動し直してください",
	"the database is read-only, and nothing was saved: to let genkan write, run `chmod u+w genkan.db` in the data directory, and start genkan again": "データベースは読み取り専用のため、何も保存されませんでした。書き込めるようにするには、データディレクトリで `chmod u+w genkan.db` を実行し、Genkan を起動し直してください",
	"the database %s is missing or empty, but there was one: genkan does not begin a new one by itself. " +
		"To restore a backup, run `rm -f \"%s\" \"%s\"; cp BACKUP \"%s\"`. " +
		"To begin anew and give up what it held, run `rm -f \"%s\" \"%s\" \"%s\" \"%s\"`": "以前にあったデータベース %s がないか、空になっています。Genkan が自動で新しく作り直すことはありません。" +
		"バックアップから復元するには `rm -f \"%s\" \"%s\"; cp BACKUP \"%s\"` を実行してください。" +
		"以前の内容をあきらめて新しく始めるには `rm -f \"%s\" \"%s\" \"%s\" \"%s\"` を実行してください",
	"other users can write to %s (mode %04o), and genkan runs the commands that are configured there: " +
		"check what is in it and run `chmod go-w \"%s\"`, or name another data directory with --data": "ほかのユーザーが %s に書き込めます（モード %04o）。Genkan はそこに設定されたコマンドを実行します。" +
		"中身を確かめてから `chmod go-w \"%s\"` を実行するか、--data で別のデータディレクトリを指定してください",
	"%s belongs to another user (%d), who can change what genkan runs: run genkan as that user, " +
		"run `chown %d \"%s\"` after checking what is in it, or name another data directory with --data": "%s は別のユーザー（%d）のもので、そのユーザーは Genkan が実行するものを変更できます。そのユーザーとして Genkan を実行するか、" +
		"中身を確かめてから `chown %d \"%s\"` を実行するか、--data で別のデータディレクトリを指定してください",
}
