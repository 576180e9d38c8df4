package registry

import (
	"strings"
	"testing"

	"genkan/internal/gateway"
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
