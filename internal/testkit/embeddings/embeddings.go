// Package embeddings is a stand-in for what makes vectors of texts: an HTTP server
// that speaks OpenAI's embeddings API and Ollama's, with models that are functions.
package embeddings

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// Key is what requests must bring.
const Key = "sk-not-for-logs"

// Model makes the vector of a text.
type Model func(text string) []float32

// Server is an endpoint of both kinds.
type Server struct {
	*httptest.Server
	// Requests and Texts count what came, Busiest is how many requests were under
	// way at once.
	Requests, Texts, Busiest atomic.Int64
	// Answer replaces the answer, unless it is nil.
	Answer atomic.Pointer[http.HandlerFunc]

	busy   atomic.Int64
	models map[string]Model
}

// New starts a server with models by their names. It ends with the test.
func New(tb testing.TB, models map[string]Model) *Server {
	s := &Server{models: models}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(s.Close)
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	now := s.busy.Add(1)
	defer s.busy.Add(-1)
	for {
		if most := s.Busiest.Load(); now <= most || s.Busiest.CompareAndSwap(most, now) {
			break
		}
	}
	if answer := s.Answer.Load(); answer != nil {
		(*answer)(w, r)
		return
	}
	var in struct {
		Model string
		Input []string
	}
	raw, _ := io.ReadAll(r.Body)
	if json.Unmarshal(raw, &in) != nil || s.models[in.Model] == nil || r.Header.Get("Authorization") != "Bearer "+Key {
		http.Error(w, "no: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return
	}
	vector := s.models[in.Model]
	s.Texts.Add(int64(len(in.Input)))
	switch r.URL.Path {
	case "/v1/embeddings":
		type one struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []one
		for i := len(in.Input) - 1; i >= 0; i-- { // the index counts, not the order
			data = append(data, one{i, vector(in.Input[i])})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
	case "/api/embed":
		var all [][]float32
		for _, text := range in.Input {
			all = append(all, vector(text))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": in.Model, "embeddings": all})
	default:
		http.NotFound(w, r)
	}
}

// Status is an answer with a status, for Answer. It repeats the key, as some do.
func Status(code int) *http.HandlerFunc {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "key "+r.Header.Get("Authorization"), code)
	})
	return &answer
}

// Body is an answer with these words, for Answer.
func Body(text string) *http.HandlerFunc {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	return &answer
}

// Hanging is no answer at all, for Answer.
func Hanging() *http.HandlerFunc {
	answer := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // before that nobody notices that the client has gone
		<-r.Context().Done()
	})
	return &answer
}

// Words is a model to which a text is its words.
func Words(dimensions int) Model { return Meaning(dimensions) }

// Meaning is a model to which words of one group, separated by spaces, mean the
// same. Each group has a dimension of its own, and what is in no group shares the
// others.
func Meaning(dimensions int, groups ...string) Model {
	group := map[string]int{}
	for i, words := range groups {
		for _, word := range strings.Fields(words) {
			group[word] = i
		}
	}
	return func(text string) []float32 {
		v := make([]float32, dimensions)
		for _, word := range strings.Fields(strings.ToLower(text)) {
			word = strings.Trim(word, ".,:;!?")
			if i, ok := group[word]; ok {
				v[i]++
				continue
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(word))
			v[len(groups)+int(h.Sum32())%(dimensions-len(groups))]++
		}
		return v
	}
}
