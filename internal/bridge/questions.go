package bridge

import (
	"strconv"

	"genkan/internal/jsonrpc"
)

// mostQuestions is how many answers a client may owe before questions without a
// waiting owner are dropped.
const mostQuestions = 4096

// questions are the questions of owners to the client, by the ids that the client
// knows. A question whose owner has gone stays until it is answered, so that the
// answer is not mistaken for that of another question with the same id.
type questions struct {
	open    map[string]*question
	renamed uint64
}

type question struct {
	// from is the owner that waits for the answer; nil if it has gone.
	from *link
	// id is the owner's id of the question, if the client knows it under another.
	id []byte
}

// ask records a question and returns the line for the client.
func (q *questions) ask(from *link, msg *jsonrpc.Message, line []byte) []byte {
	if q.open == nil {
		q.open = map[string]*question{}
	}
	if len(q.open) >= mostQuestions {
		for id, old := range q.open {
			if old.from == nil {
				delete(q.open, id)
			}
		}
	}
	name := string(msg.ID)
	asked := &question{from: from}
	if _, used := q.open[name]; used {
		// Another owner has also counted from one.
		q.renamed++
		name = `"genkan-` + strconv.FormatUint(q.renamed, 10) + `"`
		asked.id = msg.ID
		line = appendRequest([]byte(name), msg.Method, msg.Params.Raw)
	}
	q.open[name] = asked
	return line
}

// answered removes the question that the client answers. It returns nil if no owner
// waits for the answer.
func (q *questions) answered(id string) *question {
	asked := q.open[id]
	delete(q.open, id)
	if asked == nil || asked.from == nil {
		return nil
	}
	return asked
}

// answer returns the client's answer with the owner's id of the question.
func (q *question) answer(msg *jsonrpc.Message, line []byte) []byte {
	switch {
	case q.id == nil:
		return line
	case msg.Kind == jsonrpc.Response:
		return jsonrpc.AppendResult(nil, q.id, msg.Result.Raw)
	default:
		return jsonrpc.AppendErrorObject(nil, q.id, msg.Error)
	}
}

// canceled returns an owner's cancellation of a question with the client's id of
// it.
func (q *questions) canceled(from *link, msg *jsonrpc.Message, line []byte) []byte {
	at := jsonrpc.LookupSpan(msg.Params.Raw, "requestId")
	if !at.Present() {
		return line
	}
	id := string(msg.Params.Raw[at.Start:at.End])
	for name, asked := range q.open {
		if asked.from != from {
			continue
		}
		switch {
		case asked.id == nil && name == id:
			asked.from = nil
			return line
		case asked.id != nil && string(asked.id) == id:
			asked.from = nil
			params := jsonrpc.Splice(nil, msg.Params.Raw, jsonrpc.Edit{At: at, With: []byte(name)})
			return jsonrpc.AppendNotification(nil, msg.Method, params)
		}
	}
	return line
}

// lost returns the messages that cancel the open questions of an owner that has
// gone.
func (q *questions) lost(from *link) [][]byte {
	var messages [][]byte
	for name, asked := range q.open {
		if asked.from != from {
			continue
		}
		asked.from = nil
		params := append([]byte(`{"requestId":`), name...)
		params = append(params, `,"reason":"genkan's background process was lost"}`...)
		messages = append(messages, jsonrpc.AppendNotification(nil, "notifications/cancelled", params))
	}
	return messages
}
