package template_test

import (
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

func TestRedactTexts(t *testing.T) {
	b := newBench(t)
	b.use(t, "redact", `{"also":["PRJ-[0-9]+"]}`, template.Options{})
	a36 := strings.Repeat("aB3", 12)
	texts := map[string]string{
		// Keys.
		"export GITHUB=ghp_" + a36 + " # mine":                                                     "export GITHUB=[redacted:keys] # mine",
		"key sk-proj-abcDEF123456_7890-abcdef.":                                                    "key [redacted:keys].",
		"risk-assessment-of-the-whole-project-plan":                                                "risk-assessment-of-the-whole-project-plan",
		"AKIAIOSFODNN7EXAMPLE, xoxb-1234567890-abcdef":                                             "[redacted:keys], [redacted:keys]",
		"Authorization: Bearer abcdefghijklmnop1234":                                               "Authorization: [redacted:keys]",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_DEF":                                         "[redacted:keys]",
		"postgres://app:s3cret@db:5432/main":                                                       "postgres://[redacted:keys]db:5432/main",
		"https://example.com/a:b?c=@d":                                                             "https://example.com/a:b?c=@d",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----":                     "[redacted:keys]",
		"-----BEGIN PRIVATE KEY-----\nMIIE and it ends":                                            "[redacted:keys]",
		"DB_PASSWORD = \"hunter2\", x":                                                             "DB_PASSWORD = \"[redacted:keys]\", x",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY":                         "aws_secret_access_key = [redacted:keys]",
		"password: himitsu-no-Password-99\nPASSWORD=sSkK1":                                         "password: [redacted:keys]\nPASSWORD=[redacted:keys]",
		"api_key=9bXq2KcVx7/LmQ2wYb+RsN8uJfEa1HdGoT5iXkC3, x":                                      "api_key=[redacted:keys], x",
		"SECRET_KEY='django-insecure-1(a);[b]' # x":                                                "SECRET_KEY='[redacted:keys]' # x",
		`{"password": "p<1>,{2}"} and password="a1(`:                                               `{"password": "[redacted:keys]"} and password="a1(`,
		"パスワード：「ひみつ123abc」です":                                                                      "パスワード：「[redacted:keys]」です",
		"パスワード：ひみつ123abc、英数字8文字以上":                                                                 "パスワード：[redacted:keys]、英数字8文字以上",
		"パスワード：英数字8文字以上":                                                                           "パスワード：英数字8文字以上",
		"CLIENT_SECRET=a-b-c-d\npassword: correct-horse\ndb_password: \"hunter\" 'passwd': 'abcd'": "CLIENT_SECRET=[redacted:keys]\npassword: [redacted:keys]\ndb_password: \"[redacted:keys]\" 'passwd': '[redacted:keys]'",
		"password: String! | password: string|null | password=yes/no":                              "password: String! | password: string|null | password=yes/no",
		"password: string; apiKey = process.env.API_KEY":                                           "password: string; apiKey = process.env.API_KEY",
		// With spaces.
		"passphrase: \"correct horse battery staple\", x":                  "passphrase: \"[redacted:keys]\", x",
		"passphrase = 'KEEP the ſky blue' or SECRET=“two words”":           "passphrase = '[redacted:keys]' or SECRET=“[redacted:keys]”",
		"パスワード：「正しい 馬」です":                                                  "パスワード：「[redacted:keys]」です",
		"The password: \"must be at least eight characters\" is old":       "The password: \"[redacted:keys]\" is old",
		"password=\"a \\\" b\\\\\" user='bob smith' secret='it\\'s mine'":  "password=\"[redacted:keys]\" user='bob smith' secret='[redacted:keys]'",
		"password: \"\", user: \"bob smith\", passwd: '', note: 'a b c d'": "password: \"\", user: \"bob smith\", passwd: '', note: 'a b c d'",
		"password='abcd' user='bob smith' passwd='ab cd'":                  "password='[redacted:keys]' user='bob smith' passwd='[redacted:keys]'",
		"DB_PASSWORD=\"C:\\keys\\\"\nUSER=bob":                             "DB_PASSWORD=\"[redacted:keys]\"\nUSER=bob",
		"password=\"" + strings.Repeat("x(", 150) + "\" user=\"bob\"":      "password=\"[redacted:keys]\" user=\"bob\"",
		"passphrase: '" + strings.Repeat("word ", 31) + "words'":           "passphrase: '[redacted:keys]'",
		"passphrase: \"" + strings.Repeat("wörd ", 24) + "\"":              "passphrase: \"[redacted:keys]\"",
		"password=\"a1\" secret='1 2' passwd=\" hunter two \"":             "password=\"a1\" secret='1 2' passwd=\"[redacted:keys]\"",
		// A quote that is not closed begins no value, and hides none.
		"password: \"must be at least\neight \"characters\"":                            "password: \"must be at least\neight \"characters\"",
		"password: 'tis open, api_key=ab12cd34 is not":                                  "password: 'tis open, api_key=[redacted:keys] is not",
		"password: 'tis open " + strings.Repeat("word ", 40) + "api_key=ab12cd34 don't": "password: 'tis open " + strings.Repeat("word ", 40) + "api_key=[redacted:keys] don't",
		"password=\"hunter2\nuser=bob":                                                  "password=\"[redacted:keys]\nuser=bob",
		"パスワードは「ab12cd」です":                                                              "パスワードは「[redacted:keys]」です",
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\nMIIE==\n-----END RSA PRIVATE KEY-----\nx --- y": "[redacted:keys]\nx --- y",
		"?token%3Dsk-abcdefghijklmnopqrstuv&x=ghp_" + a36: "?token%3D[redacted:keys]&x=[redacted:keys]",
		"パスワードは8文字以上、10文字以下です。API_KEY：ab12cd34を使う":        "パスワードは8文字以上、10文字以下です。API_KEY：[redacted:keys]を使う",
		// Mail.
		"mail anna.b+x@example.co.jp, ｂ@c":                                           "mail [redacted:mail], ｂ@c",
		"連絡先：taro@example.jp まで":                                                     "連絡先：[redacted:mail] まで",
		"git@github.com:a/b.git pkg@1.2.3":                                           "git@github.com:a/b.git pkg@1.2.3",
		"?to=alice%40example.com&x=1":                                                "?to=[redacted:mail]&x=1",
		"<a>alice&#64;example.com</a>, bob&#x40;example.com, eve&commat;example.com": "<a>[redacted:mail]</a>, [redacted:mail], [redacted:mail]",
		"alice@例え.jp、bob@メール.例え.jpへ":                                                 "[redacted:mail]、[redacted:mail]へ",
		"carla@müller.de, dan@example.jpのfile.txt":                                   "[redacted:mail], [redacted:mail]のfile.txt",
		"/%40types/node.js, 100%40 of a":                                             "/%40types/node.js, 100%40 of a",
		// Phones.
		"電話03-1234-5678、携帯090-1234-5678":                         "電話[redacted:phone]、携帯[redacted:phone]",
		"TEL：０３−１２３４−５６７８":                                       "TEL：[redacted:phone]",
		"(03) 1234-5678 or 09012345678":                          "[redacted:phone] or [redacted:phone]",
		"0120-123-456":                                           "[redacted:phone]",
		"+81 90-1234-5678, +81-3-1234-5678":                      "[redacted:phone], [redacted:phone]",
		"call (415) 555-2671 or +1 415-555-2671 or 415.555.2671": "call [redacted:phone] or [redacted:phone] or [redacted:phone]",
		"０３（１２３４）５６７８、03(1234)5678、03（1234）5678、03 (1234) 5678":                                                                     "[redacted:phone]、[redacted:phone]、[redacted:phone]、[redacted:phone]",
		"(03)1234-5678、（０３）１２３４－５６７８、TEL(03)1234-5678、(03)12345678":                                                                 "[redacted:phone]、[redacted:phone]、TEL[redacted:phone]、[redacted:phone]",
		"（03-1234-5678）、f(415-555-2671)、03)1234-5678":                                                                               "（[redacted:phone]）、f([redacted:phone])、[redacted:phone]",
		"TEL03-1234-5678 ＦＡＸ０３１２３４５６７８ hotel0312345678":                                                                             "TEL[redacted:phone] ＦＡＸ[redacted:phone] hotel0312345678",
		"10:00 03-1234-5678、(9:00)03-1234-5678":                                                                                     "10:00 [redacted:phone]、(9:00)[redacted:phone]",
		"0312345678,0112345678、０４６６１２３４５６ Tel.0612345678 (0120123456)":                                                              "[redacted:phone],[redacted:phone]、[redacted:phone] Tel.[redacted:phone] ([redacted:phone])",
		"注文031234567、03123456789、031234567890、1763500000、1763500000123、#0312345678":                                                 "注文031234567、03123456789、031234567890、1763500000、1763500000123、#0312345678",
		"0012345678 0201234567 0301234567 0412345678 0912345678 0123456789":                                                         "0012345678 0201234567 0301234567 0412345678 0912345678 0123456789",
		"A0312345678 0312345678b id_0312345678 0312345678-1 20260312345678 0.0312345678 1.0.0312345678 [.0259040371, 0312345678.5":  "A0312345678 0312345678b id_0312345678 0312345678-1 20260312345678 0.0312345678 1.0.0312345678 [.0259040371, 0312345678.5",
		"f(1234), a03(1234)5678, 2026(1234)5678, 003(1234)5678, 03(1234)567, 03(1234)56789, 03-123-456, g(03, 1234), 10.0.0.1 (03)": "f(1234), a03(1234)5678, 2026(1234)5678, 003(1234)5678, 03(1234)567, 03(1234)56789, 03-123-456, g(03, 1234), 10.0.0.1 (03)",
		"2026/03/12 (1234) 5678円、v0.3.12(34)、¥1,234,567":                                                                            "2026/03/12 (1234) 5678円、v0.3.12(34)、¥1,234,567",
		"on 2026-11-16 09:30, id 550e8400-0123-4567-8901-446655440000, v1.2.3, 192.168.100.200":                                     "on 2026-11-16 09:30, id 550e8400-0123-4567-8901-446655440000, v1.2.3, 192.168.100.200",
		// Cards.
		"card 4111 1111 1111 1111 12/30":              "card [redacted:card] 12/30",
		"4111-1111-1111-1112":                         "4111-1111-1111-1112",
		"378282246310005 and 5555555555554444":        "[redacted:card] and [redacted:card]",
		"カード４１１１−１１１１−１１１１−１１１１。":                     "カード[redacted:card]。",
		"id 1234567890123456789, 4111111111111111000": "id 1234567890123456789, 4111111111111111000",
		// Numbers of persons.
		"マイナンバー 1234 5678 9018":                 "マイナンバー [redacted:id]",
		"マイナンバー：123456789018、口座 123456789018":   "マイナンバー：[redacted:id]、口座 123456789018",
		"1234-5678-9018, 1234-5678-9019":        "[redacted:id], 1234-5678-9019",
		"account 123456789018, SSN 078-05-1120": "account 123456789018, SSN [redacted:id]",
		// Addresses.
		"〒100-0005 東京都千代田区丸の内1-9-1 ビル":             "[redacted:address] [redacted:address] ビル",
		"神奈川県横浜市西区みなとみらい２丁目３番１号です":                 "[redacted:address]です",
		"東京都千代田区は晴れ、100-0005 個":                    "東京都千代田区は晴れ、100-0005 個",
		"at 350 Fifth Avenue, New York, NY 10118.": "at [redacted:address].",
		"12 Monkeys is a film":                     "12 Monkeys is a film",
		"大阪市北区梅田3丁目1番3号、横浜市中区日本大通1":                "[redacted:address]、[redacted:address]",
		"さいたま市大宮区桜木町１－７－５に、渋谷区神南1-2-3、青森市長島2丁目3番地": "[redacted:address]に、[redacted:address]、[redacted:address]",
		"〒　１００−０００５":                               "[redacted:address]",
		"大阪市立図書館、大阪市は3-1で勝ち、横浜市中区人口15万人、横浜市中区には3校": "大阪市立図書館、大阪市は3-1で勝ち、横浜市中区人口15万人、横浜市中区には3校",
		"京都市で2026年11月19日、東京23区、大阪市北区第3回、市区町村1つ":    "京都市で2026年11月19日、東京23区、大阪市北区第3回、市区町村1つ",
		"大阪市2026-11-19、地区大会2026-11-19、渋谷区3丁目":      "大阪市2026-11-19、地区大会2026-11-19、渋谷区3丁目",
		// Buildings.
		"〒150-0002 東京都渋谷区渋谷2-21-1 渋谷ヒカリエ10階。":                                      "[redacted:address] [redacted:address]。",
		"「大阪府大阪市北区梅田1-1-1 梅田ビル501号室」":                                              "「[redacted:address]」",
		"横浜市西区みなとみらい2-3-1　クイーンズタワーＢ棟15F、3-1 芝ビル":                                   "[redacted:address]、3-1 芝ビル",
		"渋谷区神南1-2-3神南ビルB1F 山田様、渋谷区神南1-2-3 アークヒルズ サウスタワー 12階へ":                      "[redacted:address] 山田様、[redacted:address]へ",
		"渋谷区神南1-2-3 さくら荘203に、渋谷区神南1-2-3 コーポ田中 201、大阪市北区梅田3 梅田ビル":                   "[redacted:address]に、[redacted:address]、[redacted:address]",
		"渋谷区神南1-2-3-501号室、渋谷区神南1丁目2番3号 501号、渋谷区神南1-2-3 2号館三階":                      "[redacted:address]、[redacted:address]、[redacted:address]",
		"渋谷区神南1-2-3 渋谷パルコ 地下1階、山口県下関市大学町２丁目１番１号大学Ｄ棟Ｄ－４０４、倉敷市日吉町338番地1 セジュール森山201号": "[redacted:address]、[redacted:address]、[redacted:address]",
		"渋谷区神南1-2-3 タワー札幌ビルディング 25階 2501号室 気付、渋谷区神南1-2-3 ライオンズマンション梅田303":          "[redacted:address] 気付、[redacted:address]",
		"渋谷区神南1-2-3　ﾌﾟﾗｻﾞﾋﾙｽﾞ ﾀﾜｰﾋﾞﾙ301です、渋谷区神南1-2-3　ｽﾀﾞ様":                         "[redacted:address]です、[redacted:address]　ｽﾀﾞ様",
		"渋谷区神南1-2-3 芝ビル 2026年、渋谷区神南1-2-3 芝ビル 100,000円、渋谷区神南1-2-3 芝ビル 10:00":        "[redacted:address] 2026年、[redacted:address] 100,000円、[redacted:address] 10:00",
		"東京都港区芝1-2-3 に行った、東京都港区芝1-2-3 田中様、東京都港区芝1-2-3 田中様 3階":                      "[redacted:address] に行った、[redacted:address] 田中様、[redacted:address] 田中様 3階",
		"東京都港区芝1-2-3にあるビル、東京都港区芝1-2-3 にあるマンション、東京都港区芝1-2-3から3階":                    "[redacted:address]にあるビル、[redacted:address] にあるマンション、[redacted:address]から3階",
		"東京都港区芝1-2-3\n芝ビル3階、東京都港区芝1-2-3、芝ビル、東京都港区芝1-2-3  芝ビル":                      "[redacted:address]\n芝ビル3階、[redacted:address]、芝ビル、[redacted:address]  芝ビル",
		"東京都港区芝1-2-3 田中コーポレーション、東京都港区芝1-2-3 ビルマ料理、東京都港区芝1-2-3 二階堂様":                "[redacted:address] 田中コーポレーション、[redacted:address] ビルマ料理、[redacted:address] 二階堂様",
		"東京都港区芝1-2-3 開館 9:30、東京都港区芝1-2-3 3階建ての家、東京都港区芝1-2-3 PDF、東京都港区芝1-2-3 第3号":   "[redacted:address] 開館 9:30、[redacted:address] 3階建ての家、[redacted:address] PDF、[redacted:address] 第3号",
		"〒150-0002 芝ビル3階、東京都港区は晴れ 芝ビル":                                             "[redacted:address] 芝ビル3階、東京都港区は晴れ 芝ビル",
		// Full-width signs, half-width katakana, ideographic spaces. What stays keeps its form.
		"電話：０９０　１２３４　５６７８、（０３）　１２３４－５６７８":            "電話：[redacted:phone]、[redacted:phone]",
		"03ｰ1234ｰ5678 ＋８１　９０－１２３４－５６７８":              "[redacted:phone] [redacted:phone]",
		"マイナンバー：１２３４　５６７８　９０１８、ﾏｲﾅﾝﾊﾞｰ １２３４５６７８９０１８": "マイナンバー：[redacted:id]、ﾏｲﾅﾝﾊﾞｰ [redacted:id]",
		"1234　5678　9018　（株）ｱｲｳ！":                     "[redacted:id]　（株）ｱｲｳ！",
		"カード 4111　1111　1111　1111":                    "カード [redacted:card]",
		"パスワード＝abcdef123　ｐａｓｓｗｏｒｄ＝abcdef123":         "パスワード＝[redacted:keys]　ｐａｓｓｗｏｒｄ＝[redacted:keys]",
		"password＝abcdef123": "password＝[redacted:keys]",
		"パスワード　abcdef123　です": "パスワード　[redacted:keys]　です",
		"ﾊﾟｽﾜｰﾄﾞ：himitsu999、ハ\u309aスワート\u3099：｢himitsu999｣": "ﾊﾟｽﾜｰﾄﾞ：[redacted:keys]、ハ\u309aスワート\u3099：｢[redacted:keys]｣",
		"ＰＷ：ｈｉｍｉｔｓｕ９９９ PW=abc123":                           "ＰＷ：[redacted:keys] PW=[redacted:keys]",
		"鍵はＡＫＩＡＩＯＳＦＯＤＮＮ７ＥＸＡＭＰＬＥです":                          "鍵は[redacted:keys]です",
		"ｙａｍａｄａ＠ｅｘａｍｐｌｅ．ｃｏ．ｊｐ、ﾒｰﾙ：b@c.jp":                   "[redacted:mail]、ﾒｰﾙ：[redacted:mail]",
		"認証コード：482913、暗証番号　1234、ﾊﾟｽ：xyz98765":               "認証コード：[redacted:keys]、暗証番号　[redacted:keys]、ﾊﾟｽ：[redacted:keys]",
		"パス：xyz98765 仮パス＝xyz98765":                          "パス：[redacted:keys] 仮パス＝[redacted:keys]",
		"合言葉：ひらけごま、合言葉は「山」です":                               "合言葉：[redacted:keys]、合言葉は「[redacted:keys]」です",
		"合言葉：himitsu999\n【パスワード】　abcdef123":                 "合言葉：[redacted:keys]\n【パスワード】　[redacted:keys]",
		"日付　2026年11月19日　２０２６／１１／１９　09：30　０９：３０":             "日付　2026年11月19日　２０２６／１１／１９　09：30　０９：３０",
		"型番 A-1234-5678-90、Ａ－１２３４－５６７８－９０、金額 1,234,567円":    "型番 A-1234-5678-90、Ａ－１２３４－５６７８－９０、金額 1,234,567円",
		"「パスワードを忘れた」方、パスポート：番号の欄、パス：/usr/lib64/x.so":        "「パスワードを忘れた」方、パスポート：番号の欄、パス：/usr/lib64/x.so",
		"ファイルパス：report2026、コンパス：abc123、パス：src/a1.ts":        "ファイルパス：report2026、コンパス：abc123、パス：src/a1.ts",
		"パスワード　２０２６年に変更、パスワード　リセット、認証コードは6桁です":              "パスワード　２０２６年に変更、パスワード　リセット、認証コードは6桁です",
		"合言葉は大切です。合言葉を決めてください":                              "合言葉は大切です。合言葉を決めてください",
		"ＰＷＤ＝/home/user1、PW：12.5ms、ｶﾀｶﾅ　ＡＢＣ　１２３":            "ＰＷＤ＝/home/user1、PW：12.5ms、ｶﾀｶﾅ　ＡＢＣ　１２３",
		// Others.
		"PRJ-12 and PRJ-x": "[redacted:custom] and PRJ-x",
		"":                 "",
	}
	var were []string
	var result struct{ Content []struct{ Text string } }
	for was := range texts {
		were = append(were, was)
		result.Content = append(result.Content, struct{ Text string }{was})
	}
	raw, _ := json.Marshal(result)
	b.answer = strings.ReplaceAll(strings.Replace(string(raw), "Content", "content", 1), `{"Text"`, `{"text"`)
	if err := json.Unmarshal([]byte(b.call("anna", "crm__read", `{}`)), &result); err != nil {
		t.Fatal(err)
	}
	for i, was := range were {
		if got := result.Content[i].Text; got != texts[was] {
			t.Errorf("%q\n gives %q\n want  %q", was, got, texts[was])
		}
	}
}

func TestRedactResults(t *testing.T) {
	b := newBench(t)
	b.use(t, "redact", "", template.Options{})
	for name, c := range map[string]struct{ was, want string }{
		"both forms, and the rest keeps its bytes": {
			`{"structuredContent": {"id":1234567890123456789, "mail":"a@b.jp","list":[1.0,"090-1234-5678"]},"content":[{"type":"text","text":"{\"id\": 1234567890123456789, \"mail\":\"a@b.jp\"}"}],"x":1e2}`,
			`{"structuredContent":{"id":1234567890123456789,"mail":"[redacted:mail]","list":[1.0,"[redacted:phone]"]},"content":[{"type":"text","text":"{\"id\": 1234567890123456789, \"mail\":\"[redacted:mail]\"}"}],"x":1e2}`,
		},
		"nothing to redact": {`{"content": [ {"type":"text","text":"ok \u3042"} ], "y": 1.50}`, `{"content": [ {"type":"text","text":"ok \u3042"} ], "y": 1.50}`},
		"escapes in JSON belong to the text": {
			text(`{"a":"x\nsk-abcdefghijklmnopqrstuv","b":"\u96fb\u8a7103-1234-5678"}`),
			text(`{"a":"x\n[redacted:keys]","b":"電話[redacted:phone]"}`),
		},
		"a name tells that a value is secret": {
			text(`[{"dbPassword":"correct horse","nextPageToken":"abc","api_key":"","n":null}]`),
			text(`[{"dbPassword":"[redacted:keys]","nextPageToken":"abc","api_key":"","n":null}]`),
		},
		"a name tells what a number is": {
			`{"content":[{"type":"text","text":"{\"card\" : 4111111111111111, \"id\": 4111111111111111222,\"my_number\":\"123456789018\",\"account\":\"123456789018\"}"}],"structuredContent":{"card":4111111111111111,"n":4}}`,
			`{"content":[{"type":"text","text":"{\"card\" : \"[redacted:card]\", \"id\": 4111111111111111222,\"my_number\":\"[redacted:id]\",\"account\":\"123456789018\"}"}],"structuredContent":{"card":"[redacted:card]","n":4}}`,
		},
		"names are texts too":         {`{"content":[],"structuredContent":{"a@b.jp":{"n":1234567890123456789}}}`, `{"content":[],"structuredContent":{"[redacted:mail]":{"n":1234567890123456800}}}`},
		"JSON in JSON":                {text(`{"body":"{\"k\":\"\\nsk-abcdefghijklmnopqrstuv\"}"}`), text(`{"body":"{\"k\":\"\\n[redacted:keys]\"}"}`)},
		"what only looks like JSON":   {text(`[INFO] mail a@b.jp "x`), text(`[INFO] mail [redacted:mail] "x`)},
		"a number in brackets":        {text(`[03-1234-5678] [4111 1111 1111 1111]`), text(`[[redacted:phone]] [[redacted:card]]`)},
		"brackets of two":             {text(`[1] {"mail":"a\x@b.jp"}`), text(`[1] {"mail":"a\[redacted:mail]"}`)},
		"a wrong escape":              {text(`{"mail":"a\x@b.jp"}`), text(`{"mail":"a\[redacted:mail]"}`)},
		"JSON that is too deep":       {text(strings.Repeat("[", 5000) + `"a@b.jp"`), text(strings.Repeat("[", 5000) + `"[redacted:mail]"`)},
		"errors of tools":             {`{"content":[{"type":"text","text":"bad key sk-abcdefghijklmnopqrstuv"}],"isError":true}`, `{"content":[{"type":"text","text":"bad key [redacted:keys]"}],"isError":true}`},
		"images stay, resources not":  {`{"content":[{"type":"image","data":"YUBiLmpwYUBiLmpw","mimeType":"image/png"},{"type":"resource","resource":{"uri":"f:///a","text":"a@b.jp"}},null]}`, `{"content":[{"type":"image","data":"YUBiLmpwYUBiLmpw","mimeType":"image/png"},{"type":"resource","resource":{"uri":"f:///a","text":"[redacted:mail]"}},null]}`},
		"an empty list":               {`{"content":[]}`, `{"content":[]}`},
		"a NUL does not mix up texts": {`{"content":[],"structuredContent":["a\n\u0000\nb","c@d.jp"]}`, `{"content":[],"structuredContent":["a\n\u0000\nb","[redacted:mail]"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			b.answer = c.was
			if got := b.call("anna", "crm__read", ""); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
	b.fails = gateway.Errorf(gateway.CodeUnavailable, "server crm refused the token ghp_%s", strings.Repeat("a", 36))
	if got := b.call("anna", "crm__read", ""); got != `{"content":[{"type":"text","text":"server crm refused the token [redacted:keys]"}],"isError":true}` {
		t.Errorf("an error of the call: %s", got)
	}
	b.fails = gateway.Errorf(gateway.CodeUnavailable, "server crm is down")
	if got := b.call("anna", "crm__read", ""); got != "unavailable: server crm is down" {
		t.Errorf("an error without secrets: %s", got)
	}
}

func TestRedactResourcesAndPrompts(t *testing.T) {
	b := newBench(t)
	b.use(t, "redact", "", template.Options{})
	b.answer = `{"contents":[{"uri":"file:///a","text":"a@b.jp"},{"uri":"file:///b","blob":"YUBiLmpw"}]}`
	if got := b.send(workflow.ResourcesRead, `{"uri":"file:///a"}`, "anna", "fs__a", `{}`); got != strings.Replace(b.answer, "a@b.jp", "[redacted:mail]", 1) {
		t.Error(got)
	}
	b.answer = `{"description":"for a@b.jp","messages":[{"role":"user","content":{"type":"text","text":"a@b.jp"}}]}`
	if got := b.send(workflow.PromptsGet, `{"name":"fs__a"}`, "anna", "fs__a", `{}`); got != strings.ReplaceAll(b.answer, "a@b.jp", "[redacted:mail]") {
		t.Error(got)
	}
	for _, method := range []string{workflow.ResourcesRead, workflow.PromptsGet} {
		b.fails = &gateway.Error{
			Code: gateway.CodeInternal, Message: "no file for a@b.jp",
			RPC: []byte(`{"code":-32002,"message":"no file for a@b.jp","data":{"n":1234567890123456789,"of":["a@b.jp"]}}`),
		}
		if got := b.send(method, `{"name":"fs__a","uri":"x"}`, "anna", "fs__a", `{}`); got != `internal: no file for [redacted:mail] {"code":-32002,"message":"no file for [redacted:mail]","data":{"n":1234567890123456789,"of":["[redacted:mail]"]}}` {
			t.Errorf("%s: %s", method, got)
		}
		b.fails = &gateway.Error{Code: gateway.CodeInternal, Message: "no file for a@b.jp", RPC: []byte(`{"code":-32002,"message":"no file for a@b.jp"}`)}
		if got := b.send(method, `{"name":"fs__a","uri":"x"}`, "anna", "fs__a", `{}`); got != `internal: no file for [redacted:mail] {"code":-32002,"message":"no file for [redacted:mail]"}` {
			t.Errorf("%s: %s", method, got)
		}
		b.fails = gateway.Errorf(gateway.CodeUnavailable, "server fs is down")
		if got := b.send(method, `{"name":"fs__a","uri":"x"}`, "anna", "fs__a", `{}`); got != "unavailable: server fs is down" {
			t.Errorf("%s: %s", method, got)
		}
	}
}

func TestRedactKinds(t *testing.T) {
	b := newBench(t)
	b.use(t, "redact", `{"kinds":["keys"]}`, template.Options{})
	b.answer = text(`a@b.jp 03-1234-5678 sk-abcdefghijklmnopqrstuv`)
	if got := textOf(t, b.call("anna", "crm__read", "")); got != "a@b.jp 03-1234-5678 [redacted:keys]" {
		t.Error(got)
	}
}

// The texts are those that a careless search needs quadratic time or much memory for. The
// pool would end a script that takes too long, and the test itself has a time limit.
func TestRedactLongTexts(t *testing.T) {
	b := newBench(t)
	b.use(t, "redact", `{}`, template.Options{})
	const length = 1 << 15
	for name, part := range map[string]string{
		"mail": "aaaaaaaaaa", "domains": "a@a.a.a", "keys": "sk-", "begin": "-----BEGIN PRIVATE KEY-----", "digits": "0123456789", "groups": "4111 ", "wide": "０９０−",
		"towns": "東京都千代田区", "names": "password=", "urls": "://a:", "json": `{"a":"b","c":[1,2]},`, "quotes": `"\"`, "spaces": " ", "kana": "あいうえお。",
		"quoted": `password="a b `, "open": "passwd:「a ", "signs": "！", "half": "ﾊﾟｽﾜｰﾄﾞ　", "wide spaces": "　", "cities": "大阪市北区梅田", "words": "合言葉：", "escaped": `secret='\\`, "mixed": `secret='passwd="パスワード：「`,
		"areas": "(03)", "lines": "03(1234)567", "ten digits": "0312345678", "ten digits apart": "0312345678 ", "buildings": "ビル", "kana behind a house": "あア", "houses": "東京都港区芝1 ", "houses of one": "東京都港区芝1館", "houses and names": "東京都港区芝1アア館1館1室",
		"houses and marks": "渋谷区神南1-2-3 " + strings.Repeat("ﾋﾞ", 20) + "ﾙ", "houses and hiragana": "渋谷区神南1-2-3 ああああああああアアアアアアアア",
	} {
		long := strings.Repeat(part, length/len(part))
		switch name {
		case "json":
			long = "[" + long + "0]"
		case "kana behind a house", "buildings":
			long = "渋谷区神南1-2-3 " + long
		}
		b.answer = text(long + "\n---\nmail: z@example.jp")
		got := textOf(t, b.call("anna", "crm__read", ""))
		if !strings.HasSuffix(got, "---\nmail: [redacted:mail]") {
			t.Errorf("%s: %.300s", name, got)
		}
	}
}
