package semantic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/embed"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
	"genkan/internal/kb/semantic"
	"genkan/internal/sqlite"
	"genkan/internal/testkit"
	"genkan/internal/testkit/embeddings"
)

// synonyms are what the models of the tests know about the world.
func synonyms() []string {
	return []string{
		"car automobile vehicle", "physician doctor medic", "bill invoice payment", "login authentication password signin",
		"deploy release rollout", "cat kitten feline", "速い 高速", "slow sluggish latency",
	}
}

const dimensions = 512

// house is a knowledge base with the plugin and an endpoint.
type house struct {
	*plugin.Manager
	base     *kb.Base
	store    *sqlite.Knowledge
	endpoint *embeddings.Server
	log      *testkit.Buffer
	config   semantic.Config
	options  semantic.Options
}

// newHouse has all but the plugin, which begin starts.
func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{log: &testkit.Buffer{}}
	h.open(t, filepath.Join(t.TempDir(), "genkan.db"))
	h.endpoint = embeddings.New(t, map[string]embeddings.Model{
		"meaning": embeddings.Meaning(dimensions, synonyms()...),
		"other":   embeddings.Meaning(dimensions/2, synonyms()...),
	})
	h.config = semantic.Config{URL: h.endpoint.URL + "/v1", Model: "meaning", APIKey: embeddings.Key}
	h.options.Connect = connect
	// Nobody waits in tests: whoever pauses looks again at once, a little later.
	h.options.After = func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }
	h.options.Patience = 30 * time.Second
	return h
}

func connect(c semantic.Config) semantic.Embedder {
	return embed.New(embed.Settings{URL: c.URL, Model: c.Model, Key: c.APIKey, Kind: c.Kind, Dimensions: c.Dimensions, At: "kb.semantic"})
}

func (h *house) open(t *testing.T, path string) {
	t.Helper()
	s := openDatabase(t, path)
	t.Cleanup(func() { _ = s.Close() })
	h.base, h.store = kb.New(s.Knowledge(), kb.Options{}), s.Knowledge()
}

// begin starts the plugin, again if it was there.
func (h *house) begin(t *testing.T) {
	t.Helper()
	if h.Manager != nil {
		if err := h.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	h.Manager = plugin.New(plugin.Options{
		Base: h.base, Store: h.store, Tools: kb.NewTools(h.base, kb.Languages{}), Storage: h.store,
		Log: slog.New(slog.NewTextHandler(h.log, nil)),
	})
	m := h.Manager
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	h.options.Store = h.store
	if err := h.Add(t.Context(), semantic.New(h.options), h.config); err != nil {
		t.Fatal(err)
	}
}

func (h *house) create(t *testing.T, kind, title, content string) int64 {
	t.Helper()
	item, err := h.base.Create(t.Context(), kind, kb.Patch{Title: &title, Content: &content})
	if err != nil {
		t.Fatal(err)
	}
	return item.ID
}

// fill creates items of no importance in one write.
func (h *house) fill(t *testing.T, n int) {
	t.Helper()
	err := h.store.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
		for i := range n {
			item := kb.Item{Type: "docs", Title: fmt.Sprintf("Item %d", i), Content: "of no importance", Priority: kb.PriorityLow}
			if err := w.Insert(ctx, &item); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// answer is what semantic_search gives, or an error.
type answer struct {
	Items []struct {
		ID            int64
		Type, Title   string
		Status        string
		Score         float64
		Snippet       string
		UpdatedAt     string `json:"updated_at"`
		Description   *string
		NothingElseOf json.RawMessage `json:"content"`
	}
	Total, Limit, Pending int
	Note                  string
	Code                  int
	Data                  json.RawMessage
}

func (a answer) titles() string {
	var all []string
	for _, item := range a.Items {
		all = append(all, item.Title)
	}
	return strings.Join(all, ", ")
}

// search calls semantic_search with arguments.
func (h *house) search(t *testing.T, arguments string) answer {
	t.Helper()
	params, err := jsonrpc.ScanParams([]byte(`{"name":"semantic_search","arguments":` + arguments + `}`))
	if err != nil {
		t.Fatal(err)
	}
	result, err := h.Handle(t.Context(), &gateway.Call{
		Method: "tools/call", Params: params, Name: semantic.Name, Tool: &gateway.Tool{Name: semantic.Name},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Answer answer `json:"structuredContent"`
	}
	if err := json.Unmarshal(result.Raw, &got); err != nil {
		t.Fatalf("%v in %s", err, result.Raw)
	}
	return got.Answer
}

func (h *house) find(t *testing.T, query string) answer {
	t.Helper()
	return h.search(t, fmt.Sprintf(`{"query":%q}`, query))
}

// settled waits until no item lacks its vector.
func (h *house) settled(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, func() bool { return h.find(t, "settled").Pending == 0 }, "all vectors are made")
}

// TestMeaning: an item that shares no word with the query is found, in both APIs'
// words.
func TestMeaning(t *testing.T) {
	for _, kind := range []string{"", semantic.KindOpenAI, semantic.KindOllama} {
		t.Run(kind, func(t *testing.T) {
			h := newHouse(t)
			if h.config.Kind = kind; kind == semantic.KindOllama {
				h.config.URL = h.endpoint.URL
			}
			h.create(t, "docs", "Buying an automobile", "What to look at before a test drive.")
			h.create(t, "docs", "Finding a physician", "Who speaks your language.")
			h.create(t, "issues", "Invoice is wrong", "The sum differs.")
			h.create(t, "docs", "Garden", "Tomatoes and beans.")
			h.begin(t)
			h.settled(t)
			got := h.find(t, "car")
			if got.titles() != "Buying an automobile" || got.Total != 1 || got.Limit != 10 || got.Note != "" {
				t.Errorf("a car is %+v", got)
			}
			first := got.Items[0]
			if first.Snippet != "What to look at before a test drive." || first.Type != "docs" || first.Status != "Open" ||
				first.UpdatedAt == "" || first.Score != .3 || first.NothingElseOf != nil {
				t.Errorf("it is shown as %+v", first)
			}
			if got := h.find(t, "doctor payment"); got.titles() != "Invoice is wrong, Finding a physician" {
				t.Errorf("two meanings find %s", got.titles())
			}
			if got := h.search(t, `{"query":"doctor payment","types":["issues"],"limit":1}`); got.titles() != "Invoice is wrong" || got.Limit != 1 {
				t.Errorf("one type finds %+v", got)
			}
			if got := h.search(t, `{"query":"doctor","types":["nothing"]}`); len(got.Items) != 0 || got.Total != 0 {
				t.Errorf("no type finds %+v", got)
			}
		})
	}
}

// TestWordsCountMore: who has the words stands before who only means the same,
// and who has both stands first. Items in closed statuses are found, too.
func TestWordsCountMore(t *testing.T) {
	h := newHouse(t)
	meant := h.create(t, "docs", "Portal", "authentication password")
	words := h.create(t, "docs", "A login wallpaper", "One may login")
	both := h.create(t, "docs", "How to login", "password and authentication")
	for i := range 20 {
		h.create(t, "docs", fmt.Sprintf("Other %d", i), fmt.Sprintf("thing%d and thing%d", i, i+1))
	}
	closed := "Closed"
	if _, err := h.base.Update(t.Context(), kb.Ref{Type: "docs", ID: meant}, kb.Patch{Status: &closed}); err != nil {
		t.Fatal(err)
	}
	h.begin(t)
	h.settled(t)
	got := h.find(t, "login")
	var ids []int64
	for i, item := range got.Items {
		ids = append(ids, item.ID)
		if i > 0 && item.Score > got.Items[i-1].Score {
			t.Errorf("%+v stands too far down", item)
		}
	}
	if !slices.Equal(ids, []int64{both, words, meant}) {
		t.Errorf("found %+v", got.Items)
	}
	if got.Items[1].Snippet != "One may **login**" {
		t.Errorf("the snippet of words is %q", got.Items[1].Snippet)
	}
}

// TestChanges: what is created, changed and deleted is found as it is now, and a
// change that is not of the text costs no vector.
func TestChanges(t *testing.T) {
	h := newHouse(t)
	h.create(t, "docs", "Garden", "Tomatoes and beans.")
	h.create(t, "docs", "Weather", "Rain and sun.")
	h.begin(t)
	h.settled(t)
	id := h.create(t, "docs", "Pets", "kitten")
	h.settled(t)
	if got := h.find(t, "feline"); got.titles() != "Pets" {
		t.Errorf("found %s", got.titles())
	}
	content, high := "invoice", kb.PriorityHigh
	ref := kb.Ref{Type: "docs", ID: id}
	if _, err := h.base.Update(t.Context(), ref, kb.Patch{Content: &content}); err != nil {
		t.Fatal(err)
	}
	h.settled(t)
	if got := h.find(t, "feline"); got.titles() != "" {
		t.Errorf("by its former text is found %s", got.titles())
	}
	if got := h.find(t, "bill"); got.titles() != "Pets" {
		t.Errorf("found %s", got.titles())
	}
	before := h.endpoint.Texts.Load()
	if _, err := h.base.Update(t.Context(), ref, kb.Patch{Priority: &high, Related: &[]kb.Ref{{Type: "docs", ID: 1}}}); err != nil {
		t.Fatal(err)
	}
	h.settled(t)
	if n := h.endpoint.Texts.Load() - before; n != 0 {
		t.Errorf("a change of a priority sent %d texts", n)
	}
	found, err := h.base.ChangeType(t.Context(), ref, "notes")
	if err != nil {
		t.Fatal(err)
	}
	h.settled(t)
	if got := h.search(t, `{"query":"bill","types":["notes"]}`); got.titles() != "Pets" {
		t.Errorf("under its new type is found %s", got.titles())
	}
	if _, err := h.base.Delete(t.Context(), found.Item.Ref()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return h.find(t, "bill").Total == 0 }, "it is gone")
}

// TestRestart: vectors are made once. Nothing is sent again after a restart, and
// what was changed meanwhile is made up for.
func TestRestart(t *testing.T) {
	h := newHouse(t)
	h.fill(t, 50)
	h.create(t, "docs", "Pets", "kitten")
	h.begin(t)
	h.settled(t)
	before := h.endpoint.Texts.Load()
	h.begin(t)
	if got := h.find(t, "feline"); got.titles() != "Pets" || got.Pending != 0 {
		t.Errorf("at once after a restart: %+v", got)
	}
	if n := h.endpoint.Texts.Load() - before; n != 1 {
		t.Errorf("%d texts were sent, beside the query", n-1)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.create(t, "docs", "Money", "invoice")
	if _, err := h.base.Delete(t.Context(), kb.Ref{Type: "docs", ID: 51}); err != nil {
		t.Fatal(err)
	}
	h.begin(t)
	h.settled(t)
	if got := h.find(t, "bill feline"); got.titles() != "Money" {
		t.Errorf("found %s", got.titles())
	}
}

// TestAnotherModel: vectors of different models are never compared. All are made
// anew, and there is an answer meanwhile.
func TestAnotherModel(t *testing.T) {
	h := newHouse(t)
	h.fill(t, 20)
	h.create(t, "docs", "Pets", "kitten")
	h.begin(t)
	h.settled(t)
	h.config.Model = "other"
	h.begin(t)
	h.settled(t)
	before := h.endpoint.Texts.Load()
	if got := h.find(t, "feline"); got.titles() != "Pets" || got.Note != "" {
		t.Errorf("found %+v", got)
	}
	if n := h.endpoint.Texts.Load() - before; n != 1 {
		t.Errorf("%d texts were sent", n)
	}
}

// TestTheModelBehindTheName: an endpoint that gives other vectors under the same
// name is noticed by their length.
func TestTheModelBehindTheName(t *testing.T) {
	h := newHouse(t)
	var short atomic.Bool
	long, other := embeddings.Meaning(dimensions, synonyms()...), embeddings.Meaning(dimensions/2, synonyms()...)
	h.endpoint = embeddings.New(t, map[string]embeddings.Model{"meaning": func(text string) []float32 {
		if short.Load() {
			return other(text)
		}
		return long(text)
	}})
	h.config.URL = h.endpoint.URL + "/v1"
	h.create(t, "docs", "Garden", "Tomatoes and beans.")
	h.create(t, "docs", "Pets", "kitten")
	h.begin(t)
	h.settled(t)
	if got := h.find(t, "feline"); got.titles() != "Pets" {
		t.Errorf("found %+v", got)
	}
	short.Store(true)
	if got := h.find(t, "kitten"); got.titles() != "Pets" || !strings.Contains(got.Note, "another length") {
		t.Errorf("by words is found %+v", got)
	}
	testkit.Eventually(t, func() bool { return h.find(t, "cat").titles() == "Pets" }, "all are made anew")
	// The vector of this query is remembered, from before.
	testkit.Eventually(t, func() bool { got := h.find(t, "feline"); return got.titles() == "Pets" && got.Note == "" }, "and stay")
	h.create(t, "docs", "Money", "invoice")
	short.Store(false)
	testkit.Eventually(t, func() bool { got := h.find(t, "bill"); return got.titles() == "Money" && got.Pending == 0 }, "also when an item shows it")
}

// TestWhileTheEndpointFails: whatever it does, the words answer, and the answer
// and the log say what is the matter. It heals by itself.
func TestWhileTheEndpointFails(t *testing.T) {
	for name, fails := range map[string]*http.HandlerFunc{
		"down": embeddings.Status(http.StatusServiceUnavailable), "a wrong key": embeddings.Status(http.StatusUnauthorized),
		"slow": embeddings.Hanging(), "garbage": embeddings.Body("<html>"), "none": embeddings.Body(`{"data":[]}`),
		"no direction": embeddings.Body(`{"data":[{"index":0,"embedding":[0,0,0]}]}`),
		"no numbers":   embeddings.Body(`{"data":[{"index":0,"embedding":["a"]}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			var now atomic.Int64
			h.options.Now = func() time.Time { return time.Unix(now.Load(), 0) }
			if name == "slow" {
				h.options.Patience = 200 * time.Millisecond
			}
			h.endpoint.Answer.Store(fails)
			h.create(t, "docs", "Pets", "One kitten")
			h.create(t, "docs", "Garden", "Tomatoes")
			h.begin(t)
			got := h.find(t, "kitten")
			if got.titles() != "Pets" || got.Items[0].Score != 1 || got.Pending != 2 ||
				!strings.Contains(got.Note, "words alone") || !strings.Contains(got.Note, "kb.semantic") {
				t.Errorf("meanwhile: %+v", got)
			}
			if got := h.find(t, "feline"); len(got.Items) != 0 || got.Note == "" {
				t.Errorf("what no words find: %+v", got)
			}
			// Whoever was refused first says so, maybe after others were answered.
			testkit.Eventually(t, func() bool { return strings.Contains(h.log.String(), "embeddings cannot be had") }, "the log says so")
			if log := h.log.String(); strings.Contains(log, embeddings.Key) || strings.Count(log, "embeddings cannot be had") != 1 {
				t.Errorf("the log says %s", log)
			}
			h.endpoint.Answer.Store(nil)
			if name == "slow" {
				h.endpoint.CloseClientConnections() // what hangs there would hang for a minute
			}
			testkit.Eventually(t, func() bool {
				now.Add(60)
				got := h.find(t, "feline")
				return got.titles() == "Pets" && got.Note == ""
			}, "it heals")
			testkit.Eventually(t, func() bool { return strings.Contains(h.log.String(), "embeddings can be had again") }, "the log says so")
		})
	}
}

// TestAWordThatNobodyTakes: one item that the model refuses does not keep the
// others from having vectors.
func TestAWordThatNobodyTakes(t *testing.T) {
	h := newHouse(t)
	model := embeddings.Meaning(dimensions, synonyms()...)
	refusing := embeddings.New(t, map[string]embeddings.Model{"meaning": func(text string) []float32 {
		if strings.Contains(text, "poison") {
			panic(http.ErrAbortHandler)
		}
		return model(text)
	}})
	h.config.URL = refusing.URL + "/v1"
	h.fill(t, 40)
	h.create(t, "docs", "Bottle", "poison")
	h.create(t, "docs", "Pets", "kitten")
	h.begin(t)
	h.settled(t)
	if got := h.find(t, "feline"); got.titles() != "Pets" || got.Note != "" {
		t.Errorf("found %+v", got)
	}
	if got := h.find(t, "Bottle"); len(got.Items) == 0 || got.Items[0].Title != "Bottle" {
		t.Errorf("by its words is found %+v", got)
	}
	if log := h.log.String(); strings.Count(log, "docs-41") != 1 {
		t.Errorf("the log says %s", log)
	}
}

// TestManyItems: many items are sent in batches, never more than two at once, each
// text once; nobody waits for them, and whoever asks is told how many lack.
func TestManyItems(t *testing.T) {
	items := testkit.Count(300, 1000)
	h := newHouse(t)
	open := make(chan struct{})
	model := embeddings.Meaning(32, synonyms()...)
	h.endpoint = embeddings.New(t, map[string]embeddings.Model{"meaning": func(text string) []float32 {
		if strings.HasPrefix(text, "Item") {
			<-open
		}
		return model(text)
	}})
	h.config.URL = h.endpoint.URL + "/v1"
	h.fill(t, items-1)
	h.create(t, "docs", "Item with a kitten", "")
	h.begin(t)
	if got := h.find(t, "kitten"); got.titles() != "Item with a kitten" || got.Pending != items || !strings.Contains(got.Note, "pending") {
		t.Errorf("before there is a vector: %+v", got)
	}
	close(open)
	h.settled(t)
	got := h.find(t, "feline")
	if len(got.Items) == 0 || got.Items[0].Title != "Item with a kitten" {
		t.Errorf("found %s", got.titles())
	}
	// Those of the queries come beside them.
	if n := h.endpoint.Texts.Load(); n != int64(items)+3 {
		t.Errorf("%d texts were sent", n)
	}
	if n := h.endpoint.Requests.Load(); n > int64(items)/25+3 {
		t.Errorf("in %d requests", n)
	}
	if n := h.endpoint.Busiest.Load(); n > 2 {
		t.Errorf("%d at once", n)
	}
	if got := h.search(t, `{"query":"importance","limit":100}`); len(got.Items) != 100 || got.Total < 100 {
		t.Errorf("%d of %d", len(got.Items), got.Total)
	}
}

// TestLongItems: the best part of a long item counts, and is what is shown.
func TestLongItems(t *testing.T) {
	h := newHouse(t)
	filler := strings.Repeat("Nothing of importance is said here. ", 80) // 2,880 characters
	h.create(t, "docs", "Long", filler+"\nThe kitten sleeps here.\n"+filler)
	h.create(t, "docs", "日本語", strings.Repeat("あいうえお。", 600)+" 高速 "+strings.Repeat("かきくけこ。", 300))
	h.create(t, "docs", "Only a title", "")
	h.create(t, "docs", "Endless", strings.Repeat("x ", 40_000)+"invoice")
	h.begin(t)
	h.settled(t)
	if n := h.endpoint.Texts.Load(); n != 3+3+1+4+1 { // and the query
		t.Errorf("%d texts were sent", n)
	}
	got := h.find(t, "feline")
	if len(got.Items) == 0 || got.Items[0].Title != "Long" || len(got.Items[0].Snippet) > 210 {
		t.Errorf("found %+v", got.Items)
	}
	if got := h.find(t, "速い"); len(got.Items) == 0 || got.Items[0].Title != "日本語" || !strings.HasSuffix(got.Items[0].Snippet, "…") {
		t.Errorf("found %+v", got.Items)
	}
	if got := h.find(t, "invoice"); got.titles() != "Endless" {
		t.Errorf("what is beyond the bound is found by its words: %s", got.titles())
	}
}

// TestTwoProcesses: what one has made, the other uses.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "genkan.db")
	one, two := newHouse(t), newHouse(t)
	one.open(t, path)
	two.open(t, path)
	two.endpoint, two.config = one.endpoint, one.config
	one.create(t, "docs", "Garden", "Tomatoes and beans.")
	one.begin(t)
	one.settled(t)
	two.begin(t)
	two.settled(t)
	one.create(t, "docs", "Pets", "kitten")
	id := two.create(t, "docs", "Money", "invoice")
	for _, h := range []*house{one, two} {
		h.settled(t)
		if got := h.find(t, "feline"); got.titles() != "Pets" {
			t.Errorf("found %s", got.titles())
		}
	}
	if _, err := two.base.Delete(t.Context(), kb.Ref{Type: "docs", ID: id}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return one.find(t, "bill").Total == 0 }, "it is gone here, too")
}

// TestWrongCalls: what is wrong is said as the other tools say it, and is not sent
// anywhere.
func TestWrongCalls(t *testing.T) {
	h := newHouse(t)
	h.begin(t)
	for arguments, words := range map[string]string{
		`{}`:                         "Query is required",
		`{"query":" "}`:              "must not be empty",
		`{"query":"a","limit":101}`:  "from 1 to 100",
		`{"query":"a","limit":0}`:    "from 1 to 100",
		`{"query":"a","types":[""]}`: "Type is required",
		`{"query":"a","offset":1}`:   "Unknown argument",
		`{"query":7}`:                "Must be a string",
	} {
		if got := h.search(t, arguments); got.Code != 1002 || !strings.Contains(string(got.Data), words) {
			t.Errorf("%s: %d %s", arguments, got.Code, got.Data)
		}
	}
	if n := h.endpoint.Requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
	if got := h.find(t, "anything"); got.Code != 0 || got.Total != 0 || got.Note != "" {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestConfig: what cannot be used says where it stands.
func TestConfig(t *testing.T) {
	weight, half := 1.5, .5
	right := semantic.Config{URL: "http://127.0.0.1:1", Model: "m", Weight: &half, Kind: semantic.KindOllama}
	if err := right.Check("at"); err != nil {
		t.Error(err)
	}
	for words, change := range map[string]func(*semantic.Config){
		"at needs a url":            func(c *semantic.Config) { c.URL = "" },
		"and a model":               func(c *semantic.Config) { c.Model = "" },
		"at.kind must be openai":    func(c *semantic.Config) { c.Kind = "cohere" },
		"at.dimensions must be a n": func(c *semantic.Config) { c.Dimensions = -1 },
		"at.weight must be a numb":  func(c *semantic.Config) { c.Weight = &weight },
	} {
		wrong := right
		change(&wrong)
		if err := wrong.Check("at"); err == nil || !strings.Contains(gateway.AsError(err).Text(), words) {
			t.Errorf("got %v, want %q", err, words)
		}
	}
	// It is left out, and the house goes on.
	h := newHouse(t)
	h.begin(t)
	m := plugin.New(plugin.Options{Base: h.base, Store: h.store, Tools: kb.NewTools(h.base, kb.Languages{}), Storage: h.store, Log: slog.New(slog.DiscardHandler)})
	defer func() { _ = m.Close(t.Context()) }()
	if err := m.Add(t.Context(), semantic.New(h.options), nil); err == nil || !strings.Contains(gateway.AsError(err).Text(), "kb.semantic needs a url") {
		t.Errorf("without a configuration: %v", err)
	}
	if n := len(m.List(gateway.KindTool)); n != 16 {
		t.Errorf("%d tools", n)
	}
}

// The tool follows the language of the knowledge base: title, description and
// arguments.
func TestTheToolIsTranslated(t *testing.T) {
	h := newHouse(t)
	h.begin(t)
	tools := kb.NewTools(h.base, kb.Languages{Translate: func(text string) string { return "訳 " + text }})
	m := plugin.New(plugin.Options{Base: h.base, Store: h.store, Tools: tools, Storage: h.store, Log: slog.New(slog.DiscardHandler)})
	defer func() { _ = m.Close(t.Context()) }()
	if err := m.Add(t.Context(), semantic.New(h.options), h.config); err != nil {
		t.Fatal(err)
	}
	for _, tool := range m.List(gateway.KindTool) {
		if tool.Name != semantic.Name {
			continue
		}
		for _, want := range []string{
			`"title":"訳 Search items by meaning"`, `"description":"訳 Search items by what they mean`,
			`"description":"訳 What to look for, in your own words"`, `"description":"訳 Types to look in`,
		} {
			if !strings.Contains(string(tool.Definition), want) {
				t.Errorf("the definition lacks %s: %s", want, tool.Definition)
			}
		}
		return
	}
	t.Error("the tool is not listed")
}
