package config

import (
	"fmt"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// TestLacking: what a server refers to and nobody has is that server's trouble
// alone.
func TestLacking(t *testing.T) {
	from := Sources{
		Env: environ("SET", "yes"),
		Secret: func(name string) (gateway.Secret, bool, error) {
			switch name {
			case "github.token", "KEPT":
				return "s3cr3t", true, nil
			case "locked":
				return "", false, gateway.Errorf(gateway.CodeUnavailable, "locked")
			default:
				return "", false, nil
			}
		},
	}
	c, err := load([]byte(`
mcpServers:
  whole: {command: a, env: {A: "${SET}", B: "Bearer ${secret:github.token}", C: "${input:github.token}", D: "${KEPT}"}}
  unset: {command: "${GONE}", args: ["${GONE} ${OTHER}"]}
  empty: {url: "https://x/${secret:none}"}
  shut: {url: "https://x", headers: {A: "${secret:locked}"}}
`), "genkan.yaml", from, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"",
		"mcpServers.unset.command uses the variable GONE, which is not set; set it, run `genkan secrets set GONE`, or give a default: ${GONE:-default}; " +
			"mcpServers.unset.args[0] uses the variable GONE, which is not set; set it, run `genkan secrets set GONE`, or give a default: ${GONE:-default}; " +
			"mcpServers.unset.args[0] uses the variable OTHER, which is not set; set it, run `genkan secrets set OTHER`, or give a default: ${OTHER:-default}",
		"mcpServers.empty.url uses the secret none, which is not kept here; run `genkan secrets set none`",
		"mcpServers.shut.headers.A uses the secret locked, which cannot be read: locked",
	} {
		if got := c.Servers[i].Unresolved.String(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s lacks %q, want %q", c.Servers[i].Name, got, want)
		}
	}
	if got := fmt.Sprint(c.Servers[1].Missing, c.Servers[2].Missing, c.Servers[3].Missing); got != "[{GONE false} {GONE false} {OTHER false}] [{none true}] [{locked true}]" {
		t.Errorf("missing: %s", got)
	}
	env := c.Servers[0].Env
	if env["B"].Reveal() != "Bearer s3cr3t" || env["C"].Reveal() != "s3cr3t" || env["D"].Reveal() != "s3cr3t" {
		t.Errorf("got %q and %q", env["B"].Reveal(), env["C"].Reveal())
	}
}
