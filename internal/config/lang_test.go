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
		locale          map[string]string
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
		"the locale":               {locale: map[string]string{"LANG": "ja_JP.UTF-8"}, want: "ja"},
		"a short locale":           {locale: map[string]string{"LANG": "ja"}, want: "ja"},
		"another locale":           {locale: map[string]string{"LANG": "fr_FR.UTF-8"}, want: "en"},
		"no locale":                {locale: map[string]string{"LANG": "C.UTF-8"}, want: "en"},
		"messages before LANG":     {locale: map[string]string{"LC_MESSAGES": "ja_JP.UTF-8", "LANG": "en_US.UTF-8"}, want: "ja"},
		"all before messages":      {locale: map[string]string{"LC_ALL": "C", "LC_MESSAGES": "ja_JP.UTF-8", "LANG": "ja_JP.UTF-8"}, want: "en"},
		"an empty one is none":     {locale: map[string]string{"LC_ALL": "", "LANG": "ja_JP.eucJP"}, want: "ja"},
		"the file before a locale": {file: "lang: en", locale: map[string]string{"LANG": "ja_JP.UTF-8"}, want: "en"},
		"a locale and a file":      {file: "logLevel: info", locale: map[string]string{"LANG": "ja_JP.UTF-8"}, want: "ja"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "genkan.yaml")
			if tt.file != "" {
				if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			lookup := func(name string) (string, bool) {
				if value, ok := tt.locale[name]; ok {
					return value, true
				}
				return tt.env, name == "GENKAN_LANG" && tt.env != ""
			}
			if tt.locale != nil { // the configuration has the same language
				c, err := Load(path, false, Sources{Env: lookup}, Flags{})
				if err != nil || c.Lang != tt.want {
					t.Errorf("loaded %v, %v, want %s", c, err, tt.want)
				}
			}
			if got := Lang(path, lookup, Flags{Lang: tt.flag}); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
