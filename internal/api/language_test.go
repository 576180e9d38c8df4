package api_test

import (
	"net/url"
	"strings"
	"testing"
)

// Messages are in the language that a request asks for, or in that of the configuration.
func TestLanguageOfARequest(t *testing.T) {
	t.Parallel()
	const english, japanese = "Redact secrets and personal data", "シークレットと個人情報を伏せる"
	for configured, own := range map[string]string{"en": english, "ja": japanese} {
		d := openDoor(t, map[string]any{"lang": configured})
		for wanted, want := range map[string]string{
			"": own, "*": own, "fr-CH, ja;q=0.9": own,
			"en": english, "en-GB,en;q=0.9": english,
			"ja": japanese, "ja-JP": japanese, "JA;q=0.8, en": japanese,
		} {
			got := d.send("GET", "/v1/workflow-templates", "", "Accept-Language", wanted).body
			if !strings.Contains(got, want) {
				t.Errorf("lang: %s, Accept-Language: %q: no %q in the templates", configured, wanted, want)
			}
		}
		refused := d.send("GET", "/v1/tools/none", "", "Accept-Language", "ja")
		if refused.status != 404 || !strings.Contains(refused.body, "見つかりません") {
			t.Errorf("lang: %s: %d %s", configured, refused.status, refused.body)
		}
	}
}

// A search of calls finds the errors that the list shows, and what is kept of them.
func TestSearchOfErrorsInALanguage(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.send("POST", "/v1/tools/call", `{"name":"nothing_like_it"}`)
	for _, c := range []struct {
		language, text string
		found          bool
	}{{"ja", "不明なツール", true}, {"ja", "Unknown tool", true}, {"en", "Unknown tool", true}, {"en", "不明なツール", false}} {
		got := d.send("GET", "/v1/calls?text="+url.QueryEscape(c.text), "", "Accept-Language", c.language)
		if found := strings.Contains(got.body, `"tool":"nothing_like_it"`); found != c.found {
			t.Errorf("in %s, %q: %s", c.language, c.text, got.body)
		}
	}
}
