package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"genkan/internal/testkit"
)

// orders is an execution with most of what n8n writes: several outputs, a loop, an AI
// node, binary data, a null source, a sub-workflow, hidden failures and a failure.
const orders = `{"id":"42","finished":false,"mode":"webhook","status":"error","startedAt":"2026-11-15T01:00:00.000Z","stoppedAt":"2026-11-15T01:00:02.500Z","workflowId":"wf1","waitTill":null,
"data":{"version":1,"resultData":{"error":{"name":"NodeApiError","message":"Bad request - please check your parameters","description":"qty must be positive","httpCode":"400","messages":["400 - {\"error\":\"qty\"}"],"context":{"itemIndex":1,"request":{"headers":{"authorization":"Bearer s3cr3t"}}},"node":{"name":"Post order"},"stack":"NodeApiError\n    at x (/opt/n8n/y.ts:1:2)"},
"runData":{
"Webhook":[{"startTime":1794704400000,"executionIndex":0,"executionTime":1,"executionStatus":"success","source":[],"data":{"main":[[{"json":{"headers":{"x-n8n-api-key":"s3cr3t","Cookie":"s3cr3t","host":"h"},"body":{"n":1}}}]]}}],
"Split":[{"startTime":1794704400010,"executionIndex":1,"executionTime":2,"executionStatus":"success","source":[{"previousNode":"Webhook"}],"data":{"main":[[],null,[{"json":{"sku":"A","qty":1},"pairedItem":{"item":0}},{"json":{"sku":"B","qty":-1}},{"json":{"sku":"日本語 \u00e9\ud83d\ude00","qty":2}}],[{"json":{"sku":"C"}}]]}}],
"Loop":[
{"startTime":1794704400020,"executionIndex":2,"executionTime":1,"executionStatus":"success","source":[{"previousNode":"Split","previousNodeOutput":2}],"data":{"main":[[{"json":{"i":0}}]]}},
{"startTime":1794704400030,"executionIndex":4,"executionTime":1,"executionStatus":"error","error":{"message":"second run broke\n    at z"},"source":[{"previousNode":"Loop"}]},
{"startTime":1794704400040,"executionIndex":5,"executionTime":1,"executionStatus":"success","source":[{"previousNode":"Loop","previousNodeRun":1}],"data":{"main":[[{"json":{"i":2}}]]}}],
"Try":[{"startTime":1794704400050,"executionIndex":6,"executionTime":1,"executionStatus":"success","source":[{"previousNode":"Split","previousNodeOutput":2}],"data":{"main":[[{"json":{"sku":"A","error":null}},{"json":{"error":{"message":"timeout","stack":"E\n    at q"}}}]]}}],
"Look up":[{"startTime":1794704400055,"executionIndex":7,"executionTime":1,"executionStatus":"success","source":[{"previousNode":"Split","previousNodeOutput":2}],"data":{"main":[[{"json":{"ok":1}}],[{"json":{"sku":"B"}},{"json":{"sku":"C","error":"gone"}}]]}}],
"Pass":[{"startTime":1794704400060,"executionIndex":8,"executionTime":1,"executionStatus":"success","source":[{"previousNode":"Try"}],"data":{"main":[[{"json":{"error":{"message":"timeout"}}}]]}}],
"Model":[{"startTime":1794704400070,"executionIndex":9,"executionTime":9,"executionStatus":"success","source":[{"previousNode":"Agent"}],"inputOverride":{"ai_languageModel":[[{"json":{"prompt":"hi"}}]]},"data":{"ai_languageModel":[[{"json":{"text":"hello"}}]]}}],
"File":[{"startTime":1794704400080,"executionIndex":10,"executionTime":1,"executionStatus":"success","source":[{"previousNode":"Webhook"}],"metadata":{"subExecution":{"executionId":"43","workflowId":"wf2"}},"data":{"main":[[{"json":{},"binary":{"data":{"mimeType":"text/csv","fileName":"a.csv","data":"QUJDREVGRw==","id":"filesystem-v2:x","fileSize":"7 B","bytes":7}}}]]}}],
"Merge":[{"startTime":1794704400090,"executionIndex":11,"executionTime":1,"executionStatus":"success","source":[null,{"previousNode":"Split","previousNodeOutput":2,"previousNodeRun":0}],"data":{"main":[[{"json":{"m":1}}]]}}],
"Post order":[{"startTime":1794704400100,"executionIndex":12,"executionTime":2000,"executionStatus":"error","source":[{"previousNode":"Split","previousNodeOutput":2,"previousNodeRun":0}],"error":{"name":"NodeApiError","message":"Bad request - please check your parameters","description":"qty must be positive","httpCode":"400","messages":["400 - {\"error\":\"qty\"}"],"context":{"itemIndex":1,"request":{"headers":{"authorization":"Bearer s3cr3t"}}},"stack":"NodeApiError\n    at x (/opt/n8n/y.ts:1:2)"}}]
},"lastNodeExecuted":"Post order"},
"executionData":{"nodeExecutionStack":[{"node":{"name":"Post order"},"data":{"main":[[{"json":{"from":"the stack"}}]]},"source":{"main":[{"previousNode":"Split"}]}}]},"resumeToken":"s3cr3t"},
"workflowData":{"id":"wf1","name":"Orders","nodes":[
{"name":"Webhook","type":"n8n-nodes-base.webhook","parameters":{}},{"name":"Split","type":"n8n-nodes-base.switch","parameters":{}},
{"name":"Loop","type":"n8n-nodes-base.splitInBatches","parameters":{}},{"name":"Try","type":"n8n-nodes-base.code","onError":"continueRegularOutput","parameters":{"jsCode":"x"}},
{"name":"Look up","type":"n8n-nodes-base.httpRequest","onError":"continueErrorOutput","parameters":{}},
{"name":"Pass","type":"n8n-nodes-base.noOp","parameters":{}},{"name":"Model","type":"lmChat","parameters":{}},{"name":"File","type":"n8n-nodes-base.executeWorkflow","parameters":{}},
{"name":"Merge","type":"n8n-nodes-base.merge","parameters":{}},
{"name":"Post order","type":"n8n-nodes-base.httpRequest","parameters":{"url":"https://shop.example.com/orders","headerParameters":{"parameters":[{"name":"Authorization","value":"Bearer s3cr3t"},{"value":"s3cr3t","name":"X-API-Key"},{"name":"Accept","value":"text/html"}]}}},
{"name":"Never","type":"n8n-nodes-base.noOp","parameters":{}},
{"name":"Note","type":"n8n-nodes-base.stickyNote","parameters":{"content":"text"}}],"connections":{},"settings":{}}}
`

// allAnswers are the answers about an execution and each of its nodes, decoded.
func allAnswers(tb testing.TB, body []byte) map[string]any {
	tb.Helper()
	index := scanned(tb, body)
	all := map[string]any{"": decode(tb, said(tb, Summary(index, SummaryRequest{})))}
	for i := range index.Nodes {
		name := index.Nodes[i].Name
		all[name] = decode(tb, asked(tb, index, body, NodeRequest{NodeName: name}))
	}
	return all
}

// shuffled writes a value with the keys of each object in another order. The nodes'
// list and arrays stay as they are.
func shuffled(tb testing.TB, raw json.RawMessage, random *rand.Rand) []byte {
	tb.Helper()
	var out bytes.Buffer
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			tb.Fatal(err)
		}
		keys := make([]string, 0, len(object))
		for key := range object {
			keys = append(keys, key)
		}
		random.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		out.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				out.WriteString(" ,\n")
			}
			fmt.Fprintf(&out, "%q : ", key)
			out.Write(shuffled(tb, object[key], random))
		}
		out.WriteByte('}')
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			tb.Fatal(err)
		}
		out.WriteByte('[')
		for i, value := range list {
			if i > 0 {
				out.WriteByte(',')
			}
			out.Write(shuffled(tb, value, random))
		}
		out.WriteByte(']')
	default:
		return raw
	}
	return out.Bytes()
}

func TestKeysMayComeInAnyOrder(t *testing.T) {
	t.Parallel()
	want := allAnswers(t, []byte(orders))
	for seed := range testkit.Count(10, 60) {
		body := shuffled(t, json.RawMessage(orders), rand.New(rand.NewPCG(uint64(seed), 1)))
		got := allAnswers(t, body)
		for name := range want {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Fatalf("seed %d, %q:\n got %v\nwant %v\n%s", seed, name, got[name], want[name], body)
			}
		}
	}
}

func TestACutOffBodyIsAnError(t *testing.T) {
	t.Parallel()
	whole := strings.TrimSpace(orders)
	for n := 0; n < len(whole); n += testkit.Count(7, 1) {
		index, err := Scan(strings.NewReader(whole[:n]))
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("the first %d bytes: %v, %v", n, index, err)
		}
	}
}

func TestErrorsOfTheConnectionPass(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	_, err := Scan(io.MultiReader(strings.NewReader(orders[:3000]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

func TestWindowsDoNotMatter(t *testing.T) {
	t.Parallel()
	want := scanned(t, []byte(orders))
	for name, source := range map[string]io.Reader{
		"bytes": iotest.OneByteReader(strings.NewReader(orders)),
		"half":  iotest.HalfReader(strings.NewReader(orders)),
		"eof":   iotest.DataErrReader(strings.NewReader(orders)),
	} {
		got, err := Scan(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Complete(strings.NewReader(orders)); err != nil {
			t.Fatal(err)
		}
		if a, b := said(t, Summary(got, SummaryRequest{})), said(t, Summary(want, SummaryRequest{})); !bytes.Equal(a, b) {
			t.Errorf("%s: %s\nwant %s", name, a, b)
		}
	}
}

func TestWhatIsNoExecutionIsASyntaxError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`<!DOCTYPE html><html>`, `[]`, `null`, `"text"`, `{"id":}`, `{"id" "1"}`, `{"id":"1",}`, `{"data":{"x":[}}`,
		`{"id":"1"} {}`, `{"data":{"resultData":{"runData":{"A":[{"data":{"main":[[{"json":{}} {}]]}}]}}}}`, "{\x00}",
		`{"id":"\x"}`, `{"id":"\u12g4"}`, `{"x":` + strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1) + `}`,
	} {
		_, err := Scan(strings.NewReader(body))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.40s: %v", body, err)
		}
	}
}

func TestAnIndexOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	var index Index
	for _, data := range [][]byte{nil, {0}, {format}, {format + 1, 1, 2}} {
		if err := index.UnmarshalBinary(data); err == nil {
			t.Errorf("%v is an index", data)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(orders))
	f.Add([]byte(`{"data":{"resultData":{"runData":{"A":[null,{"data":{"main":[null,[1,{}]]}}],"A":[{}]}}}}`))
	f.Add([]byte(`{"id":1,"workflowData":{"nodes":[{"name":"A","parameters":12abc}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		index, err := Scan(bytes.NewReader(body))
		slow, slowErr := Scan(iotest.OneByteReader(bytes.NewReader(body)))
		if fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Fatalf("%v, byte by byte %v", err, slowErr)
		}
		var object map[string]json.RawMessage
		if err != nil {
			if json.Unmarshal(body, &object) == nil && object != nil {
				t.Fatalf("a valid object is refused: %v", err)
			}
			return
		}
		if len(slow.Nodes) != len(index.Nodes) {
			t.Fatal("the windows matter")
		}
		at := bytes.NewReader(body)
		_ = index.Complete(at)
		said(t, Summary(index, SummaryRequest{}))
		for i := range index.Nodes {
			if answer, err := Node(index, at, NodeRequest{NodeName: index.Nodes[i].Name}); err == nil {
				said(t, answer)
			} else if json.Valid(body) {
				t.Fatalf("%q: %v", index.Nodes[i].Name, err)
			}
		}
	})
}
