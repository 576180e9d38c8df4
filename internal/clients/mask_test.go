package clients

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"listening on port 3000": "listening on port 3000",
		"npm error code E404":    "npm error code E404",
		"Error: Cannot find module '/srv/example/node_modules/x/index.js'": "Error: Cannot find module '/srv/example/node_modules/x/index.js'",
		"GITHUB_TOKEN=hunter2 is not valid":                                "GITHUB_TOKEN=*** is not valid",
		"GITHUB_TOKEN is not set":                                          "GITHUB_TOKEN is not set",
		"using key ghp_abcdefghijklmnop, it seems":                         "using key ***, it seems",
		"Authorization: Bearer abc.def-ghi":                                "Authorization: Bearer ***",
		`{"api_key":"s3cr3t-value","user":"me"}`:                           `{"api_key":"***","user":"me"}`,
		"postgres://me:hunter22@db.example/x failed":                       "postgres://me:***@db.example/x failed",
		"GET https://api.example/v1?api_key=abc123xyz&page=2":              "GET https://api.example/v1?api_key=***&page=2",
		"token aB3dE5gH7jK9mN1pQ3sT5vW7":                                   "token ***",
		"--api-key=sk-1234567890abcdef.":                                   "--api-key=***",
		"sent headers {'X-Token': 'abcdefgh'}":                             "sent headers {'X-Token': '***'}",
		"max_tokens=4096":                                                  "max_tokens=4096",
		"password: ${DB_PASSWORD}":                                         "password: ${DB_PASSWORD}",
		"digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822":    "digest sha256:***",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// Whatever stands before it, a token is masked.
func FuzzMask(f *testing.F) {
	f.Add("GITHUB_TOKEN=hunter2 https://a:b@c/?key=d Bearer abcdefghijkl")
	f.Add("token: ")
	f.Fuzz(func(t *testing.T, text string) {
		const canary = "ghp_abcdefghijklmnop"
		if got := Mask(text + " " + canary); !strings.Contains(text, "ghp_") && strings.Contains(got, canary) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
