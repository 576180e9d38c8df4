package bridge

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Messages are forwarded byte for byte.
func TestMessagesPassUntouched(t *testing.T) {
	t.Parallel()
	w, o := startWorld(t)
	for _, line := range []string{
		`{"id":1,  "method":"tools/call","jsonrpc":"2.0","params":{"name":"a","arguments":{"n":1e400,"s":"é\u0001"},"more":[ ]}}`,
		`{"jsonrpc":"2.0","id":"x\u0041","method":"anything/at all"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{ "_meta":{}}}`,
	} {
		w.say("%s", line)
		o.hears(line)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","result":{"a" :1e400},"id":1}`,
		`{"id":"x\u0041","error":{"code":1,"message":"m","data":[]},"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`,
	} {
		o.say("%s", line)
		w.hears(line)
	}
	w.say(`{"jsonrpc":"2.0","id":1,"result":{ "roots":[]}}`)
	o.hears(`{"jsonrpc":"2.0","id":1,"result":{ "roots":[]}}`)
}

// Where the client's version has arrays of messages, each goes on by itself.
func TestArraysAreTakenApart(t *testing.T) {
	t.Parallel()
	w, o := startWorld(t)
	initialize := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`
	w.say("%s", initialize)
	o.hears(initialize)
	o.say("%s", result("0", "{}"))
	w.hears(result("0", "{}"))
	w.say("[%s,%s]", call("1"), call("2"))
	o.hears(call("1"))
	o.hears(call("2"))
}

// Invalid messages are answered by the bridge: the connection to the owner carries
// only JSON and the bridge's end mark.
func TestWhatIsNoMessageGoesNoFurther(t *testing.T) {
	t.Parallel()
	w, o := startWorld(t)
	for line, id := range map[string]string{
		"nonsense": "null",
		"\x04":     "null",
		`{"jsonrpc":"2.0","id":7,"method":"ping"`:                `7`,
		`{"jsonrpc":"2.0","id":8,"method":"ping","method":"pi"}`: `8`,
		`[{"jsonrpc":"2.0","id":9,"method":"ping"}]`:             `null`,
	} {
		w.say("%s", line)
		w.hearsError(id, "(at byte")
	}
	go func() { w.say("%s", strings.Repeat("x", 33<<20)) }()
	w.hearsError("null", "larger than 32 MiB")
	w.say("%s", call("1"))
	o.hears(call("1"))
	// The answers could not be told apart.
	w.say("%s", call("1"))
	w.hearsError("1", "request id 1 is in use")
	o.say("%s", result("1", "done"))
	w.hears(result("1", "done"))
	w.say("%s", call("1"))
	o.hears(call("1"))
}

// When the owner goes, calls in flight fail once and are never sent again. Later
// requests work, and requests that change nothing are sent again.
func TestLostOwner(t *testing.T) {
	t.Parallel()
	w, first := startWorld(t)
	const list = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`
	for _, line := range []string{call("1"), list, call("3"), call("4")} {
		w.say("%s", line)
		first.hears(line)
	}
	first.say("%s", result("3", "in time"))
	w.hears(result("3", "in time"))
	w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	first.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	first.dies()
	w.hearsError("1", "unavailable: genkan's background process was lost while this call was under way; the call may or may not have been carried out")
	second := w.nextOwner()
	second.hears(list)
	w.say("%s", call("5"))
	second.hears(call("5"))
	second.say("%s", result(`"list"`, "tools"))
	w.hears(result(`"list"`, "tools"))
	second.say("%s", result("5", "done"))
	w.hears(result("5", "done"))
}

// A legacy session goes on with another owner, which is told what the first
// one knew; the client hears only of what may have changed.
func TestLegacySessionGoesOn(t *testing.T) {
	t.Parallel()
	w, first := startWorld(t)
	w.begin(first)
	request := func(id, method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	}
	for i, r := range []struct {
		method, params string
		granted        bool
	}{
		{"logging/setLevel", `{"level":"info"}`, true},
		{"logging/setLevel", `{"level":"debug"}`, true},
		{"logging/setLevel", `{"level":"nonsense"}`, false},
		{"resources/subscribe", `{"uri":"x://one"}`, true},
		{"resources/subscribe", `{"uri":"x://two"}`, true},
		{"resources/subscribe", `{"uri":"x://refused"}`, false},
		{"resources/subscribe", `{"uri":"x://three"}`, true},
		{"resources/unsubscribe", `{"uri":"x://one"}`, true},
	} {
		id := fmt.Sprint(i)
		line := request(id, r.method, r.params)
		w.say("%s", line)
		first.hears(line)
		reply := `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`
		if !r.granted {
			reply = `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":1,"message":"no"}}`
		}
		first.say("%s", reply)
		w.hears(reply)
	}
	// An answer that did not come any more is still waited for.
	const last = `{"jsonrpc":"2.0","id":"last","method":"resources/subscribe","params":{"uri":"x://four"}}`
	w.say(last)
	first.hears(last)
	first.dies()

	second := w.nextOwner()
	for _, want := range []string{
		request(`"genkan-replay-1"`, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`),
		initializedLine,
		request(`"genkan-replay-2"`, "logging/setLevel", `{"level":"debug"}`),
		request(`"genkan-replay-3"`, "resources/subscribe", `{"uri":"x://two"}`),
		request(`"genkan-replay-4"`, "resources/subscribe", `{"uri":"x://three"}`),
		last,
	} {
		second.hears(want)
	}
	second.say("%s", strings.Replace(initializeReply, `"init"`, `"genkan-replay-1"`, 1))
	w.hears(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	second.say(`{"jsonrpc":"2.0","id":"genkan-replay-2","result":{}}`)
	second.say(`{"jsonrpc":"2.0","id":"genkan-replay-3","result":{}}`)
	w.hears(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://two"}}`)
	second.say(`{"jsonrpc":"2.0","id":"genkan-replay-4","error":{"code":1,"message":"gone"}}`)
	second.say(`{"jsonrpc":"2.0","id":"last","result":{}}`)
	w.hears(`{"jsonrpc":"2.0","id":"last","result":{}}`)
	w.say("%s", call("99"))
	second.hears(call("99"))

	// And once more, with what was granted since.
	second.dies()
	w.hearsError("99", "lost")
	third := w.nextOwner()
	for _, want := range []string{"initialize", "initialized", "setLevel", "x://two", "x://three", "x://four"} {
		if got := next(t, third.heard, "the third owner"); !strings.Contains(got, want) {
			t.Errorf("the third owner heard %s, want %s", got, want)
		}
	}
}

// A client that was not answered at all begins with the next owner, and hears
// the answer.
func TestUnansweredInitialize(t *testing.T) {
	t.Parallel()
	w, first := startWorld(t)
	w.say(initializeLine)
	first.hears(initializeLine)
	first.dies()
	second := w.nextOwner()
	second.hears(initializeLine)
	second.say(initializeReply)
	w.hears(initializeReply)
}

const (
	listenLine = `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x://y"]},"_meta":{}}}`
	listenAck  = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x://y"]}}}`
	listenTold = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}}`
)

// A modern client's stream goes on under the same id, and is acknowledged
// once.
func TestListenGoesOn(t *testing.T) {
	t.Parallel()
	w, first := startWorld(t)
	w.say(listenLine)
	first.hears(listenLine)
	// Not acknowledged yet: whoever does it, does it first.
	first.dies()
	second := w.nextOwner()
	second.hears(listenLine)
	second.say(listenAck)
	w.hears(listenAck)
	second.say(listenTold)
	w.hears(listenTold)
	second.dies()

	third := w.nextOwner()
	third.hears(listenLine)
	third.say(listenAck)
	w.hears(listenTold)
	w.hears(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://y","_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}}`)
	third.say(listenTold)
	w.hears(listenTold)
	w.say("%s", strings.Replace(call("1"), `"id":1`, `"id":"sub"`, 1))
	w.hearsError(`"sub"`, "in use")
	// The end that the owner decides is the end.
	third.say(`{"jsonrpc":"2.0","id":"sub","result":{}}`)
	w.hears(`{"jsonrpc":"2.0","id":"sub","result":{}}`)

	// One that the client ends stays ended.
	w.say(listenLine)
	third.hears(listenLine)
	third.say(listenAck)
	w.hears(listenAck)
	w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}}`)
	third.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}}`)
	third.dies()
	fourth := w.nextOwner()
	w.say("%s", call("2"))
	fourth.hears(call("2"))
}

// A client that an owner has asked something hears that nobody waits for the
// answer, which goes to nobody else, whatever others ask under the same id.
func TestQuestions(t *testing.T) {
	t.Parallel()
	w, first := startWorld(t)
	const question = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}`
	first.say(question)
	w.hears(question)
	first.dies()
	w.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"genkan's background process was lost"}}`)
	second := w.nextOwner()
	second.say(question)
	w.hears(`{"jsonrpc":"2.0","id":"genkan-1","method":"elicitation/create","params":{"message":"?"}}`)
	second.say(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
	w.hears(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"for":"the first"}}`)
	w.say(`{"jsonrpc":"2.0","id":77,"result":{"for":"nobody"}}`)
	w.say(`{"jsonrpc":"2.0","id":"genkan-1","result":{"for":"the second"}}`)
	second.hears(`{"jsonrpc":"2.0","id":1,"result":{"for":"the second"}}`)
	w.say(`{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}`)
	second.hears(`{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}`)

	// An owner that does not want an answer any more says so by the id that it
	// knows.
	second.say(question)
	w.hears(question)
	second.dies()
	w.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"genkan's background process was lost"}}`)
	third := w.nextOwner()
	third.say(question)
	w.hears(`{"jsonrpc":"2.0","id":"genkan-2","method":"elicitation/create","params":{"message":"?"}}`)
	third.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"r","requestId":1}}`)
	w.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"r","requestId":"genkan-2"}}`)
	w.say(`{"jsonrpc":"2.0","id":"genkan-2","result":{}}`)
	w.say("%s", call("5"))
	third.hears(call("5"))
}

// An owner that says that it goes still answers what is under way, and nothing
// fails.
func TestRetiringOwner(t *testing.T) {
	t.Parallel()
	w, first := startWorld(t)
	w.begin(first)
	w.say(listenLine)
	first.hears(listenLine)
	first.say(listenAck)
	w.hears(listenAck)
	w.say("%s", call("1"))
	first.hears(call("1"))
	first.say(`{"jsonrpc":"2.0","method":"genkan/retiring"}`)
	second := w.nextOwner()
	second.hears(`{"jsonrpc":"2.0","id":"genkan-replay-1","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
	second.hears(initializedLine)
	second.hears(listenLine)
	w.say("%s", call("2"))
	second.hears(call("2"))
	// Both count from one.
	first.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	w.hears(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	second.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	w.hears(`{"jsonrpc":"2.0","id":"genkan-1","method":"roots/list"}`)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"n":1}}`)
	first.hears(`{"jsonrpc":"2.0","id":1,"result":{"n":1}}`)
	w.say(`{"jsonrpc":"2.0","id":"genkan-1","result":{"n":2}}`)
	second.hears(`{"jsonrpc":"2.0","id":1,"result":{"n":2}}`)
	// What the first one says of changes is not news, and its end of the
	// stream is none.
	first.say(listenTold)
	first.say(`{"jsonrpc":"2.0","id":"sub","result":{}}`)
	first.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}`)
	w.hears(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}`)
	second.say("%s", result("2", "second"))
	w.hears(result("2", "second"))
	first.say("%s", result("1", "first"))
	w.hears(result("1", "first"))
	first.left()
	second.say(listenTold)
	w.hears(listenTold)

	// A retiring owner that has nothing to answer is left at once, and one
	// that dies with something is like any other.
	second.say(`{"jsonrpc":"2.0","method":"genkan/retiring"}`)
	second.left()
	third := w.nextOwner()
	for range 3 {
		next(t, third.heard, "the third owner")
	}
	w.say("%s", call("3"))
	third.hears(call("3"))
	third.say(`{"jsonrpc":"2.0","method":"genkan/retiring"}`)
	w.nextOwner()
	third.dies()
	w.hearsError("3", "lost")
}

// Requests wait for an owner, but not for ever, and not without bounds.
func TestWaitingForAnOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, first := startWorld(t)
		w.setAbsent(true)
		first.dies()
		synctest.Wait()
		begun := time.Now()
		w.say("%s", call("1"))
		w.say("%s", call("2"))
		w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		w.hearsError("1", "no other one could be reached in time; the call was not carried out")
		if waited := time.Since(begun); waited != waitPatience {
			t.Errorf("it waited %v", waited)
		}
		for i := range mostWaiting {
			w.say("%s", call(fmt.Sprint(100+i)))
		}
		w.say("%s", call(`"one too many"`))
		w.hearsError(`"one too many"`, "limited: ")
		w.setAbsent(false)
		second := w.nextOwner()
		for i := range mostWaiting {
			second.hears(call(fmt.Sprint(100 + i)))
		}
		second.say("%s", result("100", "done"))
		w.hears(result("100", "done"))
	})
}

// When the client has said everything, what it asked is answered, and then the
// bridge ends, with whomever.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	w, o := startWorld(t)
	w.say("%s", call("1"))
	o.hears(call("1"))
	_ = w.in.Close()
	o.hears(theEnd)
	o.say("%s", result("1", "late"))
	w.hears(result("1", "late"))
	o.dies()
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// An owner that goes after the client's last word takes its calls with it, and
// no other one is looked for but for what is still to be answered.
func TestOwnerLostAfterTheEnd(t *testing.T) {
	t.Parallel()
	w, first := startWorld(t)
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	w.say("%s", call("1"))
	first.hears(call("1"))
	w.say(list)
	first.hears(list)
	_ = w.in.Close()
	first.dies()
	w.hearsError("1", "lost")
	second := w.nextOwner()
	second.hears(list)
	second.hears(theEnd)
	second.say("%s", result("2", "tools"))
	w.hears(result("2", "tools"))
	second.dies()
	if err := w.end(); err != nil {
		t.Error(err)
	}
	select {
	case <-w.owners:
		t.Error("it looked for another owner for nobody")
	default:
	}
}

// A request to stop gives calls a while, and no longer.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, o := startWorld(t)
		w.say("%s", call("1"))
		o.hears(call("1"))
		begun := time.Now()
		w.stop()
		synctest.Wait()
		w.say("%s", call("2"))
		w.hearsError("2", "genkan is going down")
		if err := w.end(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != drainTime {
			t.Errorf("it took %v", took)
		}
	})
}
