package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
)

func TestOAuth(t *testing.T) {
	t.Parallel()
	from := Sources{Env: environ("ID", "me"), Secret: func(name string) (gateway.Secret, bool, error) {
		return "s3cr3t-canary", name == "there", nil
	}}
	c, err := load([]byte(`
oauth: {clientMetadataUrl: "https://example.com/genkan.json"}
mcpServers:
  all:
    url: https://x/mcp
    oauth:
      clientId: ${ID}
      clientSecret: ${secret:there}
      issuer: https://login.example.com/tenant
      scopes: [read, "files:write"]
      redirectPort: 3118
      privateHosts: [login.corp, 10.0.0.7]
  never: {url: "https://x", oauth: false}
  silent: {url: "https://x"}
  lacks: {url: "https://x", oauth: {clientId: me, clientSecret: "${secret:gone}"}}
`), "genkan.yaml", from, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	want := []OAuth{
		{
			ClientID: "me", ClientSecret: "s3cr3t-canary", Issuer: "https://login.example.com/tenant",
			Scopes: []string{"read", "files:write"}, RedirectPort: 3118, PrivateHosts: []string{"login.corp", "10.0.0.7"},
		},
		{Off: true},
		{},
		{ClientID: "me"},
	}
	for i, w := range want {
		if diff := cmp.Diff(w, c.Servers[i].OAuth); diff != "" {
			t.Errorf("%s: %s", c.Servers[i].Name, diff)
		}
	}
	if c.ClientMetadataURL != "https://example.com/genkan.json" {
		t.Errorf("got %q", c.ClientMetadataURL)
	}
	if got := c.Servers[3].Unresolved.String(); !strings.Contains(got, "genkan secrets set gone") {
		t.Errorf("lacks %q", got)
	}
	raw, err := json.Marshal(c.Servers)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v", c.Servers, c.Servers, c.Servers), string(raw)} {
		if strings.Contains(shown, "s3cr3t") || !strings.Contains(shown, "tenant") {
			t.Errorf("shown as %s", shown)
		}
	}
}

func TestOAuthProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ oauth, want string }{
		"true":             {"true", "mcpServers.a.oauth: true says nothing"},
		"text":             {`"yes"`, "mcpServers.a.oauth must be a map, or false for a server that is never signed in to; found text"},
		"unknown key":      {"{clientid: x}", `unknown key "clientid" in mcpServers.a.oauth; did you mean "clientId"?`},
		"secret alone":     {"{clientSecret: x}", "mcpServers.a.oauth needs clientId when it has clientSecret or issuer"},
		"no issuer":        {"{clientId: x, issuer: login}", "mcpServers.a.oauth.issuer must begin with http:// or https://"},
		"scopes in one":    {`{scopes: ["a b"]}`, "mcpServers.a.oauth.scopes[0] must be one scope"},
		"a port too large": {"{redirectPort: 70000}", "mcpServers.a.oauth.redirectPort must be a whole number from 1 to 65535"},
		"a host with path": {`{privateHosts: ["https://x/y"]}`, "mcpServers.a.oauth.privateHosts[0] must be an IP address or a host name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load([]byte("mcpServers: {a: {url: \"https://x\", oauth: "+c.oauth+"}}"), "genkan.yaml", Sources{}, Flags{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	for text, want := range map[string]string{
		`{oauth: {clientMetadataUrl: "http://example.com/x"}}`: "oauth.clientMetadataUrl must be an https:// address with a path",
		`{mcpServers: {a: {command: x, oauth: false}}}`:        "mcpServers.a.oauth goes with url",
	} {
		if _, err := load([]byte(text), "genkan.yaml", Sources{}, Flags{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
