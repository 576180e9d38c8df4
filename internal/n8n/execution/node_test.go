package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func ptr(n int) *int { return &n }

// same fails the test unless a part of an answer is the JSON in want.
func same(t *testing.T, data any, want string, path ...any) {
	t.Helper()
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if got := at(t, data, path...); !reflect.DeepEqual(got, wanted) {
		encoded, _ := json.Marshal(got)
		t.Errorf("%v is %s, want %s", path, encoded, want)
	}
}

func TestSummaryHasTheRootCause(t *testing.T) {
	t.Parallel()
	index := scanned(t, []byte(orders))
	data := decode(t, said(t, Summary(index, SummaryRequest{})))
	same(t, data, `{"nodeName":"Post order","message":"Bad request - please check your parameters","description":"qty must be positive","cause":"400 - {\"error\":\"qty\"}","itemIndex":1,"inputItem":{"sku":"B","qty":-1}}`, "error")
	same(t, data, `"get_execution_by_node(id: '42', nodeName: 'Post order')"`, "_guidance", "example")
	same(t, data, `2500`, "duration")
	same(t, data, `{"totalNodes":11,"executedNodes":10,"successfulNodes":8,"failedNodes":2,"totalItemsProcessed":16,"hiddenErrors":3}`, "statistics")
	same(t, data, `[{"nodeName":"Try","count":1,"message":"timeout","itemIndex":1},{"nodeName":"Look up","count":2,"message":"gone","outputIndex":1}]`, "hiddenErrors")
}

func TestNoAnswerHasASecret(t *testing.T) {
	t.Parallel()
	index := scanned(t, []byte(orders))
	answers := said(t, Summary(index, SummaryRequest{}))
	for i := range index.Nodes {
		answers = append(answers, asked(t, index, []byte(orders), NodeRequest{NodeName: index.Nodes[i].Name})...)
	}
	encoded, err := index.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"s3cr3t", "    at ", "/opt/n8n", "QUJD", "filesystem-v2"} {
		if bytes.Contains(answers, []byte(secret)) {
			t.Errorf("an answer has %q: %s", secret, answers)
		}
		if bytes.Contains(encoded, []byte(secret)) {
			t.Errorf("the index has %q", secret)
		}
	}
}

func TestAnswersAboutNodes(t *testing.T) {
	t.Parallel()
	index := scanned(t, []byte(orders))
	type check struct {
		want string
		path []any
	}
	in := func(want string, path ...any) check { return check{want, path} }
	tests := []struct {
		name   string
		req    NodeRequest
		checks []check
	}{
		{"a failed node shows the failed item of its input", NodeRequest{NodeName: "Post order"}, []check{
			in(`"error"`, "status"), in(`[]`, "output", "items"), in(`1`, "input", "itemOffset"), in(`3`, "input", "total"),
			in(`{"json":{"sku":"B","qty":-1}}`, "input", "items", 0),
			in(`{"nodeName":"Split","outputIndex":2,"runIndex":0,"total":3}`, "input", "from"),
			in(`{"name":"NodeApiError","message":"Bad request - please check your parameters","description":"qty must be positive","cause":"400 - {\"error\":\"qty\"}","httpCode":"400","itemIndex":1}`, "error"),
			in(`"2026-11-15T01:00:00.100Z"`, "startTime"), in(`"2026-11-15T01:00:02.100Z"`, "endTime"), in(`2000`, "executionTime"),
			in(`"***"`, "parameters", "headerParameters", "parameters", 0, "value"),
			in(`"***"`, "parameters", "headerParameters", "parameters", 1, "value"),
			in(`"text/html"`, "parameters", "headerParameters", "parameters", 2, "value"),
		}},
		{"the first output that has items is shown", NodeRequest{NodeName: "Split"}, []check{
			in(`[{"type":"main","index":0,"total":0},{"type":"main","index":1,"total":0},{"type":"main","index":2,"total":3},{"type":"main","index":3,"total":1}]`, "outputs"),
			in(`"日本語 é😀"`, "output", "items", 2, "json", "sku"),
			in(`"get_execution_by_node(id: '42', nodeName: 'Split', outputIndex: 3)"`, "_guidance", "example"),
		}},
		{"another output is shown on request", NodeRequest{NodeName: "Split", OutputIndex: ptr(3)}, []check{in(`[{"json":{"sku":"C"}}]`, "output", "items")}},
		{"items begin at the offset", NodeRequest{NodeName: "Split", ItemOffset: ptr(1), ItemLimit: 1}, []check{
			in(`[{"json":{"sku":"B","qty":-1}}]`, "output", "items"), in(`2`, "output", "nextItemOffset"), in(`3`, "output", "total"),
			in(`"get_execution_by_node(id: '42', nodeName: 'Split', itemOffset: 2)"`, "_guidance", "example"),
		}},
		{"an offset after the end shows nothing", NodeRequest{NodeName: "Split", ItemOffset: ptr(99)}, []check{in(`[]`, "output", "items"), in(`3`, "output", "total")}},
		{"the items after an offset are not all items", NodeRequest{NodeName: "Split", OutputIndex: ptr(2), ItemOffset: ptr(2)}, []check{
			in(`3`, "output", "total"), in(`"There are no more items in this run. The example gets the node that its input comes from."`, "_guidance", "message"),
		}},
		{"the failed run is shown", NodeRequest{NodeName: "Loop"}, []check{
			in(`1`, "runIndex"), in(`3`, "runs"), in(`[1]`, "failedRuns"), in(`{"message":"second run broke"}`, "error"),
			in(`{"nodeName":"Loop","outputIndex":0,"runIndex":0,"total":1}`, "input", "from"),
		}},
		{"another run is shown on request", NodeRequest{NodeName: "Loop", RunIndex: ptr(2)}, []check{in(`"success"`, "status"), in(`[{"json":{"i":2}}]`, "output", "items"), in(`null`, "error")}},
		{"hidden failures are counted", NodeRequest{NodeName: "Try"}, []check{in(`1`, "hiddenErrors"), in(`{"message":"timeout"}`, "output", "items", 1, "json", "error")}},
		{"an error that is passed on is not counted again", NodeRequest{NodeName: "Pass"}, []check{in(`null`, "hiddenErrors")}},
		{"inputs may be null", NodeRequest{NodeName: "Merge"}, []check{
			in(`[null,{"nodeName":"Split","outputIndex":2,"runIndex":0,"total":3}]`, "inputs"), in(`3`, "input", "total"),
		}},
		{"other connections than main", NodeRequest{NodeName: "Model"}, []check{
			in(`[{"type":"ai_languageModel","index":0,"total":1}]`, "outputs"), in(`[{"json":{"text":"hello"}}]`, "output", "items"),
			in(`[{"json":{"prompt":"hi"}}]`, "input", "items"),
		}},
		{"binary data is described", NodeRequest{NodeName: "File"}, []check{
			in(`[{"json":{},"binary":{"data":{"mimeType":"text/csv","fileName":"a.csv","fileSize":"7 B","bytes":7}}}]`, "output", "items"),
			in(`{"executionId":"43","workflowId":"wf2"}`, "subExecution"), in(`"get_execution(id: '43')"`, "_guidance", "example"),
		}},
		{"a node that did not run", NodeRequest{NodeName: "Never"}, []check{
			in(`"notExecuted"`, "status"), in(`["Webhook","Split","Loop","Try","Look up","Pass","Model","File","Merge","Post order"]`, "executedNodes"),
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			data := decode(t, asked(t, index, []byte(orders), test.req))
			for _, check := range test.checks {
				same(t, data, check.want, check.path...)
			}
			if example, _ := at(t, data, "_guidance", "example").(string); example == "" {
				t.Error("there is no guidance")
			}
		})
	}
}

func TestWrongRequestsSayWhatIsRight(t *testing.T) {
	t.Parallel()
	index := scanned(t, []byte(orders))
	for _, test := range []struct {
		req        NodeRequest
		name, want string
	}{
		{NodeRequest{NodeName: "post ORDER"}, "NotFoundError", "Node 'post ORDER' not found in execution '42'. Did you mean 'Post order'?"},
		{NodeRequest{NodeName: "Nothing"}, "NotFoundError", "Node 'Nothing' not found in execution '42'"},
		{NodeRequest{NodeName: "Note"}, "NotFoundError", "Node 'Note' not found in execution '42'"},
		{NodeRequest{NodeName: "Loop", RunIndex: ptr(3)}, "ValidationError", "node 'Loop' has no run 3; its runs are 0 to 2"},
		{NodeRequest{NodeName: "Split", OutputIndex: ptr(4)}, "ValidationError", "run 0 of node 'Split' has no output 4 of type main; it has 4 outputs, counted from 0"},
		{NodeRequest{NodeName: "Split", OutputIndex: ptr(-1)}, "ValidationError", "run 0 of node 'Split' has no output -1 of type main; it has 4 outputs, counted from 0"},
		{NodeRequest{NodeName: "Post order", OutputIndex: ptr(0)}, "ValidationError", "run 0 of node 'Post order' has no output"},
		{NodeRequest{NodeName: "Split", ItemOffset: ptr(-1)}, "ValidationError", "itemOffset is -1; it counts from 0"},
		{NodeRequest{NodeName: "Split", ItemLimit: -1}, "ValidationError", "itemLimit is -1; give 1 to 50"},
	} {
		_, err := Node(index, strings.NewReader(orders), test.req)
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Name != test.name || wrong.Error() != test.want {
			t.Errorf("%+v: %v, want %s", test.req, err, test.want)
		}
	}
}

// TestInputsFallBackToTheStack removes the run that the failed node's input comes from.
func TestInputsFallBackToTheStack(t *testing.T) {
	t.Parallel()
	body := []byte(strings.Replace(orders, `"Split":[{`, `"Other":[{`, 1))
	index := scanned(t, body)
	data := decode(t, asked(t, index, body, NodeRequest{NodeName: "Post order"}))
	same(t, data, `[{"json":{"from":"the stack"}}]`, "input", "items")
}

// TestInheritedErrorsAreNotCounted gives the node that passes errors on a continue mode.
func TestInheritedErrorsAreNotCounted(t *testing.T) {
	t.Parallel()
	body := []byte(strings.Replace(orders, `{"name":"Pass",`, `{"name":"Pass","onError":"continueRegularOutput",`, 1))
	index := scanned(t, body)
	same(t, decode(t, said(t, Summary(index, SummaryRequest{}))), `3`, "statistics", "hiddenErrors")
	same(t, decode(t, asked(t, index, body, NodeRequest{NodeName: "Pass"})), `null`, "hiddenErrors")
}

// execution returns an execution with nodes that ran in a row.
func execution(nodes int, name func(int) string, fails int) []byte {
	var runs, list []string
	for i := range nodes {
		status := `"executionStatus":"success","data":{"main":[[{"json":{}}]]}`
		if i == fails {
			status = `"executionStatus":"error","error":{"message":"` + strings.Repeat("it broke. ", 200) + `","description":"` + strings.Repeat("because. ", 200) + `"}`
		}
		runs = append(runs, fmt.Sprintf(`%q:[{"startTime":%d,"executionIndex":%d,"executionTime":1,"source":[],%s}]`, name(i), 1794704400000+i, i, status))
		list = append(list, fmt.Sprintf(`{"name":%q,"type":"n8n-nodes-base.set"}`, name(i)))
	}
	return []byte(`{"id":"5","status":"error","workflowId":"w","data":{"resultData":{"runData":{` + strings.Join(runs, ",") + `}}},"workflowData":{"name":"` + strings.Repeat("長い", 500) + `","nodes":[` + strings.Join(list, ",") + `]}}`)
}

func TestManyNodesAreCollapsedAndReachable(t *testing.T) {
	t.Parallel()
	name := func(i int) string { return fmt.Sprintf("Node number %d", i) }
	index := scanned(t, execution(120, name, 77))
	text := said(t, Summary(index, SummaryRequest{}))
	if n := count(t, text); n > 1_000 {
		t.Errorf("the summary has %d tokens", n)
	}
	data := decode(t, text)
	same(t, data, `[{"nodeName":"Node number 77","nodeType":"n8n-nodes-base.set","status":"error","items":0}]`, "availableNodes")
	same(t, data, `119`, "collapsedNodes")
	same(t, data, `"get_execution_by_node(id: '5', nodeName: 'Node number 77')"`, "_guidance", "example")

	seen := 0
	for next := ptr(0); next != nil; {
		text := said(t, Summary(index, SummaryRequest{NodeOffset: next}))
		if n := count(t, text); n > 1_000 {
			t.Errorf("a page of nodes has %d tokens", n)
		}
		data := decode(t, text)
		nodes, _ := at(t, data, "availableNodes").([]any)
		for _, node := range nodes {
			if got := at(t, node, "nodeName"); got != name(seen) {
				t.Fatalf("node %d is %v", seen, got)
			}
			seen++
		}
		next = nil
		if more, ok := at(t, data, "nextNodeOffset").(float64); ok {
			next = ptr(int(more))
			same(t, data, fmt.Sprintf(`"get_execution(id: '5', nodeOffset: %d)"`, seen), "_guidance", "example")
		}
	}
	if seen != 120 {
		t.Errorf("%d nodes are reachable", seen)
	}
}

func TestASummaryIsSmallWhateverTheNamesAre(t *testing.T) {
	t.Parallel()
	for i, nodes := range []int{1, 20, 21, 300} {
		for k, word := range []string{"x", "名前", "4f9a", "'\\\"", "🎈"} {
			if !testkit.OneIn(3, i, k) {
				continue
			}
			index := scanned(t, execution(nodes, func(i int) string { return strings.Repeat(word, 300) + fmt.Sprint(i) }, 0))
			for _, req := range []SummaryRequest{{}, {NodeOffset: ptr(0)}} {
				if n := count(t, said(t, Summary(index, req))); n > 1_000 {
					t.Errorf("%d nodes called %s: %d tokens", nodes, word, n)
				}
			}
		}
	}
}

func TestLongItemsAreCutToTheLimit(t *testing.T) {
	t.Parallel()
	many := testkit.Count(5_000, 50_000)
	long := strings.Repeat("0123456789abcdef", 2*many)
	for name, value := range map[string]string{
		"a text":   `{"a":1,"text":"` + long + `","b":2}`,
		"Japanese": `{"text":"` + strings.Repeat("注文の一覧を確認しました。", many) + `"}`,
		"escapes":  `{"text":"` + strings.Repeat(`\u00e9\n\ud83d\ude00`, many) + `"}`,
		"a list":   `{"list":[` + strings.TrimSuffix(strings.Repeat(`{"id":12345,"name":"x"},`, many), ",") + `],"b":2}`,
		"deep":     strings.Repeat(`{"a":[`, 500) + `1` + strings.Repeat(`]}`, 500),
		"keys":     `{` + strings.TrimSuffix(strings.Repeat(`"a key of some length":"and its value",`, 2*many/5), ",") + `}`,
		"a key":    `{"` + strings.Repeat("0123456789abcdef", 100_000) + `":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := []byte(`{"id":"1","status":"success","data":{"resultData":{"runData":{"A":[{"startTime":1,"data":{"main":[[{"json":` + value + `},{"json":{"second":true}}]]}}]}}},"workflowData":{"nodes":[{"name":"A","type":"t","parameters":` + value + `}]}}`)
			index := scanned(t, body)
			data := decode(t, asked(t, index, body, NodeRequest{NodeName: "A"}))
			if name != "deep" {
				same(t, data, `true`, "output", "cut")
				same(t, data, `1`, "output", "nextItemOffset")
			}
			data = decode(t, asked(t, index, body, NodeRequest{NodeName: "A", ItemOffset: ptr(1)}))
			same(t, data, `[{"json":{"second":true}}]`, "output", "items")
		})
	}
}

func TestSummariesOfUnusualExecutions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, body, want, example string }{
		{
			"waiting", `{"id":"1","status":"waiting","startedAt":"2026-11-15T01:00:00.000Z","stoppedAt":"2026-11-15T01:00:01.000Z","waitTill":"2026-11-15T03:00:00.000Z","workflowId":"w","data":{"resultData":{"runData":{"Wait":[{"startTime":1,"executionStatus":"waiting"}]}}}}`,
			`"waitTill":"2026-11-15T03:00:00.000Z"`, "get_execution_by_node(id: '1', nodeName: 'Wait')",
		},
		{"too large", `{"id":"1","status":"success","workflowId":"w","dataTooLargeToDisplay":true,"data":{"resultData":{"runData":{}}}}`, "too large to display", "get_execution(id: '1')"},
		{"no data", `{"id":1,"status":"success","workflowId":"w","data":null}`, "n8n has no node data", "list_executions(workflowId: 'w')"},
		{"crashed", `{"id":"1","status":"crashed","workflowId":"w","data":{"resultData":{"runData":{"A":[{"executionStatus":"crashed"}]}}}}`, "n8n gives no message", "get_execution_by_node(id: '1', nodeName: 'A')"},
		{"an error without a node", `{"id":"1","status":"error","data":{"resultData":{"runData":{},"error":{"message":"no trigger"}}}}`, `"message":"no trigger"`, "list_executions(workflowId: '')"},
	} {
		text := said(t, Summary(scanned(t, []byte(test.body)), SummaryRequest{}))
		if !bytes.Contains(text, []byte(test.want)) {
			t.Errorf("%s: %s", test.name, text)
		}
		if got := at(t, decode(t, text), "_guidance", "example"); got != test.example {
			t.Errorf("%s: the example is %v", test.name, got)
		}
	}
}

func TestGuidanceIsInTheLanguageOfTheAgent(t *testing.T) {
	t.Parallel()
	index := scanned(t, []byte(orders))
	upper := gateway.Translate(strings.ToUpper)
	data := decode(t, said(t, Summary(index, SummaryRequest{Translate: upper})))
	same(t, data, `"USE GET_EXECUTION_BY_NODE TOOL TO FETCH DETAILED DATA FOR A SPECIFIC NODE"`, "_guidance", "message")
}
