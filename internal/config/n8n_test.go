package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestN8NInstances(t *testing.T) {
	t.Parallel()
	const key = "n8n-secret-key"
	for name, c := range map[string]struct {
		text  string
		env   []string
		flags Flags
		want  string
	}{
		"none":                   {"", nil, Flags{}, ""},
		"one":                    {"n8n: {url: http://127.0.0.1:5678, apiKey: " + key + "}", nil, Flags{}, "n8n=http://127.0.0.1:5678"},
		"several":                {"n8n: [{url: http://a, apiKey: k}, {name: staging, url: http://b, apiKey: k}]", nil, Flags{}, "n8n=http://a staging=http://b"},
		"environment":            {"", []string{"N8N_URL", "http://c", "N8N_API_KEY", key}, Flags{}, "n8n=http://c"},
		"a URL alone":            {"", []string{"N8N_URL", "http://c"}, Flags{}, ""},
		"environment over file":  {"n8n: [{url: http://a, apiKey: k}, {name: staging, url: http://b, apiKey: k}]", []string{"N8N_URL", "http://c", "N8N_API_KEY", key}, Flags{}, "n8n=http://c staging=http://b"},
		"flags over environment": {"", []string{"N8N_URL", "http://c", "N8N_API_KEY", key}, Flags{N8NURL: "http://d", N8NKey: key}, "n8n=http://d"},
		"in a profile":           {"n8n: {url: http://a, apiKey: k}\nprofiles: {ops: {servers: [n8n]}}", nil, Flags{}, "n8n=http://a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := mustLoad(t, c.text, environ(c.env...), c.flags)
			var got []string
			for _, i := range cfg.N8N {
				got = append(got, i.Name+"="+i.URL)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v", got)
			}
			raw, err := json.Marshal(cfg.N8N)
			if shown := fmt.Sprintf("%v %+v %q %s", cfg.N8N, cfg.N8N, cfg.N8N, raw); err != nil || strings.Contains(shown, key) {
				t.Errorf("the key shows: %s", shown)
			}
		})
	}
}

func TestWrongN8NInstances(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"n8n: {url: http://a}":                                          "needs a url",
		"n8n: {url: nowhere, apiKey: k}":                                "http",
		"n8n: {name: N 8, url: http://a, apiKey: k}":                    "cannot be the name of an n8n instance",
		"n8n: [{url: http://a, apiKey: k}, {url: http://b, apiKey: k}]": "its own name",
		"n8n: {name: kb, url: http://a, apiKey: k}":                     "n8n.name must not be kb: genkan itself has tools of this name",
		"n8n: [{name: results, url: http://a, apiKey: k}]":              "must not be results",
		"n8n: {url: http://a, apikey2: k}":                              "apikey2",
	} {
		_, err := load([]byte(text), "genkan.yaml", Sources{}, Flags{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := load(nil, "genkan.yaml", Sources{}, Flags{N8NURL: "http://a"}); err == nil {
		t.Error("a URL without a key is accepted as a flag")
	}
}
