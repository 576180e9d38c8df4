package execution

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// generated streams an execution: head, as many pieces as fit into size, tail. The
// pieces get their number.
type generated struct {
	head, tail, comma string
	piece             func(n int) string
	size              int64

	rest    string
	pieces  int
	written int64
	ended   bool
}

func (g *generated) Read(b []byte) (int, error) {
	if g.head != "" {
		g.rest, g.head = g.head, ""
	}
	n := 0
	for n < len(b) {
		if g.rest == "" {
			switch {
			case g.ended:
				if n == 0 {
					return 0, io.EOF
				}
				return n, nil
			case g.written >= g.size:
				g.rest, g.ended = g.tail, true
			default:
				if g.pieces > 0 {
					g.rest = g.comma
				}
				g.rest += g.piece(g.pieces)
				g.pieces++
			}
		}
		k := copy(b[n:], g.rest)
		g.rest = g.rest[k:]
		n += k
		g.written += int64(k)
	}
	return n, nil
}

const (
	generatedHead = `{"id":"7","status":"error","startedAt":"2026-11-15T01:03:02.561Z","stoppedAt":"2026-11-15T01:04:02.561Z","workflowId":"w","data":{"resumeToken":"secret","resultData":{"runData":{"Start":[{"startTime":1794704582581,"executionIndex":0,"executionTime":1,"executionStatus":"success","source":[],"data":{"main":[[{"json":{}}]]}}],"Many":`
	generatedTail = `,"Fails":[{"startTime":1794704582999,"executionIndex":2000000,"executionTime":1,"executionStatus":"error","source":[{"previousNode":"Many"}],"error":{"message":"it broke","context":{"itemIndex":0},"stack":"x\n    at y"}}]},"lastNodeExecuted":"Fails"}},"workflowData":{"id":"w","name":"Generated","nodes":[{"name":"Start","type":"t","parameters":{}},{"name":"Many","type":"t","parameters":{}},{"name":"Fails","type":"t","parameters":{}}]}}`
)

func item(n int) string {
	return fmt.Sprintf(`{"json":{"id":%d,"customer":"Customer %d","email":"user%d@example.com","address":{"street":"%d Main Street","city":"Springfield"},"orders":[{"sku":"SKU-%d","qty":3,"price":"13.70"}],"note":"Lorem ipsum dolor sit amet, \"consectetur\" adipiscing elit.","vip":true},"pairedItem":{"item":%d}}`, n, n, n, n, n, n)
}

// shapes are executions that are large in different ways.
func shapes(size int64) map[string]*generated {
	const run = `{"startTime":1794704582600,"executionIndex":1,"executionTime":1,"executionStatus":"success","source":[{"previousNode":"Start"}],"data":{"main":`
	return map[string]*generated{
		"items": {
			head: generatedHead + "[" + run + "[[", comma: ",", piece: item, tail: "]]}}]" + generatedTail, size: size,
		},
		"runs": {
			head: generatedHead + "[", comma: ",", tail: "]" + generatedTail, size: size,
			piece: func(n int) string { return run + `[[{"json":{"n":` + strconv.Itoa(n) + `}}]]}}` },
		},
		"small items": {
			head: generatedHead + "[" + run + "[[", comma: ",", tail: "]]}}]" + generatedTail, size: size,
			piece: func(int) string { return "{}" },
		},
		"one item": {
			head: generatedHead + "[" + run + `[[{"json":{"before":1,"text":"`, tail: `","after":2}}]]}}]` + generatedTail, size: size,
			piece: func(int) string { return strings.Repeat(`word\n`, 100) },
		},
		"nested": {
			head: generatedHead + "[" + run + `[[{"json":{"before":1,"list":[`, comma: ",", tail: `],"after":2}}]]}}]` + generatedTail, size: size,
			piece: func(n int) string { return `{"a":[[` + strconv.Itoa(n) + `]]}` },
		},
		"outputs": {
			head: generatedHead + "[" + run + "[", comma: ",", tail: "]}}]" + generatedTail, size: size,
			piece: func(int) string { return "[]" },
		},
	}
}

// resident returns a line of /proc/self/status in bytes.
func resident(tb testing.TB, line string) int64 {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("this system does not tell the memory of a process")
	}
	_, rest, _ := strings.Cut(string(status), line+":")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return n << 10
}

// TestMemoryStaysFlat is not parallel because it measures memory.
func TestMemoryStaysFlat(t *testing.T) {
	size, others := int64(testkit.Count(4, 500))<<20, int64(testkit.Count(4, 64))<<20
	if testkit.RaceDetector() { // which makes the scan twenty times slower
		size, others = int64(testkit.Count(4, 48))<<20, int64(testkit.Count(4, 8))<<20
	}
	for name, body := range shapes(size) {
		t.Run(name, func(t *testing.T) {
			if name != "items" {
				body.size = others
			}
			if !testkit.Full() && name != "items" && name != "runs" {
				t.Skip("with full counts only")
			}
			file, err := os.Create(filepath.Join(t.TempDir(), "body"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in the program
			debug.FreeOSMemory()
			before := resident(t, "VmRSS")
			_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets VmHWM
			start := time.Now()
			index, err := Scan(io.TeeReader(body, file))
			if err != nil {
				t.Fatal(err)
			}
			if err := index.Complete(file); err != nil {
				t.Fatal(err)
			}
			encoded, err := index.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			first := time.Since(start)
			summary := said(t, Summary(index, SummaryRequest{}))
			grown := resident(t, "VmHWM") - before
			t.Logf("%d MB in %v, %d MB more memory, an index of %d KB", body.size>>20, first, grown>>20, len(encoded)>>10)
			if grown > 64<<20 {
				t.Errorf("the memory grows by %d MB", grown>>20)
			}
			if n := count(t, summary); n > 400 {
				t.Errorf("the summary has %d tokens", n)
			}
			second := time.Hour
			for range 3 {
				start = time.Now()
				var stored Index
				if err := stored.UnmarshalBinary(encoded); err != nil {
					t.Fatal(err)
				}
				Summary(&stored, SummaryRequest{})
				for _, node := range []string{"Many", "Fails"} {
					if _, err := Node(&stored, file, NodeRequest{NodeName: node}); err != nil {
						t.Fatal(err)
					}
				}
				second = min(second, time.Since(start))
			}
			t.Logf("from the index: %v", second)
			if testkit.Full() && name == "items" && second > first/100 {
				t.Errorf("answers from the index take %v, the first took %v", second, first)
			}
			text := readFrom(t, index, file, NodeRequest{NodeName: "Fails"})
			if !bytes.Contains(text, []byte("it broke")) || bytes.Contains(text, []byte("    at y")) {
				t.Errorf("%s", text)
			}
			readFrom(t, index, file, NodeRequest{NodeName: "Many"})
		})
	}
}

// TestEveryItemIsReachable reads an execution of 5,000 items page by page, as the
// guidance says.
func TestEveryItemIsReachable(t *testing.T) {
	t.Parallel()
	all := testkit.Count(1_000, 5_000)
	g := shapes(0)["items"]
	g.size = 1 << 40
	inner := g.piece
	g.piece = func(n int) string {
		if n == all-1 {
			g.size = 0
		}
		return inner(n)
	}
	body, err := io.ReadAll(g)
	if err != nil {
		t.Fatal(err)
	}
	index := scanned(t, body)
	seen, offset, calls := 0, 0, 0
	for {
		calls++
		answer, err := Node(index, bytes.NewReader(body), NodeRequest{NodeName: "Many", ItemOffset: &offset})
		if err != nil {
			t.Fatal(err)
		}
		text := said(t, answer)
		if calls%100 == 1 && count(t, text) > 5_000 {
			t.Errorf("a page has %d tokens", count(t, text))
		}
		data := decode(t, text)
		items, _ := at(t, data, "output", "items").([]any)
		for _, item := range items {
			if got := at(t, item, "json", "id"); got != float64(seen) {
				t.Fatalf("item %d has the id %v", seen, got)
			}
			seen++
		}
		next, more := at(t, data, "output", "nextItemOffset").(float64)
		if !more {
			break
		}
		if want := fmt.Sprintf("itemOffset: %d)", int(next)); !strings.Contains(fmt.Sprint(at(t, data, "_guidance", "example")), want) {
			t.Fatalf("the guidance is %v, want %s", data["_guidance"], want)
		}
		if int(next) != seen {
			t.Fatalf("the next item is %v after %d", next, seen)
		}
		offset = int(next)
	}
	if seen != all || calls > all*3/50 {
		t.Errorf("%d items in %d calls", seen, calls)
	}
}

// readFrom answers get_execution_by_node from a stored body.
func readFrom(tb testing.TB, index *Index, body io.ReaderAt, req NodeRequest) []byte {
	tb.Helper()
	answer, err := Node(index, body, req)
	if err != nil {
		tb.Fatal(err)
	}
	text := said(tb, answer)
	if n := count(tb, text); n > 5_000 {
		tb.Errorf("%s has %d tokens", req.NodeName, n)
	}
	return text
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkScan(b *testing.B) {
	for name, body := range shapes(32 << 20) {
		if name == "outputs" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			whole, err := io.ReadAll(body)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(whole)))
			b.ReportAllocs()
			before := processorTime(b)
			for b.Loop() {
				if _, err := Scan(bytes.NewReader(whole)); err != nil {
					b.Fatal(err)
				}
			}
			// On a busy machine this tells more than the time that passed.
			b.ReportMetric(float64(len(whole))*float64(b.N)/1e6/(processorTime(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}

func BenchmarkPage(b *testing.B) {
	body, err := io.ReadAll(shapes(32 << 20)["items"])
	if err != nil {
		b.Fatal(err)
	}
	index := scanned(b, body)
	offset := 70_000
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Node(index, bytes.NewReader(body), NodeRequest{NodeName: "Many", ItemOffset: &offset}); err != nil {
			b.Fatal(err)
		}
	}
}
