package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// A model that knows that parrots echo has the tool found that has no word of the
// query; without an answer of it, a search goes by words.
func TestSearchByMeaning(t *testing.T) {
	t.Parallel()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || r.URL.Path != "/api/embed" {
			http.NotFound(w, r)
			return
		}
		all := [][]float32{}
		for _, text := range in.Input {
			v := []float32{0, 1}
			if strings.Contains(text, "parrot") || strings.HasPrefix(text, "fault echo\n") {
				v = []float32{1, 0}
			}
			all = append(all, v)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": all})
	}))
	t.Cleanup(model.Close)
	d := openDoor(t, map[string]any{"embeddings": map[string]any{"url": model.URL, "model": "birds", "kind": "ollama"}})
	search := func(query string) string {
		return d.send("POST", "/v1/tools/search", `{"query":"`+query+`"}`).body
	}
	testkit.Eventually(t, func() bool { return strings.Contains(search("parrot"), `"name":"fault__echo"`) }, "the tools have vectors")
	model.Close()
	if got := search("text unchanged"); !strings.Contains(got, `"name":"fault__echo"`) {
		t.Errorf("without the model: %s", got)
	}
}
