package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "embeddings: {url: 'http://127.0.0.1:1/${KEY}', model: m, apiKey: '${KEY}'}", environ("KEY", "hush"), Flags{})
	want := Embeddings{URL: "http://127.0.0.1:1/hush", Model: "m", APIKey: "hush", Kind: EmbeddingsOpenAI, Weight: DefaultEmbeddingsWeight, Definition: `{"url":"http://127.0.0.1:1/${KEY}","model":"m","apiKey":"${KEY}"}`}
	if !cmp.Equal(want, c.Embeddings) {
		t.Errorf("got another one")
	}
	raw, err := json.Marshal(c.Embeddings)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(raw), fmt.Sprintf("%v %+v %#v %s %d", c.Embeddings, c.Embeddings, c.Embeddings, c.Embeddings, c.Embeddings)} {
		if strings.Contains(shown, "hush") {
			t.Errorf("the key is in %s", shown)
		}
	}

	c = mustLoad(t, "embeddings: {url: 'http://127.0.0.1:1', model: m, apiKey: '${KEY}', kind: Ollama, dimensions: 256, weight: 0.5}", environ(), Flags{})
	e := c.Embeddings
	if len(e.Unresolved.Each) != 1 || e.Kind != EmbeddingsOllama || e.Dimensions != 256 || e.Weight != .5 {
		t.Errorf("got %+v, lacking %v", e, e.Unresolved)
	}

	for text, words := range map[string]string{
		"embeddings: {model: m}":                                         "needs a url",
		"embeddings: {url: 'http://127.0.0.1:1'}":                        "needs a url",
		"embeddings: {url: 'ftp://127.0.0.1', model: m}":                 "embeddings.url",
		"embeddings: {url: 'http://127.0.0.1:1', model: m, weight: 2}":   "from 0 to 1",
		"embeddings: {url: 'http://127.0.0.1:1', model: m, weight: 'a'}": "embeddings.weight",
		"embeddings: {url: 'http://127.0.0.1:1', model: m, kind: x}":     "embeddings.kind",
		"embeddings: {url: 'http://127.0.0.1:1', model: m, key: x}":      "unknown key",
		"embeddings: true": "embeddings",
	} {
		_, err := Parse([]byte(text), "genkan.yaml", Sources{}, Flags{})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
