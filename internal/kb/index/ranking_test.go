package index

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The collection of the ranking test, title|content; the first is document 1.
var judgedDocuments = titled(
	"Gateway retries|A call is sent again when it never left, or when the tool says that it is idempotent.",
	"Timeouts of calls|A call may take ten minutes without a sign of life. Progress pushes the timeout out.",
	"How the gateway starts servers|Each server is a child process. The gateway restarts it when it ends.",
	"Release checklist|Tag the commit, build the binaries, sign them, write the notes, announce the release.",
	"Incident: gateway down for an hour|The disk was full. Retries made it worse. We added an alert.",
	"Search ranking|BM25 with a boost for titles. Exact words beat stems; prefixes come last.",
	"Search index format|Postings are packed in blocks. The dictionary is sorted.",
	"Database backup|Copy the file while nobody writes, or use the backup command. Test the restore.",
	"Restoring a backup|Stop the server, copy the file back, start it and check the log.",
	"Naming conventions|Packages are nouns. Interfaces are declared by who uses them.",
	"Designing schemas|Keep tables narrow. Name columns as people speak.",
	"Designer onboarding|Where the design files are and whom to ask.",
	"OAuth sign-in|The browser is opened, a code comes back, and tokens are kept encrypted.",
	"Token rotation|Tokens are renewed before they end. A revoked token is refused within a second.",
	"Error messages|Say what happened, what it means, and what to do next.",
	"ユーザー管理の仕様|管理者はユーザーを登録、停止、削除できる。削除したユーザーは30日間復元できる。",
	"ユーザ登録画面|登録画面の項目と入力検査。メールアドレスは必須。",
	"API設計方針|外部に出すAPIは後方互換を守る。版はURLに入れない。",
	"APIの利用制限|一分間に百回まで。超えると429を返す。設計の経緯は別紙。",
	"データベース設計|表の正規化、索引の張り方、命名規則。",
	"データベースの障害対応|主系が落ちたときの切替手順と連絡先。",
	"バックアップと復元|毎晩三時に取得し、三十日間保存する。復元の手順は月に一度試す。",
	"検索の仕様|日本語は二文字ずつに分けて索引を作る。英語は語幹で探す。",
	"全文検索の性能測定|百万件で五ミリ秒以内。索引の大きさは本文以下。",
	"認証基盤の移行計画|既存のセッションを切らずに新しい認証へ移す。",
	"議事録 2024年3月|検索の遅さについて。索引を作り直すことに決めた。",
	"議事録 2024年4月|認証の移行を延期。ユーザーへの告知を先にする。",
	"リリース手順|タグを打ち、ビルドし、署名して公開する。",
	"エラーメッセージの書き方|何が起きたか、何を意味するか、次に何をするかを書く。",
	"サーバー監視|CPU使用率とメモリを一分ごとに記録し、閾値を超えたら通知する。",
	"サーバ構成図|三台のサーバと負荷分散装置。",
	"MCPサーバーの追加|設定ファイルにサーバーを書き、再読込する。",
	"Monitoring servers|CPU and memory are recorded every minute; an alert is sent above the threshold.",
	"通信の暗号化|TLS証明書は九十日ごとに更新する。",
	"Certificate renewal|TLS certificates are renewed every ninety days by a job.",
)

// judgements are queries with the documents that answer them: those before the
// bar fully, those behind it in part.
var judgements = map[string]string{
	"gateway retry":           "1 5|3",
	"retries":                 "1|5",
	"timeout":                 "2|",
	"call timeout":            "2|",
	"restart server":          "3|9",
	"release notes":           "4|",
	"search ranking":          "6|7",
	"search":                  "6 7|",
	"index format":            "7|",
	"backup":                  "8 9|",
	"restore backup":          "9 8|",
	"restoring":               "9|8",
	"design":                  "11|12",
	"designer":                "12|",
	"token":                   "14 13|",
	"tokne rotation":          "14|13",
	"error mesage":            "15|",
	"monitoring":              "33|",
	"tls certificate renewal": "35|",
	"ユーザー":                    "16 27|17",
	"ユーザ登録":                   "17|16",
	"ユーザー管理":                  "16|",
	"API設計":                   "18|19",
	"API":                     "18 19|",
	"設計":                      "18 20|19",
	"データベース":                  "20 21|",
	"データベース 障害":               "21|",
	"バックアップの復元":               "22|",
	"検索":                      "23 24 26|",
	"検索 索引":                   "23 24 26|",
	"認証":                      "25|27",
	"認証の移行":                   "25 27|",
	"議事録 認証":                  "27|",
	"サーバー":                    "30 32|31",
	"サーバ":                     "31 30 32|",
	"MCPサーバー":                 "32|",
	"CPU使用率":                  "30|",
	"証明書":                     "34|",
	"ｴﾗｰﾒｯｾｰｼﾞ":               "29|",
	"リリース":                    "28|",
}

// TestRanking: what people look for comes first. NDCG is 1 when every query has
// its answers at the top, in the order of how well they answer.
func TestRanking(t *testing.T) {
	x := indexOf(t, judgedDocuments)
	sum := 0.0
	for query, judged := range judgements {
		full, part, _ := strings.Cut(judged, "|")
		grades := map[string]float64{}
		var ideal []float64
		for _, id := range strings.Fields(full) {
			grades[id] = 3
			ideal = append(ideal, 3)
		}
		for _, id := range strings.Fields(part) {
			grades[id] = 1
			ideal = append(ideal, 1)
		}
		var got []float64
		r := x.Search(Query{Text: query, Limit: 10})
		for _, h := range r.Hits {
			got = append(got, grades[strconv.FormatInt(h.ID, 10)])
		}
		slices.SortFunc(ideal, func(a, b float64) int { return int(b - a) })
		ndcg := gain(got) / gain(ideal)
		if ndcg < .9 {
			t.Logf("%q: %.2f: %s, judged %s", query, ndcg, order(r), judged)
		}
		sum += ndcg
	}
	mean := sum / float64(len(judgements))
	t.Logf("NDCG@10 of %d queries: %.3f", len(judgements), mean)
	if mean < .95 {
		t.Errorf("NDCG@10 is %.3f", mean)
	}
}

func gain(grades []float64) float64 {
	sum := 0.0
	for i, g := range grades {
		sum += (math.Exp2(g) - 1) / math.Log2(float64(i)+2)
	}
	return sum
}
