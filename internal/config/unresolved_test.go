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

// A name with a space in env is its server's trouble alone in a file, and is refused in the
// definition of one server.
func TestNamesOfVariables(t *testing.T) {
	c, err := load([]byte("mcpServers:\n  spaced: {command: x, env: {MY API: z, OK: y}}\n  fine: {command: x}\n"), "genkan.yaml", Sources{}, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	const wrong = "env has a name that a variable cannot have; write NAME: value"
	if got := c.Servers[0].Unresolved.String(); got != "mcpServers.spaced."+wrong {
		t.Errorf("lacks %q", got)
	}
	if got := c.Servers[1].Unresolved.String(); got != "" {
		t.Errorf("the other server lacks %q", got)
	}
	for name, definition := range map[string]string{"a space": `{"command":"x","env":{"MY API":"z"}}`, "a tab": `{"command":"x","env":{"MY\tAPI":"z"}}`} {
		if _, err := CheckServer("spaced", []byte(definition), Sources{}); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
