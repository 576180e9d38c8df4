package clients

import (
	"strings"
	"testing"
)

// A setting is written where its key is, or behind the last one; comments and everything
// else stay.
func TestSetOwnKeepsTheRest(t *testing.T) {
	t.Parallel()
	const recorded = "# mine\nrecord: # the history\n  days: 7 # a week\n  bodies: all\n\nlang: ja\n"
	for name, c := range map[string]struct{ src, want, out string }{
		"a value":           {recorded, `{"record":{"days":14,"bodies":"all"}}`, strings.Replace(recorded, "days: 7 # a week", "days: 14 # a week", 1)},
		"the same":          {recorded, `{"record":{"days":7,"bodies":"all"},"lang":"ja"}`, recorded},
		"a new key":         {recorded, `{"budget":2000}`, recorded + "budget: 2000\n"},
		"a map for a word":  {"record: off # none\n", `{"record":{"days":3}}`, "record: # none\n  days: 3\n"},
		"a word for a map":  {recorded, `{"record":"off"}`, "# mine\nrecord: \"off\" # the history\n\nlang: ja\n"},
		"a list":            {"lang: en\n", `{"n8n":[{"name":"n8n","url":"http://127.0.0.1:5678"}]}`, "lang: en\nn8n:\n  - {\"name\": \"n8n\", \"url\": \"http://127.0.0.1:5678\"}\n"},
		"removed":           {recorded, `{"record":null}`, "# mine\n\nlang: ja\n"},
		"removed and added": {recorded, `{"lang":null,"learn":false}`, strings.Replace(recorded, "lang: ja", "learn: false", 1)},
		"the only one":      {"# a\nlang: ja\n# b\n", `{"lang":null}`, "# a\n# b\n"},
		"not there":         {recorded, `{"budget":null}`, recorded},
		"comments alone":    {"# nothing yet", `{"lang":"ja"}`, "# nothing yet\nlang: \"ja\"\n"},
		"nothing":           {"", `{"lang":"ja"}`, "lang: \"ja\"\n"},
		"JSON":              {"{\n  // mine\n  \"lang\": \"en\",\n  \"budget\": 5\n}\n", `{"lang":"ja","budget":null,"learn":false}`, "{\n  // mine\n  \"lang\": \"ja\",\n  \"learn\": false\n}\n"},
		"empty JSON":        {"{}", `{"lang":"ja"}`, `{"lang": "ja"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := SetOwn("genkan.yaml", []byte(c.src), []byte(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.out {
				t.Errorf("wrote\n%s\nwant\n%s", got, c.out)
			}
		})
	}
}

func TestSetOwnRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"{lang: ja, # one line\n budget: 5}\n", "lang: [\n"} {
		if out, err := SetOwn("genkan.yaml", []byte(src), []byte(`{"lang":"en"}`)); err == nil {
			t.Errorf("%q became %q", src, out)
		}
	}
}

func TestOwnSettings(t *testing.T) {
	t.Parallel()
	got, err := OwnSettings("genkan.yaml", []byte("lang: ja\nmcpServers: {}\nrecord: {days: 3} # few\nbudget: off\n"), []string{"lang", "record", "budget", "learn"})
	if want := `{"lang": "ja", "record": {"days": 3}, "budget": "off"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
