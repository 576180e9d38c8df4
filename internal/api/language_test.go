package api_test

import (
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
