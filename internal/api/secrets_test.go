package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

func TestSecretsAreSetListedAndRemoved(t *testing.T) {
	t.Parallel()
	command, args, env := testkit.FaultCommand(t)
	env["KEY"] = "${secret:needy.key}"
	d := openDoor(t, map[string]any{"mcpServers": map[string]any{"needy": map[string]any{"command": command, "args": args, "env": env}}})
	if got := d.send("GET", "/v1/secrets", ""); got.body != `{"secrets":[]}`+"\n" {
		t.Errorf("no secrets: %d %s", got.status, got.body)
	}
	got := d.send("PUT", "/v1/secrets/needy.key", `{"value":"`+canary+`"}`)
	if got.status != 200 || got.body != `{"name":"needy.key","servers":["needy"]}`+"\n" {
		t.Errorf("a secret: %d %s", got.status, got.body)
	}
	testkit.Eventually(t, func() bool {
		return strings.Contains(d.send("GET", "/v1/servers/needy", "").body, `"state":"ready"`)
	}, "the server does not start with its secret")
	if got := d.send("GET", "/v1/secrets", ""); got.body != `{"secrets":[{"name":"needy.key","servers":["needy"]}]}`+"\n" {
		t.Errorf("the list: %d %s", got.status, got.body)
	}
	for path, wrong := range map[string]struct{ body, field string }{
		"bad%20name": {`{"value":"x"}`, "name"}, "empty": {`{"value":""}`, "value"}, "none": {`{}`, "value"},
		"long": {`{"value":"` + strings.Repeat("x", 65_537) + `"}`, "value"},
	} {
		got := d.send("PUT", "/v1/secrets/"+path, wrong.body)
		if got.status != 400 || !strings.Contains(got.body, `"field":"`+wrong.field+`"`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	// The secret is kept even if the configuration cannot be read just now.
	if err := os.WriteFile(filepath.Join(d.data, "genkan.yaml"), []byte("mcpServers: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.send("PUT", "/v1/secrets/other", `{"value":"x"}`); got.status != 200 || !strings.Contains(got.body, `"problem":"`) {
		t.Errorf("with a bad configuration: %d %s", got.status, got.body)
	}
	if err := os.WriteFile(filepath.Join(d.data, "genkan.yaml"), []byte(d.config), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.send("DELETE", "/v1/secrets/needy.key", ""); got.status != 200 || !strings.Contains(got.body, `"servers":["needy"]`) {
		t.Errorf("removing: %d %s", got.status, got.body)
	}
	if got := d.send("DELETE", "/v1/secrets/needy.key", ""); got.status != 404 {
		t.Errorf("removing again: %d %s", got.status, got.body)
	}
	if got := d.send("GET", "/v1/secrets", "", "Authorization", "Bearer "+d.newToken()); got.status != 403 {
		t.Errorf("a client: %d %s", got.status, got.body)
	}
}
