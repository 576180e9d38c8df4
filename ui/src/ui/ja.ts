export default {
	Loading: "読み込んでいます",
	"Try again": "もう一度試す",
	"The page has made a mistake: {message}": "ページに不具合がありました: {message}",
	"The answer was {status}, not from Genkan.": "Genkan ではないところから {status} が返りました。",
	"Genkan does not answer. Is it still running?": "Genkan から応答がありません。動いているか確認してください。",
	Copied: "コピーしました",
	Copy: "コピー",
	Clear: "消す",
	Close: "閉じる",
	Cancel: "やめる",
	Undo: "元に戻す",
} as Record<string, string>;
