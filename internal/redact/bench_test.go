package redact

import (
	"fmt"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// body is the result of a tool: JSON in the text of JSON, prose, code and a few
// secrets.
func body(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"content":[`)
	for i := 0; b.Len() < size-400; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, `{"type":"text","text":"{\"id\":%d,\"title\":\"The quick brown fox\",\"url\":\"https://example.com/a/b?page=2\",\"sha\":\"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3\",\"labels\":[\"bug\",\"help wanted\"]}"}`, i)
		case 1:
			fmt.Fprintf(&b, `{"type":"text","text":"Line %d of a file: it has words, some punctuation (and brackets), and goes on for a while.\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n"}`, i)
		default:
			fmt.Fprintf(&b, `{"type":"resource","uri":"file:///srv/example/%d.txt","size":%d,"ok":true}`, i, i*1000)
		}
	}
	b.WriteString(`,{"password":"hunter2","text":"GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789"}]}`)
	return []byte(b.String())
}

func values(n int) (known []Known) {
	for i := range n {
		known = append(known, Known{fmt.Sprintf("KEY_%d", i), gateway.Secret(fmt.Sprintf("known-value-%d-%d", i*7919, i))})
	}
	return known
}

func BenchmarkJSON(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		for _, n := range []int{0, 50} {
			text, rules := body(size), New(values(n))
			b.Run(fmt.Sprintf("%dKB/%d", size>>10, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					rules.JSON(text)
				}
			})
		}
	}
}

func BenchmarkText(b *testing.B) {
	const text = "Error: request to https://api.example/v1/items failed with 401: the token is expired (id 8f14e45f-ceea-467f-a83c-5d2f1a1b2c3d)"
	rules := New(values(50))
	b.ReportAllocs()
	for b.Loop() {
		rules.Text(text)
	}
}

func BenchmarkNew(b *testing.B) {
	known := values(50)
	b.ReportAllocs()
	for b.Loop() {
		New(known)
	}
}

// hostile are texts that a careless search needs quadratic time for.
func hostile(n int) map[string]string {
	texts := map[string]string{}
	for name, part := range map[string]string{
		"prefixes": "sk-", "tokens": "eyJ-", "begin": "-----BEGIN PRIVATE KEY-----", "urls": "a://", "user": "a://b:c", "keys": "password=your", "colons": "cookie:", "spaced": "token : ",
		"open": "[", "objects": `{"a":`, "backslashes": `\`, "unicode": `\u005c`, "percent": "%25", "entities": "&amp;", "all": `\u0025%26&amp;\\`, "quotes": `token:"x `, "base64": "aGVsbG8gd29ybGQgaGVsbG8g",
		"words": "abcdefghijklmnopqrst ", "hex": "0123456789ab ", "options": "--token ", "bearer": "bearer bearer1 ", "marks": "[redacted:", "known": "aaaaaaaa", "basic": "basic aaaaaaaa", "header": "Authorization: Digest ", "json in text": `{\"a\":\"`, "wide": "：", "sig": "&sig=", "telegram": "1234567:AA",
		"akia": "AKIAIOSFODNN7EXAMPLE ", "lines": strings.Repeat("QUJD", 19) + "\n", "pairs": `{"name":"password","value":"x1"},`,
	} {
		texts[name] = strings.Repeat(part, n/len(part))
	}
	texts["pairs"] = "[" + texts["pairs"] + "1]"
	texts["string"] = `{"a":"` + strings.Repeat(`\"`, n/2) + `"}`
	texts["nested"] = `{"a":"` + strings.Repeat(`\\\"{`, n/5) + `"}`
	texts["known in escapes"] = `{"a":"` + strings.Repeat(`aaaaaaaa\n`, n/10) + `"}`
	return texts
}

func BenchmarkHostile(b *testing.B) {
	rules := New(append(values(50), Known{"A", gateway.Secret(strings.Repeat("a", 1000))}, Known{"B", "aaaaaa"}, Known{"C", "two words"}))
	for name, text := range hostile(64 << 10) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rules.JSON([]byte(text))
			}
		})
	}
}
