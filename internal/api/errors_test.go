package api

import (
	"testing"

	"genkan/internal/gateway"
)

// Every code has a status of its own kind and a name.
func TestEveryCodeHasAStatusAndAName(t *testing.T) {
	t.Parallel()
	for _, code := range gateway.Codes() {
		if rest := restErrors[code]; rest.status < 400 || rest.code == "" {
			t.Errorf("code %s: %+v", code, rest)
		}
	}
}
