export default {
	on: "オン",
	"off for everybody": "全員に対してオフ",
	"What it does": "できること",
	Why: "一致した理由",
	Labels: "ラベル",
	Score: "スコア",
	"by meaning": "意味が近い",
	"{n} found": "{n} 件",
	"What should the tool do?": "ツールにさせたいことは?",
	"All servers": "すべてのサーバー",
	"An agent that searches is told that nothing fits.": "エージェントが検索すると、該当なしと答えます。",
	"Nothing fits well": "よく合うものがありません",
	"No tool has these words": "該当するツールがありません",
	"No tools yet": "ツールはまだありません",
	"Say what it should do in other words; English and Japanese both work.":
		"別の言葉で試してください。日本語でも英語でも検索できます。",
	"Tools come with servers.": "ツールはサーバーと一緒に入ります。",
} as Record<string, string>;
