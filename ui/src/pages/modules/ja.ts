export default {
	"Hook modules": "フックモジュール",
	"Hook module": "フックモジュール",
	"New hook module": "新しいフックモジュール",
	"Write a script once, use it in many workflows": "スクリプトを 1 つ書いて、複数のワークフローで使えます",
	"A hook module is a script that the hooks of several workflows share. A change reaches all of them. Each hook can give it parameters of its own, in a form.":
		"フックモジュールは、複数のワークフローの「スクリプト」ノードで共有するスクリプトです。変更すると、使っているすべてのノードに反映されます。ノードごとに異なるパラメーターを、フォームで指定できます。",
	"used by {names}": "使用：{names}",
	"Used by": "使用しているワークフロー",
	"no workflow": "なし",
	Script: "スクリプト",
	"Line {line}, column {column}: {why}": "{line} 行目の {column} 文字目：{why}",
	"“{name}” is saved as v{version}.": "「{name}」を v{version} として保存しました。",
	"Save or discard your changes first.": "先に変更を保存するか、元に戻してください。",
	"v{n}, the newest": "v{n}（最新）",
	"Save as the newest version": "最新バージョンとして保存",
	"Somebody has saved v{n} since you began. Copy what you have written, discard it, and write it into v{n}.":
		"編集中に、ほかの人が v{n} を保存しました。入力した内容をコピーして「元に戻す」を押し、v{n} に書き加えてください。",
	"Hooks refer to it. It cannot be changed later.": "「スクリプト」ノードから参照する名前です。後から変更できません。",
	"Parameters as a JSON Schema": "パラメーター（JSON Schema）",
	"Each hook that uses the module fills in a form of these. The script has the values in params.":
		"このモジュールを使うノードに、入力フォームとして表示されます。値はスクリプトの params に入ります。",
	"No workflow uses it yet. In the editor of a workflow, add a step and choose it by its name.":
		"まだどのワークフローでも使われていません。ワークフローのエディターでノードを追加し、この名前を選んでください。",
	"“{name}” is in use": "「{name}」は使用中です",
	"It can be deleted once no workflow uses it. Choose another script in the hooks of these workflows first:":
		"使用中のフックモジュールは削除できません。先に、次のワークフローのノードで別のスクリプトを選んでください。",
	"Delete the hook module “{name}”?": "フックモジュール「{name}」を削除しますか？",
	"The hook module “{name}” is deleted.": "フックモジュール「{name}」を削除しました。",
	"No workflow uses it. All its versions go with it.":
		"どのワークフローでも使われていません。すべてのバージョンが削除されます。",
	"A hook is a step of a workflow that runs a script. A hook module is a script that several hooks share.":
		"フックモジュールは、複数の「スクリプト」ノードで共有するスクリプトです。",
} as Record<string, string>;
