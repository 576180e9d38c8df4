package registry

import (
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/vault"
)

func TestNamesOfSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "...": true, ".a": true, "server.API_KEY-2": true, strings.Repeat("x", 128): true,
		"": false, ".": false, "..": false, "a b": false, "a/b": false, "é": false, strings.Repeat("x", 129): false,
	} {
		err := CheckSecretName(name)
		if (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil && (gateway.AsError(err).Code != gateway.CodeInvalid || !strings.Contains(err.Error(), "128")) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	v := vault.NewFile(filepath.Join(t.TempDir(), "vault"), nil)
	if err := v.Save(t.Context(), SecretPrefix+"key", `a"b`); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`"${secret:key}"`:  `"a\"b"`,
		`"${secret:key"`:   `"${secret:key"`,
		`"x${secret:key}"`: `"x${secret:key}"`,
		`{"a":1}`:          `{"a":1}`, `7`: `7`, `null`: `null`,
	} {
		if got, err := Variable(t.Context(), v, []byte(value)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", value, got, err)
		}
	}
	if _, err := Variable(t.Context(), v, []byte(`"${secret:other}"`)); gateway.AsError(err).Code != gateway.CodeNotFound {
		t.Errorf("got %v", err)
	}
}
