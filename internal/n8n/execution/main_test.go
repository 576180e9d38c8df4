package execution

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// fixtures are bodies of a real n8n, which are kept beside the repository.
const fixtures = "../../../../shared/fixtures/n8n"

// fixture reads the body of a real execution, or skips the test.
func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	body, err := os.ReadFile(filepath.Join(fixtures, name))
	if os.IsNotExist(err) {
		tb.Skip("the bodies of a real n8n are not here")
	}
	if err != nil {
		tb.Fatal(err)
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			tb.Fatal(err)
		}
		if body, err = io.ReadAll(z); err != nil {
			tb.Fatal(err)
		}
	}
	return body
}

func fixtureNames(tb testing.TB) []string {
	tb.Helper()
	entries, err := os.ReadDir(fixtures)
	if err != nil {
		tb.Skip("the bodies of a real n8n are not here")
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "exec_") {
			names = append(names, entry.Name())
		}
	}
	return names
}

// scanned returns the complete index of a body, after a round trip through its
// encoding.
func scanned(tb testing.TB, body []byte) *Index {
	tb.Helper()
	index, err := Scan(bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if err := index.Complete(bytes.NewReader(body)); err != nil {
		tb.Fatal(err)
	}
	encoded, err := index.MarshalBinary()
	if err != nil {
		tb.Fatal(err)
	}
	var decoded Index
	if err := decoded.UnmarshalBinary(encoded); err != nil {
		tb.Fatal(err)
	}
	return &decoded
}

// said is an answer as the tool sends it.
func said(tb testing.TB, a Answer) []byte {
	tb.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
		Data    any    `json:"data"`
	}{true, a.Message.String(), a.Data})
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

var o200k = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

// count counts the tokens of o200k.
func count(tb testing.TB, text []byte) int {
	tb.Helper()
	codec, err := o200k()
	if err != nil {
		tb.Fatal(err)
	}
	n, err := codec.Count(string(text))
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// asked answers get_execution_by_node.
func asked(tb testing.TB, index *Index, body []byte, req NodeRequest) []byte {
	tb.Helper()
	return readFrom(tb, index, bytes.NewReader(body), req)
}

// decode reads an answer's data.
func decode(tb testing.TB, text []byte) map[string]any {
	tb.Helper()
	var answer struct{ Data map[string]any }
	if err := json.Unmarshal(text, &answer); err != nil {
		tb.Fatal(err)
	}
	return answer.Data
}

// at follows keys and indexes of an answer.
func at(tb testing.TB, v any, path ...any) any {
	tb.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				tb.Fatalf("%v has %d values", path[:i+1], len(list))
			}
			v = list[step]
		}
	}
	return v
}

func TestAnswersAboutRealExecutions(t *testing.T) {
	t.Parallel()
	for _, name := range fixtureNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := fixture(t, name)
			index := scanned(t, body)
			var golden bytes.Buffer
			summary := said(t, Summary(index, SummaryRequest{}))
			golden.Write(summary)
			n := count(t, summary)
			if n > 400 {
				t.Errorf("the summary has %d tokens", n)
			}
			t.Logf("%d tokens", n)
			for i := range index.Nodes {
				golden.WriteString("\n\n")
				golden.Write(asked(t, index, body, NodeRequest{NodeName: index.Nodes[i].Name, ItemLimit: 4}))
			}
			golden.WriteByte('\n')
			for _, secret := range []string{"resumeToken", "/opt/n8n", "\\n    at ", "eyJ", "rejectUnauthorized", "nodeExecutionStack", "filesystem-v2"} {
				if bytes.Contains(golden.Bytes(), []byte(secret)) {
					t.Errorf("the answers have %s", secret)
				}
			}
			base, _, _ := strings.Cut(name, ".")
			testkit.GoldenFile(t, filepath.Join("testdata", base+".golden"), golden.Bytes())
		})
	}
}

// TestIndexCountsWhatIsThere compares the index with the whole body decoded.
func TestIndexCountsWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, name := range fixtureNames(t) {
		if strings.Contains(name, "huge") && !testkit.Full() {
			continue
		}
		body := fixture(t, name)
		index := scanned(t, body)
		var whole struct {
			Data struct {
				ResultData struct {
					RunData map[string][]struct {
						Data map[string][][]json.RawMessage
					}
				}
			}
		}
		if err := json.Unmarshal(body, &whole); err != nil {
			t.Fatal(err)
		}
		var got, want []int64
		for i := range index.executed() {
			node := &index.Nodes[i]
			items := int64(0)
			for _, run := range whole.Data.ResultData.RunData[node.Name] {
				for _, outputs := range run.Data {
					for _, out := range outputs {
						items += int64(len(out))
					}
				}
			}
			got, want = append(got, int64(node.Runs), node.Items), append(want, int64(len(whole.Data.ResultData.RunData[node.Name])), items)
		}
		if !slices.Equal(got, want) || len(index.executed()) != len(whole.Data.ResultData.RunData) {
			t.Errorf("%s: runs and items %v, want %v", name, got, want)
		}
	}
}

func hasFixture(name string) bool {
	_, err := os.Stat(filepath.Join(fixtures, name))
	return err == nil
}
