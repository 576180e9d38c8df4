import { Marked } from "marked";
import { expect, test } from "vitest";
import { emphasis } from "./emphasis";

const usual = new Marked({ gfm: true, async: false });
const ours = new Marked({ gfm: true, async: false }, emphasis);
const html = (text: string) => (ours.parseInline(text) as string).replaceAll("strong>", "b>");

test.each([
	["**「重要」**です。", "<b>「重要」</b>です。"],
	["これは**「重要」**です。", "これは<b>「重要」</b>です。"],
	["**お願い：**期限を守る", "<b>お願い：</b>期限を守る"],
	["**強調（注）**の例", "<b>強調（注）</b>の例"],
	["**「A」**と**「B」**です", "<b>「A」</b>と<b>「B」</b>です"],
	["**一：**あ、**二：**い、**三：**う", "<b>一：</b>あ、<b>二：</b>い、<b>三：</b>う"],
	["**お願い:**期限", "<b>お願い:</b>期限"],
	['値は**"重要"**です', "値は<b>&quot;重要&quot;</b>です"],
	["**`code`**を使う", "<b><code>code</code></b>を使う"],
	["これは**[表](https://a.example)**です", 'これは<b><a href="https://a.example">表</a></b>です'],
	["*「斜体」*です", "<em>「斜体」</em>です"],
	["***「両方」***です", "<em><b>「両方」</b></em>です"],
	["**太字の*「斜体」*です**。", "<b>太字の<em>「斜体」</em>です</b>。"],
	["3 ** 4 と 5 ** 6", "3 ** 4 と 5 ** 6"],
	["全角　** 空白 **　です", "全角　** 空白 **　です"],
	["\\*\\*「そのまま」\\*\\*です", "**「そのまま」**です"],
	["**중요(주의)**는", "<b>중요(주의)</b>는"],
])("%s", (text, expected) => expect(html(text)).toBe(expected));

test.each([
	"**bold** and *italic*, ***both***, __bold__ and _italic_.",
	'**"quoted"** and a**"quoted"**b, **Note:**then, foo**(bar)**baz',
	"*foo**bar**baz* **foo*bar*baz** *(**foo**)* **Gomphocarpus (*Gomphocarpus physocarpus*, syn.)**",
	"snake_case_name, 2*3*4, a * b * c, ** no **, **`a`**, ~~gone~~ and ~~**both**~~",
	'foo*bar* *foo*bar **foo**bar _foo_bar __foo__bar **foo"*bar*"foo**',
	"****four**** *a **b *c* d** e* **[link](https://a.example)**. €**x** “**y**”",
])("English stays as it is: %s", (text) => expect(ours.parse(text)).toBe(usual.parse(text)));
