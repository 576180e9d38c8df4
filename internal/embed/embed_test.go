package embed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/embed"
	"genkan/internal/gateway"
	"genkan/internal/sqlite"
	"genkan/internal/testkit"
	"genkan/internal/testkit/embeddings"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	secret     = embeddings.Key
	dimensions = 64
)

// model is an endpoint of both kinds. A text's vector has a part for each of its
// words.
type model struct{ *embeddings.Server }

func hashed(text string) []float32 { return embeddings.Words(dimensions)(text) }

func newModel(t *testing.T) *model {
	return &model{embeddings.New(t, map[string]embeddings.Model{"words": hashed})}
}

func (m *model) client(t *testing.T, kind, path string) *embed.Client {
	c := embed.New(embed.Settings{URL: m.URL + path, Model: "words", Key: secret, Kind: kind})
	t.Cleanup(c.Close)
	return c
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for _, c := range []struct{ kind, path string }{
		{"", "/v1"},
		{embed.KindOpenAI, "/v1/"},
		{embed.KindOpenAI, "/v1/embeddings"},
		{embed.KindOllama, ""},
		{embed.KindOllama, "/"},
		{embed.KindOllama, "/api/embed"},
	} {
		t.Run(c.kind+c.path, func(t *testing.T) {
			var texts []string
			for n := range 150 {
				texts = append(texts, fmt.Sprintf("text number w%d", n))
			}
			texts[7] = "" // which some endpoints refuse
			before := m.Requests.Load()
			vectors, err := m.client(t, c.kind, c.path).Embed(t.Context(), texts)
			if err != nil || len(vectors) != len(texts) {
				t.Fatal(len(vectors), err)
			}
			if n := m.Requests.Load() - before; n != 3 {
				t.Errorf("%d requests for 150 texts", n)
			}
			for i, v := range vectors {
				want, dot, length := hashed(texts[i]), 0.0, 0.0
				if i == 7 {
					want = hashed("-")
				}
				own := 0.0
				for k := range v {
					dot += float64(v[k]) * float64(want[k])
					length += float64(want[k]) * float64(want[k])
					own += float64(v[k]) * float64(v[k])
				}
				if math.Abs(dot/math.Sqrt(length)-1) > 1e-5 || math.Abs(own-1) > 1e-5 {
					t.Fatalf("text %d has another's vector, or one of length %g", i, own)
				}
			}
		})
	}
	if most := m.Busiest.Load(); most > 2 {
		t.Errorf("%d requests at once", most)
	}
	if none, err := m.client(t, "", "/v1").Embed(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("nothing: %v, %v", none, err)
	}
}

// TestEmbedFails: every failure says what to do, and none shows the key.
func TestEmbedFails(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	status := func(code int) http.HandlerFunc { return *embeddings.Status(code) }
	body := func(text string) http.HandlerFunc { return *embeddings.Body(text) }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		words  string
	}{
		"a wrong key":          {status(401), "embeddings.apiKey"},
		"no such model":        {status(404), "model of embeddings"},
		"too long":             {status(400), "dimensions of embeddings"},
		"too many":             {status(429), "later"},
		"broken":               {status(500), "its own log"},
		"elsewhere":            {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v1/other", http.StatusFound) }, "status 302"},
		"no JSON":              {body("<html>"), "does not answer with embeddings"},
		"fewer":                {body(`{"data":[]}`), "another number"},
		"empty":                {body(`{"data":[{"index":0,"embedding":[]}]}`), "no direction"},
		"zero":                 {body(`{"data":[{"index":0,"embedding":[0,0]}]}`), "no direction"},
		"the other kind":       {body(`{"embeddings":[[1,2]]}`), "kind and model of embeddings"},
		"an impossible index":  {body(`{"data":[{"index":9,"embedding":[1]}]}`), "no direction"},
		"a vector without end": {body(`{"data":[{"index":0,"embedding":[1` + strings.Repeat(",1", 9000) + `]}]}`), "longer than any"},
		"no end at all": {func(w http.ResponseWriter, _ *http.Request) {
			for written := 0; ; written += 1 << 16 {
				if written > 40<<20 {
					t.Error("all of it is read")
					return
				}
				if _, err := io.WriteString(w, strings.Repeat("[", 1<<16)); err != nil {
					return
				}
			}
		}, "does not answer with embeddings"},
		"hung up": {func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			m.Answer.Store(&c.answer)
			_, err := m.client(t, "", "/v1?key="+secret).Embed(t.Context(), []string{"x"})
			e := gateway.AsError(err)
			if err == nil || e.Code != gateway.CodeUnavailable || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v, want %q", err, c.words)
			}
			for _, shown := range []string{fmt.Sprintf("%v %+v", err, err), fmt.Sprint(e.Err)} {
				if strings.Contains(shown, secret) {
					t.Errorf("the key is in %s", shown)
				}
			}
		})
	}
	m.Close()
	elsewhere := embed.New(embed.Settings{URL: m.URL, Model: "words", At: "kb.semantic"})
	defer elsewhere.Close()
	if _, err := elsewhere.Embed(t.Context(), []string{"x"}); !strings.Contains(gateway.AsError(err).Text(), "check kb.semantic.url") {
		t.Errorf("of other settings: %v", err)
	}
	if _, err := m.client(t, "", "/"+secret).Embed(t.Context(), []string{"x"}); err == nil || strings.Contains(fmt.Sprint(err, gateway.AsError(err).Err), secret) {
		t.Errorf("of one that is gone: %v", err)
	}
}

// asked embeds with a function.
type asked func(ctx context.Context, texts []string) ([][]float32, error)

func (a asked) Embed(ctx context.Context, texts []string) ([][]float32, error) { return a(ctx, texts) }

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "genkan.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func newShelf(t *testing.T, opt embed.Options) *embed.Shelf {
	t.Helper()
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := embed.NewShelf(opt)
	t.Cleanup(s.Close)
	return s
}

// Vectors are made once for each text and model, whoever asks, and kept.
func TestShelf(t *testing.T) {
	t.Parallel()
	m, store := newModel(t), openStore(t)
	opt := embed.Options{Embedder: m.client(t, "", "/v1"), Store: store, Model: "words"}
	s := newShelf(t, opt)
	var cells []*embed.Vector
	for n := range 100 {
		cells = append(cells, s.Vector(fmt.Sprint("tool ", n)))
	}
	if s.Vector("tool 3") != cells[3] {
		t.Error("one text has two vectors")
	}
	all := func(cells []*embed.Vector) func() bool {
		return func() bool {
			for _, c := range cells {
				if c.Load() == nil {
					return false
				}
			}
			return true
		}
	}
	testkit.Eventually(t, all(cells), "all have vectors")
	if n := m.Texts.Load(); n != 100 {
		t.Errorf("%d texts were sent", n)
	}
	s.Close()
	again := newShelf(t, opt)
	testkit.Eventually(t, all([]*embed.Vector{again.Vector("tool 1"), again.Vector("tool 99")}), "the store has them")
	if n := m.Texts.Load(); n != 100 {
		t.Errorf("%d texts were sent after a restart", n)
	}
	opt.Dimensions = 32
	testkit.Eventually(t, all([]*embed.Vector{newShelf(t, opt).Vector("tool 1")}), "other vectors are others")
	if n := m.Texts.Load(); n != 101 {
		t.Errorf("%d texts were sent for other vectors", n)
	}
}

// A model that fails is left alone for a while, which is said once, and so is that
// it works again. Queries do not wait for it.
func TestShelfWhileTheModelFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var mu sync.Mutex
	lines := func() string { mu.Lock(); defer mu.Unlock(); return log.String() }
	var fails atomic.Bool
	var asks atomic.Int64
	fails.Store(true)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pauses := make(chan time.Time)
	s := newShelf(t, embed.Options{
		Embedder: asked(func(_ context.Context, texts []string) ([][]float32, error) {
			asks.Add(1)
			if fails.Load() {
				return nil, errors.New("no")
			}
			return make([][]float32, len(texts)), nil
		}),
		Store: openStore(t), Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now },
		After: func(time.Duration) <-chan time.Time { return pauses },
		Log:   slog.New(slog.NewTextHandler(locked{&mu, &log}, nil)),
	})
	if v := s.Query(t.Context(), "q"); v != nil {
		t.Error("a vector of nobody")
	}
	for range 10 {
		s.Query(t.Context(), "q")
	}
	if n := asks.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	cell := s.Vector("text")
	pauses <- time.Time{} // it has failed, and waits
	testkit.Eventually(t, func() bool { return asks.Load() == 3 }, "it tries again")
	if n := strings.Count(lines(), "words alone"); n != 1 {
		t.Errorf("it was said %d times: %s", n, lines())
	}
	fails.Store(false)
	pauses <- time.Time{}
	testkit.Eventually(t, func() bool { return cell.Load() != nil }, "it works again")
	testkit.Eventually(t, func() bool { return strings.Contains(lines(), "can be had again") }, "the log says so")
	if _, err := s.Wrong(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	before := asks.Load()
	s.Query(t.Context(), "q")
	if asks.Load() != before+1 {
		t.Error("it is not asked again")
	}
}

// A text that the model does not take goes without a vector, and takes nobody else's;
// such a query does not silence the others.
func TestShelfWithATextThatIsRefused(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	client := m.client(t, "", "/v1")
	var asks atomic.Int64
	s := newShelf(t, embed.Options{Store: openStore(t), Model: "words", Patience: time.Minute, Embedder: asked(func(ctx context.Context, texts []string) ([][]float32, error) {
		asks.Add(1)
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "poison") }) {
			refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
			m.Answer.Store(&refuse)
			defer m.Answer.Store(nil)
		}
		return client.Embed(ctx, texts)
	})})
	poison := s.Vector("poison 1")
	var cells []*embed.Vector
	for n := range 100 {
		cells = append(cells, s.Vector(fmt.Sprint("tool ", n)))
	}
	testkit.Eventually(t, func() bool {
		return !slices.ContainsFunc(cells, func(c *embed.Vector) bool { return c.Load() == nil })
	}, "the others have vectors")
	if poison.Load() != nil {
		t.Error("it has a vector")
	}
	if n := asks.Load(); n > 20 {
		t.Errorf("%d requests", n)
	}
	if s.Query(t.Context(), "poison 2") != nil || s.Query(t.Context(), "harmless") == nil {
		t.Error("a query that is refused silences others")
	}
}

type locked struct {
	mu *sync.Mutex
	to io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// A model that does not answer costs a query its patience, and no more; a shelf
// that is closed meanwhile ends.
func TestShelfDoesNotWait(t *testing.T) {
	t.Parallel()
	s := newShelf(t, embed.Options{
		Embedder: asked(func(ctx context.Context, _ []string) ([][]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		Store: openStore(t), Patience: time.Nanosecond,
	})
	if s.Query(t.Context(), "q") != nil {
		t.Error("a vector of nobody")
	}
	s.Vector("text")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Query(gone, "other") != nil {
		t.Error("a vector for nobody")
	}
}
