package reception

import (
	"errors"
	"strings"
	"testing"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
)

// An owner refuses what it would serve in another way than was asked for.
func TestCheck(t *testing.T) {
	t.Parallel()
	variables := Variables{}
	lookup := variables.Record(func(name string) (string, bool) { return "value", name != "UNSET" })
	for _, name := range []string{"USED", "UNSET", "PORT", "LOG_LEVEL"} {
		if value, isSet := lookup(name); value != "value" || isSet != (name != "UNSET") {
			t.Fatalf("%s is %q, %v", name, value, isSet)
		}
	}
	opt := Options{
		Welcome:   bridge.Welcome{Version: "v1"},
		Settings:  func() Settings { return Settings{ConfigFile: "/genkan.yaml", Lang: "en", Variables: variables} },
		CheckName: func(name string) error { return errorIf(name == "reserved", "the name is reserved") },
		CheckView: func(view gateway.View) error {
			return errorIf(len(view.Servers.Names()) > 0 && view.Servers != gateway.NewServerSet("a", "b"), "no such servers")
		},
	}
	environment := []string{"USED=value", "PORT=1"}
	for name, test := range map[string]struct {
		change func(*bridge.Hello)
		want   bridge.Refusal
		reason string
	}{
		"the same":              {func(*bridge.Hello) {}, "", ""},
		"the same language":     {func(h *bridge.Hello) { h.Settings["lang"] = "en" }, "", ""},
		"a name":                {func(h *bridge.Hello) { h.Settings["client"] = "cursor" }, "", ""},
		"some servers":          {func(h *bridge.Hello) { h.Only = []string{"b", "a"} }, "", ""},
		"another build":         {func(h *bridge.Hello) { h.Version = "v2" }, bridge.RefusedVersion, "it is of version v1, the other one of v2"},
		"another configuration": {func(h *bridge.Hello) { h.ConfigFile = "/other.yaml" }, bridge.RefusedConfig, "in /genkan.yaml, not in /other.yaml"},
		"another language":      {func(h *bridge.Hello) { h.Settings["lang"] = "ja" }, bridge.RefusedSettings, "--lang ja"},
		"an unknown setting":    {func(h *bridge.Hello) { h.Settings["new"] = "x" }, bridge.RefusedSettings, "--new x"},
		"a refused name":        {func(h *bridge.Hello) { h.Settings["client"] = "reserved" }, bridge.RefusedSettings, "reserved"},
		"another value": {func(h *bridge.Hello) {
			h.Environment = bridge.FingerprintEnvironment([]string{"USED=other"})
		}, bridge.RefusedEnvironment, "USED"},
		"a variable that the owner lacks": {func(h *bridge.Hello) {
			h.Environment = bridge.FingerprintEnvironment([]string{"USED=value", "UNSET=value"})
		}, bridge.RefusedEnvironment, "UNSET"},
		"unknown servers": {func(h *bridge.Hello) { h.Only = []string{"c"} }, bridge.RefusedOnly, "no such servers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewHello("v1", Settings{ConfigFile: "/genkan.yaml"}, Client{})
			h.Environment = bridge.FingerprintEnvironment(environment)
			test.change(&h)
			if got, reason := opt.Check(&h); got != test.want || !strings.Contains(reason, test.reason) {
				t.Errorf("refused with %q: %q", got, reason)
			}
		})
	}
}

func errorIf(is bool, text string) error {
	if is {
		return errors.New(text)
	}
	return nil
}

// A hello says what the environment of its process is.
func TestHelloDescribesTheEnvironment(t *testing.T) {
	t.Setenv("GENKAN_RECEPTION_TEST", "value")
	h := NewHello("v1", Settings{}, Client{})
	if !h.Environment.Has("GENKAN_RECEPTION_TEST", "value", true) || h.Environment.Has("GENKAN_RECEPTION_TEST", "other", true) {
		t.Error("the environment is another one")
	}
}

// Releases are told apart by their versions, and builds during development by their
// binaries.
func TestBuildID(t *testing.T) {
	t.Parallel()
	if got := BuildID("v1.2.3"); got != "v1.2.3" {
		t.Errorf("a release is %s", got)
	}
	for _, version := range []string{"dev", "v1.2.3-dirty"} {
		if got := BuildID(version); !strings.HasPrefix(got, version+"+") || got != BuildID(version) {
			t.Errorf("%s is %s", version, got)
		}
	}
}
