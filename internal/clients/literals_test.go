package clients

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
)

// Arguments are read as people write them; what is found gets a name to be kept
// under, and all of it is replaced.
func TestLiteralsOfArguments(t *testing.T) {
	for name, c := range map[string]struct{ args, want []string }{
		"an option and its value":     {[]string{"--key", "sk-canary01/+&=01"}, []string{"--key", "${secret:srv.args}"}},
		"an option with its value":    {[]string{"--api-key=hunter2hunter2"}, []string{"--api-key=${secret:srv.args}"}},
		"a variable":                  {[]string{"-e", "GITHUB_TOKEN=abcdefgh"}, []string{"-e", "GITHUB_TOKEN=${secret:srv.args}"}},
		"an equals sign in the value": {[]string{"--token", "abc=def"}, []string{"--token", "${secret:srv.args}"}},
		"a header":                    {[]string{"--header", "Authorization: Bearer abcdefgh=="}, []string{"--header", "Authorization: Bearer ${secret:srv.args}"}},
		"alone":                       {[]string{"ghp_0123456789abcdef"}, []string{"${secret:srv.args}"}},
		"two":                         {[]string{"--token", "first-one", "--password=second"}, []string{"--token", "${secret:srv.args}", "--password=${secret:srv.args-2}"}},
		"none":                        {[]string{"-y", "@scope/server@1.2.3", "--port=8080", "--root", "/srv/example", "A=b"}, []string{"-y", "@scope/server@1.2.3", "--port=8080", "--root", "/srv/example", "A=b"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Server{Name: "srv", Args: c.args}
			for _, l := range Literals(s) {
				s.Refer(l, "${secret:"+l.Variable+"}")
			}
			if diff := cmp.Diff(c.want, s.Args); diff != "" {
				t.Error(diff)
			}
		})
	}
	same := Server{Name: "srv", Env: map[string]gateway.Secret{"DSN": "postgres://admin:admin@db/x"}}
	same.Refer(Literals(same)[0], "${secret:x}")
	if got := same.Env["DSN"].Reveal(); got != "postgres://${secret:x}:${secret:x}@db/x" {
		t.Errorf("got %s", got)
	}
	// A secret that is a word of the references that are put in does not break them.
	words := Server{Name: "srv", URL: "https://x.example/?token=abcdefgh&key=secret", Env: map[string]gateway.Secret{"DSN": "postgres://me:abcdefgh@${secret:HOST}/?password=secret"}}
	for _, l := range Literals(words) {
		words.Refer(l, "${secret:"+l.Variable+"}")
	}
	if got, want := words.Env["DSN"].Reveal(), "postgres://me:${secret:srv.DSN}@${secret:HOST}/?password=${secret:srv.DSN-2}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := "https://x.example/?token=${secret:srv.url}&key=${secret:srv.url-2}"; words.URL != want {
		t.Errorf("got %s, want %s", words.URL, want)
	}
}
