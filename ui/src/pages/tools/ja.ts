export default {
	"What it does": "できること",
	Why: "一致した語",
	Score: "スコア",
	"by meaning": "意味が近い",
	"{n} found": "{n} 個",
	"What should the tool do?": "やりたいことで検索",
	"All servers": "すべてのサーバー",
	"An agent that searches is told that nothing fits.": "エージェントが同じ検索をすると、「該当なし」と伝えます。",
	"Nothing fits well": "よく合うツールはありません",
	"No tool has these words": "該当するツールはありません",
	"No tools yet": "ツールはまだありません",
	"Say what it should do in other words; English and Japanese both work.":
		"別の言葉で試してください。日本語でも英語でも検索できます。",
	"Tools come with servers.": "サーバーを追加すると、ツールが表示されます。",
} as Record<string, string>;
