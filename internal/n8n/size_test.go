package n8n_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"genkan/internal/lang"
	"genkan/internal/n8n"
	"genkan/internal/testkit"
	"genkan/internal/testkit/n8nfake"
)

// largeExecution serves one execution of about size bytes, compressed.
func largeExecution(t *testing.T, size int64) *httptest.Server {
	const facts = `"id":"7","finished":false,"mode":"webhook","status":"error","startedAt":"2026-11-15T01:03:02.561Z","stoppedAt":"2026-11-15T01:04:02.561Z","workflowId":"w"`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("includeData") != "true" {
			_, _ = io.WriteString(w, "{"+facts+"}")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		b := bufio.NewWriterSize(z, 64<<10)
		_, _ = b.WriteString("{" + facts + `,"data":{"resumeToken":"secret","resultData":{"runData":{"Many":[{"startTime":1794704582600,"executionIndex":0,"executionTime":1,"executionStatus":"success","source":[],"data":{"main":[[`)
		for n, written := 0, int64(0); written < size; n++ {
			if n > 0 {
				_ = b.WriteByte(',')
			}
			k, err := fmt.Fprintf(b, `{"json":{"id":%d,"customer":"Customer %d","email":"user%d@example.com","orders":[{"sku":"SKU-%d","qty":3,"price":"13.70"}],"note":"Lorem ipsum dolor sit amet, \"consectetur\" adipiscing elit."},"pairedItem":{"item":%d}}`, n, n, n, n, n)
			if err != nil {
				return
			}
			written += int64(k)
		}
		_, _ = b.WriteString(`]]}}],"Fails":[{"startTime":1794704582999,"executionIndex":1,"executionTime":1,"executionStatus":"error","source":[{"previousNode":"Many"}],"error":{"message":"it broke","context":{"itemIndex":0},"stack":"x"}}]},"lastNodeExecuted":"Fails"}},` +
			`"workflowData":{"id":"w","name":"Large","nodes":[{"name":"Many","type":"t","parameters":{}},{"name":"Fails","type":"t","parameters":{}}]}}`)
		_ = b.Flush()
		_ = z.Close()
	}))
	t.Cleanup(server.Close)
	return server
}

// resident returns a line of /proc/self/status in bytes.
func resident(t *testing.T, line string) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("this system does not tell the memory of a process")
	}
	_, rest, _ := strings.Cut(string(status), line+":")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// A large execution is summed up in little memory, and a second time from what is kept.
// The test is not parallel because it measures memory.
func TestALargeExecutionTakesLittleMemory(t *testing.T) {
	size := int64(testkit.Count(4, 500)) << 20
	if testkit.RaceDetector() { // which makes the scan twenty times slower
		size = int64(testkit.Count(4, 48)) << 20
	}
	server := largeExecution(t, size)
	s := realSource(t, server.URL, n8nfake.Key)
	debug.FreeOSMemory()
	before := resident(t, "VmRSS")
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets VmHWM
	begin := time.Now()
	summary := ask(t, s, "", "get_execution", object{"id": "7"})
	first := time.Since(begin)
	grown := resident(t, "VmHWM") - before
	if !strings.Contains(summary, "it broke") || !strings.Contains(summary, `"customer":"Customer 0"`) {
		t.Error(summary)
	}
	second := first
	for range 5 {
		begin = time.Now()
		if again := ask(t, s, "", "get_execution", object{"id": "7"}); again != summary {
			t.Error(again)
		}
		second = min(second, time.Since(begin))
	}
	tokens := o200k(t, summary)
	t.Logf("%d MB: %v, then %v (%.3f %%), %d MB more memory, %d tokens", size>>20, first, second, 100*second.Seconds()/first.Seconds(), grown>>20, tokens)
	if grown > 64<<20 {
		t.Errorf("the memory grows by %d MB", grown>>20)
	}
	if tokens > 400 {
		t.Errorf("the summary has %d tokens", tokens)
	}
	if testkit.Full() && second > first/100 {
		t.Errorf("the second call takes %v, the first took %v", second, first)
	}
}

// fixtures are bodies of a real n8n, which are kept beside the repository.
const fixtures = "../../../shared/fixtures/n8n"

// The executions of the fixtures are summed up in few tokens, through gzip.
func TestFixturesAreSummedUpInFewTokens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(fixtures, "exec_*"))
	if err != nil || len(files) == 0 {
		t.Skip("the bodies of a real n8n are not here")
	}
	for _, l := range lang.All() {
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if strings.HasSuffix(file, ".gz") {
					w.Header().Set("Content-Encoding", "gzip")
				}
				_, _ = w.Write(raw)
			}))
			reader := &n8n.Reader{Dir: t.TempDir()}
			s := newSource(t, server.URL, n8nfake.Key, n8n.Setup{Executions: reader, Translate: l.Translator()})
			text := ask(t, s, "", "get_execution", object{"id": "7"})
			reader.Close()
			server.Close()
			n := o200k(t, text)
			t.Logf("%s %s: %d tokens", l, filepath.Base(file), n)
			if n > 400 || !strings.HasPrefix(text, `{"success":true`) {
				t.Errorf("%s: %d tokens: %s", filepath.Base(file), n, text)
			}
		}
	}
}
