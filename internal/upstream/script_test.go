package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// Scripted servers are small ones for habits that the fault server does not
// have: those of real servers that bend the protocol in ways of their own.
const (
	scriptEnv       = "GENKAN_TEST_SCRIPT"
	scriptRecordEnv = "GENKAN_TEST_SCRIPT_RECORD"
)

// scripted is a scripted server as a child. Its record has every line that it
// read.
func scripted(t testing.TB, name string) (set Settings, record string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	record = t.TempDir() + "/record"
	return commandOf(self, nil, map[string]string{
		scriptEnv: name, scriptRecordEnv: record, "GORACE": "atexit_sleep_ms=0",
	}), record
}

type scriptMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  json.RawMessage `json:"error"`
}

// runScript is the scripted server's process.
func runScript(name, record string) int {
	file, err := os.OpenFile(record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	defer func() { _ = file.Close() }()
	suicide := time.AfterFunc(5*time.Minute, func() { os.Exit(4) })
	defer suicide.Stop()
	s := &script{name: name, out: bufio.NewWriter(os.Stdout)}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return 0
		}
		_, _ = file.Write(line)
		if name == "small-buffer" && len(line) > 10<<20 { // as with the TypeScript SDK
			return 1
		}
		var m scriptMessage
		if json.Unmarshal(line, &m) == nil {
			s.receive(m)
		}
	}
}

type script struct {
	name string
	out  *bufio.Writer
	// answers counts the answers to the server's own requests.
	answers int
	held    []json.RawMessage
}

// floodOfQuestions is how many questions the script question-flood asks.
const floodOfQuestions = 2 * maxAnswering

// shiftJIS is Japanese as programs on Windows write it. Its second character
// ends with a backslash's byte.
const shiftJIS = "\x93\xfa\x95\\\x8c\xea"

func (s *script) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
	_ = s.out.Flush()
}

func (s *script) result(id json.RawMessage, result string) {
	s.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (s *script) refuse(id json.RawMessage, code int, message string) {
	s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

const (
	scriptInit = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"script","version":"1"}}`
	scriptList = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	scriptDone = `{"content":[{"type":"text","text":"done"}]}`
)

func (s *script) receive(m scriptMessage) {
	switch {
	case s.name == "question-flood" && m.ID != nil && m.Method == "":
		if s.answers++; s.answers == floodOfQuestions {
			s.result(s.held[0], scriptDone)
		}
	case s.name == "small-buffer" && string(m.ID) == `"question"`:
		s.result(s.held[0], `{"content":[{"type":"text","text":`+strconv.Quote(string(m.Error))+`}]}`)
	case m.ID == nil || m.Method == "": // notifications and answers
		return
	case s.name == "init-fails" && m.Method == "initialize":
		s.refuse(m.ID, -32603, "the API key is missing")
	case s.name == "no-tools" && m.Method == "initialize":
		s.result(m.ID, strings.Replace(scriptInit, `"tools":{}`, `"prompts":{}`, 1))
	case s.name == "future" && m.Method == "initialize":
		s.result(m.ID, strings.Replace(scriptInit, "2025-06-18", "2031-01-01", 1))
	case s.name == "legacy-crashes" && m.Method == "initialize":
		os.Exit(9)
	case s.name == "legacy-refused" && m.Method == "initialize":
		s.refuse(m.ID, -32601, "Method not found")
	case m.Method == "initialize":
		s.result(m.ID, scriptInit)
	case strings.HasPrefix(s.name, "legacy-") && m.Method == "server/discover":
		s.result(m.ID, `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}}}`)
	case s.name == "silent" && m.Method == "server/discover":
		// Some servers never answer what they do not know.
	case m.Method == "server/discover":
		s.refuse(m.ID, -32601, "Method not found")
	case s.name == "busy" && m.Method == "ping":
		s.say("still computing")
	case m.Method == "tools/list":
		s.list(m)
	case m.Method == "tools/call":
		s.call(m)
	default:
		s.refuse(m.ID, -32601, "Method not found")
	}
}

func (s *script) list(m scriptMessage) {
	switch s.name {
	case "no-tools":
		s.refuse(m.ID, -32601, "there are no tools here, and nobody should have asked")
	case "endless-list":
		s.result(m.ID, strings.TrimSuffix(scriptList, "}")+`,"nextCursor":"again"}`)
	case "odd-list":
		s.result(m.ID, `{"tools":[{"description":"has no name"},{"name":"t"},{"name":7},"text"]}`)
	case "broken-list":
		s.result(m.ID, `{"tools":"none"}`)
	default:
		s.result(m.ID, scriptList)
		if s.name == "deaf-later" {
			for { // it lives, and reads nothing any more
				time.Sleep(time.Hour)
			}
		}
	}
}

func (s *script) call(m scriptMessage) {
	switch s.name {
	case "id-last-deep":
		// In this order the TypeScript SDK writes its answers.
		s.say(`{"result":{"content":[],"structuredContent":%s%s},"jsonrpc":"2.0","id":%s}`,
			strings.Repeat("[", 5000), strings.Repeat("]", 5000), m.ID)
	case "id-last-huge":
		s.say(`{"result":{"content":[{"type":"text","text":"%s"}]},"jsonrpc":"2.0","id":%s}`,
			bytes.Repeat([]byte("0"), 33<<20), m.ID)
	case "not-utf8":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, m.ID, shiftJIS)
	case "not-utf8-id-last":
		s.say(`{"result":{"content":[{"type":"text","text":"%s"}]},"jsonrpc":"2.0","id":%s}`, shiftJIS, m.ID)
	case "not-utf8-inner-id":
		// Arguments and results have ids, too.
		s.say(`{"jsonrpc":"2.0","result":{"structuredContent":{"id":7777},"content":[{"type":"text","text":"%s \"id\":8888"}]}, "id" : %s }`, shiftJIS, m.ID)
	case "cut-off":
		s.say(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","te`)
	case "cut-off-then-answers":
		// The first call's answer is lost; the second's comes later.
		if s.held = append(s.held, m.ID); len(s.held) == 2 {
			s.say(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","te`)
			s.result(s.held[1], scriptDone)
		}
	case "bad-request":
		// The server's own request has an id of ours, and cannot be read.
		s.say(`{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"x":"%s"}}`, m.ID, shiftJIS)
		s.say(`{"id":%s,"level":"info","msg":"a line of a log"}`, m.ID)
		s.result(m.ID, scriptDone)
	case "busy": // it answers no calls
	case "small-buffer":
		s.held = append(s.held, m.ID)
		s.say(`{"jsonrpc":"2.0","id":"question","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
	case "asks":
		s.say(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
		s.say(`{"jsonrpc":"2.0","id":"b","method":"sampling/createMessage","params":{}}`)
		s.say(`{"jsonrpc":"2.0","id":"c","method":"roots/list"}`)
		s.result(m.ID, scriptDone)
	case "where":
		dir, _ := os.Getwd()
		text, _ := json.Marshal(fmt.Sprintf("%d %s %s", os.Getpid(), dir, os.Getenv("FOLDER")))
		s.result(m.ID, `{"content":[{"type":"text","text":`+string(text)+`}]}`)
	case "question-flood":
		s.held = append(s.held, m.ID)
		for i := range floodOfQuestions {
			s.say(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"?"}}`, i)
		}
	case "last-words":
		_, _ = fmt.Fprintln(os.Stderr, "out of memory, goodbye")
		os.Exit(9)
	case "closes-output":
		_ = os.Stdout.Close()
		time.Sleep(time.Hour)
	case "foreign-result-type":
		s.result(m.ID, `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`)
	default:
		s.result(m.ID, scriptDone)
	}
}

// openScript opens a scripted server and waits until it is ready.
func openScript(t testing.TB, name string, options ...option) (*upstreamTest, string) {
	t.Helper()
	set, record := scripted(t, name)
	return openReady(t, set, options...), record
}

// sees waits until a scripted server has read a line with the words.
func sees(t testing.TB, record string, words ...string) {
	t.Helper()
	testkit.Eventually(t, func() bool { return lineWith(t, record, words...) != "" }, "the server has read %q", words)
}
