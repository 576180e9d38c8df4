package config

import (
	"errors"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// environ makes a lookup out of pairs.
func environ(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

func mustLoad(t *testing.T, text string, env func(string) (string, bool), flags Flags) *Config {
	t.Helper()
	c, err := load([]byte(text), "genkan.yaml", Sources{Env: env}, flags)
	if err != nil {
		t.Fatalf("unexpected problems:\n%v", err)
	}
	return c
}

// refused returns the text of the error, which must be ours and invalid.
func refused(t *testing.T, text string, env func(string) (string, bool), flags Flags) string {
	t.Helper()
	c, err := load([]byte(text), "genkan.yaml", Sources{Env: env}, flags)
	if err == nil {
		t.Fatalf("accepted: %+v", c)
	}
	var e *gateway.Error
	if !errors.As(err, &e) || e.Code != gateway.CodeInvalid {
		t.Fatalf("got %T %v, want a gateway.Error with code invalid", err, err)
	}
	return err.Error()
}
