package config

import (
	"os"
	"path/filepath"
	"testing"
)

// A language is needed before anything else is right.
func TestLangAsksNothingElseOfTheFile(t *testing.T) {
	for name, tt := range map[string]struct {
		flag, env, file string
		want            string
	}{
		"nothing said":             {want: "en"},
		"the file":                 {file: "lang: ja", want: "ja"},
		"the file, in capitals":    {file: "lang: JA", want: "ja"},
		"environment before file":  {env: "en", file: "lang: ja", want: "en"},
		"flag before environment":  {flag: "ja", env: "en", want: "ja"},
		"wrong ones are passed by": {flag: "fr", env: "de", file: "lang: ja", want: "ja"},
		"a wrong file":             {file: "lang: ja\nprot: 1\nmcpServers: {a: {command: '${NOT_SET}'}}", want: "ja"},
		"JSON":                     {file: `{"lang":"ja"}`, want: "ja"},
		"deeper in the file":       {file: "mcpServers: {a: {lang: ja}}", want: "en"},
		"not a map":                {file: "[ja]", want: "en"},
		"not YAML":                 {file: "lang: ja\n\t- :", want: "en"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "genkan.yaml")
			if tt.file != "" {
				if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			lookup := func(name string) (string, bool) { return tt.env, name == "GENKAN_LANG" && tt.env != "" }
			if got := Lang(path, lookup, Flags{Lang: tt.flag}); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
