package index

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The corpus is made up: sentences of hand-written templates and words, common
// ones often and rare ones seldom, as in real texts, with many made-up rare
// words so that the vocabulary grows with it. Document i is always the same.

var englishNouns = strings.Fields(`server client gateway tool request response error timeout database index search query
document item status tag user token session cache queue worker process thread memory disk network socket port address
configuration setting secret key vault password certificate proxy router endpoint schema migration transaction row column
table record log metric trace span alert dashboard report release version branch commit merge review test bug issue feature
task plan roadmap milestone sprint backlog customer account invoice payment order product price discount shipment stock
warehouse supplier contract meeting agenda decision note summary draft template page section paragraph image file folder
archive backup restore snapshot replica cluster node shard partition container image registry deployment pipeline job build
artifact package module library dependency interface adapter plugin hook event message topic stream buffer batch window
schedule calendar reminder notification email address phone location map route vehicle sensor device firmware signal battery
camera screen keyboard language translation dictionary glossary tokenizer stemmer ranking score filter facet suggestion`)

var englishVerbs = strings.Fields(`create update delete read write load store send receive open close start stop restart retry
validate parse encode decode compress encrypt decrypt sign verify check inspect monitor measure compare merge split copy
move rename search filter sort rank group count sum collect publish subscribe deliver schedule cancel approve reject assign
review test deploy build install configure enable disable connect disconnect register resolve handle catch raise report log`)

var englishAdjectives = strings.Fields(`new old slow fast broken stable empty full large small local remote shared private
public internal external temporary permanent optional required missing duplicate invalid valid pending active closed hidden
visible random sorted stale fresh durable exact partial common rare`)

var japaneseNouns = strings.Fields(`設計 実装 検索 索引 文書 項目 状態 種類 分類 利用者 管理者 権限 認証 認可 暗号 秘密 鍵 証明書 通信 接続 切断
再接続 障害 復旧 監視 記録 履歴 計測 性能 容量 速度 遅延 品質 試験 検証 評価 報告 会議 議事録 決定 課題 要望 不具合 修正 改善 機能 仕様 要件 計画 日程 予算 見積
契約 請求 支払 注文 商品 在庫 倉庫 配送 顧客 取引先 担当者 部署 組織 規則 手順 方針 資料 図面 画面 帳票 一覧 詳細 概要 目的 背景 結論 原因 対策 影響 範囲 期限
優先度 進捗 完了 保留 中止 開始 終了 登録 更新 削除 変更 追加 確認 承認 却下 送信 受信 保存 読込 書込 変換 圧縮 展開 比較 集計 並替 抽出 翻訳 辞書 用語 言語 文字
サーバー クライアント データベース データ ユーザー ユーザ システム ツール プロセス スレッド メモリ ディスク ネットワーク ポート アドレス トークン セッション
キャッシュ キュー ログ エラー タイムアウト リクエスト レスポンス スキーマ テーブル インデックス クエリ トランザクション バックアップ リリース バージョン
ブランチ レビュー テスト バグ タスク プロジェクト スケジュール メール ファイル フォルダ テンプレート ページ グラフ ノード クラスタ コンテナ デプロイ
パイプライン ビルド パッケージ モジュール ライブラリ インターフェース プラグイン イベント メッセージ ストリーム バッファ フィルタ ランキング スコア`)

var mixedNouns = strings.Fields(`API設計 REST呼び出し SQL文 HTTP接続 JSON形式 MCPサーバー OAuth認証 TLS証明書 CPU使用率 URL一覧 CSV出力 PDF資料 UI設計 Go言語
ＡＰＩ仕様 ﾃﾞｰﾀ移行 第3章 2024年度 v2移行 IDの採番`)

var japaneseEnds = strings.Fields(`する した しない できる できない された してください しましょう しました します している していた`)

const rareKanji = `亜哀挨愛曖握圧扱宛嵐安案暗以衣位囲医依委威為畏胃尉異移萎偉椅彙意違維慰遺緯域育一壱逸茨芋引印因咽姻員院淫陰飲隠韻右宇羽雨唄鬱畝浦運雲永泳英映栄営詠影鋭衛易疫益液駅悦越謁閲円延沿炎怨宴媛援園煙猿遠鉛塩演縁艶汚王凹央応往押旺欧殴桜翁奥横岡屋億憶臆虞乙俺卸音恩温穏下化火加可仮何花佳価果河苛科架夏家荷華菓貨渦過嫁暇禍靴寡歌箇稼課蚊牙瓦我画芽賀雅餓介回灰会快戒改怪拐悔海界皆械絵開階塊楷解潰壊懐諧貝外劾害崖涯街慨蓋該概骸垣柿各角拡革格核殻郭覚較隔閣確獲嚇穫学岳楽額顎掛潟括活喝渇割葛滑褐轄且株釜鎌刈干刊甘汗缶完肝官冠巻看陥乾勘患貫寒喚堪換敢棺款間閑勧寛幹感漢慣管関歓監緩憾還館環簡観韓艦鑑丸含岸岩玩眼頑顔願企伎危机気岐希忌汽奇祈季紀軌既記起飢鬼帰基寄規亀喜幾揮期棋貴棄毀旗器畿輝機騎技宜偽欺義疑儀戯擬犠議菊吉喫詰却客脚逆虐九久及弓丘旧休吸朽臼求究泣急級糾宮救球給嗅窮牛去巨居拒拠挙虚許距魚御漁`

var (
	rareRunes = []rune(rareKanji)
	kanaRunes = []rune(`アイウエオカキクケコサシスセソタチツテトナニノハヒフヘホマミムメモラリルレロワン`)
	syllables = strings.Fields(`ba be bi bo ca co cu da de di do fa fe fi ga go ha he ka ki ko la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to va ve vi zo`)
	types     = []string{"issue", "issue", "issue", "doc", "doc", "decision", "knowledge", "session"}
	statuses  = []string{"Open", "Open", "Open", "In Progress", "Review", "Completed", "Completed", "Closed"}
	tagNames  = []string{"api", "search", "設計", "運用", "billing", "security", "性能", "ui", "docs", "release"}
)

// writer makes up one document.
type writer struct{ *rand.Rand }

// zipf picks a number below n, small ones far more often.
func (w writer) zipf(n int) int { return min(n-1, int(math.Exp(w.Float64()*math.Log(float64(n)+1)))-1) }

func (w writer) of(list []string) string { return list[w.zipf(len(list))] }

// rareWord makes the k-th rare word, always the same.
func rareWord(k int) string {
	r := rand.New(rand.NewPCG(uint64(k), 11))
	var b strings.Builder
	for range 2 + r.IntN(3) {
		b.WriteString(syllables[r.IntN(len(syllables))])
	}
	return b.String() + string(rune('a'+r.IntN(26)))
}

func rareJapanese(k int) string {
	r := rand.New(rand.NewPCG(uint64(k), 12))
	runes, n := rareRunes, 2+r.IntN(2)
	if k%3 == 0 {
		runes, n = kanaRunes, 3+r.IntN(4)
	}
	word := make([]rune, n)
	for i := range word {
		word[i] = runes[r.IntN(len(runes))]
	}
	return string(word)
}

func (w writer) noun() string {
	if w.IntN(12) == 0 {
		return rareWord(w.zipf(60_000))
	}
	return w.of(englishNouns)
}

func (w writer) 名詞() string {
	switch w.IntN(16) {
	case 0, 1:
		return rareJapanese(w.zipf(60_000))
	case 2:
		return w.of(mixedNouns)
	}
	return w.of(japaneseNouns)
}

func (w writer) english() string {
	n, v, a := w.noun, func() string { return w.of(englishVerbs) }, func() string { return w.of(englishAdjectives) }
	switch w.IntN(7) {
	case 0:
		return fmt.Sprintf("The %s %s can %s the %s before the %s is %s. ", a(), n(), v(), n(), n(), a())
	case 1:
		return fmt.Sprintf("When a %s fails to %s, %s the %s and %s it again. ", n(), v(), v(), n(), v())
	case 2:
		return fmt.Sprintf("We decided to %s every %s %s of the %s. ", v(), a(), n(), n())
	case 3:
		return fmt.Sprintf("%ss and %ss are kept in the %s; %s ones are removed after %d days. ", n(), n(), n(), a(), w.IntN(90))
	case 4:
		return fmt.Sprintf("To %s the %s, open the %s and look for %s. ", v(), n(), n(), n())
	case 5:
		return fmt.Sprintf("%sing the %s costs %d ms, which is too much for a %s %s. ", v(), n(), w.IntN(5000), a(), n())
	}
	return fmt.Sprintf("See %s %d: the %s was %s. ", n(), w.IntN(100_000), n(), a())
}

func (w writer) 日本語() string {
	n, e := w.名詞, func() string { return w.of(japaneseEnds) }
	switch w.IntN(8) {
	case 0:
		return fmt.Sprintf("%sの%sを%s%sときは、%sを見直す。", n(), n(), n(), e(), n())
	case 1:
		return fmt.Sprintf("%sが%sになったため、%sと%sを%s。", n(), n(), n(), n(), e())
	case 2:
		return fmt.Sprintf("この%sでは、%sの%sについて説明する。", n(), n(), n())
	case 3:
		return fmt.Sprintf("%sは%sに%sを%s。", n(), n(), n(), e())
	case 4:
		return fmt.Sprintf("%d件の%sのうち、%sが必要なものは%sで%s。", w.IntN(2000), n(), n(), n(), e())
	case 5:
		return fmt.Sprintf("%sから%sへの移行は、%sの後に%s。", n(), n(), n(), e())
	case 6:
		return fmt.Sprintf("なお、%sの%sは%sの%sと同じである。", n(), n(), n(), n())
	}
	return fmt.Sprintf("%s・%s・%sを%sにまとめた。", n(), n(), n(), n())
}

// known are the documents that were made already: tests ask for the same ones
// again and again, and to make one costs more than to index it.
var known sync.Map

// made is document i (from 0), about a kilobyte long.
func made(i int) Document {
	const most = 20_000 // those of benchmarks are not kept
	if d, ok := known.Load(i); ok {
		return d.(Document)
	}
	d := written(i)
	if i < most {
		known.Store(i, d)
	}
	return d
}

func written(i int) Document {
	w := writer{rand.New(rand.NewPCG(uint64(i), 10))}
	d := Document{
		ID: int64(i)*3 + 1, Type: types[w.IntN(len(types))], Status: statuses[w.IntN(len(statuses))],
		Updated: 1_700_000_000_000 + int64(w.IntN(40_000_000))*1000,
	}
	for range w.IntN(4) {
		d.Tags = append(d.Tags, tagNames[w.zipf(len(tagNames))])
	}
	want := 300 + w.IntN(1300)
	sentence := w.日本語
	switch kind := w.IntN(100); {
	case kind < 45:
		d.Title = w.名詞() + "の" + w.名詞()
		d.Description = w.日本語()
	case kind < 85:
		sentence = w.english
		d.Title = strings.ToUpper(w.noun()[:1]) + w.noun() + " " + w.of(englishVerbs) + " " + w.noun()
		d.Description = w.english()
	default:
		sentence = func() string {
			if w.IntN(2) == 0 {
				return w.english()
			}
			return w.日本語()
		}
		d.Title = w.of(mixedNouns) + "の" + w.名詞() + " (" + w.noun() + ")"
		d.Description = w.日本語() + w.english()
	}
	var b strings.Builder
	for b.Len() < want {
		b.WriteString(sentence())
	}
	d.Content = b.String()
	return d
}

func corpus(n int) []Document {
	list := make([]Document, n)
	for i := range list {
		list[i] = made(i)
	}
	return list
}

func textSize(d *Document) int {
	n := len(d.Title) + len(d.Description) + len(d.Content)
	for _, t := range d.Tags {
		n += len(t)
	}
	return n
}

func seq(documents []Document) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, d := range documents {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// ownDocs are the sections of the project's own documents, English and
// Japanese, numbered from an id.
func ownDocs(tb testing.TB, from int64) []Document {
	tb.Helper()
	root := filepath.Join("..", "..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		tb.Fatal(err)
	}
	files = append(files, filepath.Join(root, "README.md"), filepath.Join(root, "README.ja.md"))
	var list []Document
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for part := range strings.SplitSeq("\n"+string(text), "\n#") {
			title, content, _ := strings.Cut(part, "\n")
			if strings.TrimSpace(part) == "" {
				continue
			}
			list = append(list, Document{
				ID: from + int64(len(list)), Type: "doc", Status: "Open",
				Title: strings.Trim(title, "# "), Content: content, Tags: []string{filepath.Base(file)},
			})
		}
	}
	return list
}

// open builds a base of documents and opens it.
func open(tb testing.TB, documents []Document) *Base {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "base")
	if err := Build(tb.Context(), path, 1, seq(documents), nil); err != nil {
		tb.Fatal(err)
	}
	b, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// indexOf is an index of documents that are all in the base.
func indexOf(tb testing.TB, documents []Document) *Index {
	tb.Helper()
	x := New(open(tb, documents))
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}
