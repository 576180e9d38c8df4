package mcpserver

import (
	"bytes"
	"net/http"
	"sync"

	"genkan/internal/jsonrpc"
)

// Version 2025-03-26 lets a client send several messages in one array, and it
// alone does. Each is served as if it had come by itself, and the answers go
// back in one array.

// splitBatch takes a client's array apart.
func splitBatch(body []byte) ([][]byte, error) {
	messages, err := jsonrpc.SplitBatch(body)
	switch {
	case err != nil:
		return nil, invalidRequest("the batch is not valid JSON")
	case len(messages) == 0:
		return nil, invalidRequest("the batch is empty")
	case len(messages) > jsonrpc.MaxBatch:
		return nil, invalidRequest("a batch may hold %d messages", jsonrpc.MaxBatch)
	}
	return messages, nil
}

// hasBatches reports whether the client's version lets it send arrays.
func (s *session) hasBatches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version == jsonrpc.BatchVersion
}

// postBatch serves an array of messages of a session that may send such.
func (s *Server) postBatch(p *reply, r *http.Request, body []byte, id visitor) {
	sess, ok := s.session(p, r, nil, id)
	if !ok {
		return
	}
	if !sess.hasBatches() {
		p.refuse(http.StatusBadRequest, nil, invalidRequest("batches are not supported: send each message by itself"))
		return
	}
	messages, err := splitBatch(body)
	if err != nil {
		p.refuse(http.StatusBadRequest, nil, err)
		return
	}
	answers := make([]batchWriter, len(messages))
	var serving sync.WaitGroup
	for i := range messages {
		serving.Go(func() {
			w := &answers[i]
			msg, err := jsonrpc.Scan(messages[i])
			one := s.newReply(w, r)
			one.mayStream = false // what is to be said beside the answers goes to the session's stream
			if err != nil {
				one.refuse(http.StatusOK, msg.ID, unreadable(err))
				return
			}
			s.postLegacy(one, r, &msg, id)
		})
	}
	serving.Wait()
	out := []byte{'['}
	for i := range answers {
		if answers[i].body.Len() == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, answers[i].body.Bytes()...)
	}
	if len(out) == 1 { // nothing but notifications and answers
		p.w.WriteHeader(http.StatusAccepted)
		return
	}
	p.finish(http.StatusOK, append(out, ']'))
}

// batchWriter gathers the answer to one message of a batch.
type batchWriter struct {
	header http.Header
	body   bytes.Buffer
}

func (w *batchWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *batchWriter) WriteHeader(int)             {}
func (w *batchWriter) Write(b []byte) (int, error) { return w.body.Write(b) }
