package fault

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

// answerCall sends the answer of a tools/call in the shape that the modes
// give it. Errors of writing are dropped: the client is gone, or it noticed.
func (s *server) answerCall(ctx context.Context, c *toolCall, body []byte) {
	c.settle()
	id := c.ID
	if s.opts.on(modeWrongID) {
		id = []byte(`"nobody-asked-with-this-id"`)
	}
	msg := response(id, body)
	status := http.StatusOK
	if rest, isError := bytes.CutPrefix(body, []byte(`"error":`)); isError && c.modern {
		status = statusOfError(rest)
	}
	x, isHTTP := c.out.(*exchange)
	switch {
	case s.opts.on(modeMalformed):
		_ = send(c.out, status, response(id, []byte(`"result":{"content":[{"type":"text","text":"broken}]`)))
	case s.opts.on(modeNotUTF8):
		_ = send(c.out, status, response(id, []byte(`"result":{"content":[{"type":"text","text":"`+"\x93\xfa\x96\x7b"+`"}]}`)))
	case s.opts.on(modeDupKeys):
		_ = send(c.out, status, response(id, []byte(`"result":{"content":[{"type":"text","text":"first"}]},`+
			`"result":{"content":[{"type":"text","text":"second"}]}`)))
	case s.opts.on(modeDeep):
		const depth = 100_000
		_ = send(c.out, status, response(id, []byte(`"result":{"content":[],"structuredContent":{"deep":`+
			strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}}`)))
	case s.opts.on(modeHuge):
		s.sendHuge(c.out, response(id, c.text("HERE", false)))
	case s.opts.on(modeDrip):
		s.sendSlowly(ctx, c.out, status, msg)
	case isHTTP && s.opts.on(modeGzipBomb):
		x.compress()
		s.sendHuge(x, response(id, c.text("HERE", false)))
	case isHTTP && s.opts.on(modeReset):
		x.reset(msg)
	case isHTTP && s.opts.on(modeEndlessSSE):
		event := notification("notifications/message", map[string]any{
			"level": "info", "data": strings.Repeat("on and on ", 1000),
		})
		for send(x, aside, event) == nil {
		}
	case isHTTP && s.opts.on(modeEndlessEvent):
		s.sendEndless(x, msg)
	default:
		_ = send(c.out, status, msg)
		if s.opts.on(modeDoubleAnswer) {
			_ = send(c.out, status, msg)
		}
	}
}

func statusOfError(body []byte) int {
	for _, code := range []string{`"code":-32020`, `"code":-32021`, `"code":-32022`} {
		if bytes.Contains(body, []byte(code)) {
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

// sendHuge sends frame with its text HERE blown up to -size bytes, which are
// never in memory at once.
func (s *server) sendHuge(out outlet, frame []byte) {
	before, after, _ := bytes.Cut(frame, []byte("HERE"))
	w, err := out.begin(http.StatusOK)
	if err != nil {
		return
	}
	defer func() { _ = w.Close() }()
	if _, err := w.Write(before); err != nil {
		return
	}
	chunk := bytes.Repeat([]byte("0"), 64<<10)
	for left := s.opts.size; left > 0; {
		n, err := w.Write(chunk[:min(left, int64(len(chunk)))])
		if err != nil {
			return
		}
		left -= int64(n)
	}
	_, _ = w.Write(after)
}

// sendSlowly sends a message a byte at a time.
func (s *server) sendSlowly(ctx context.Context, out outlet, status int, msg []byte) {
	w, err := out.begin(status)
	if err != nil {
		return
	}
	defer func() { _ = w.Close() }()
	ticks := time.NewTicker(max(s.opts.delay, 1))
	defer ticks.Stop()
	for i := range msg {
		if _, err := w.Write(msg[i : i+1]); err != nil {
			return
		}
		w.Flush()
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// sendEndless begins a message as an event and never ends it.
func (s *server) sendEndless(x *exchange, msg []byte) {
	w, err := x.begin(aside)
	if err != nil {
		return
	}
	defer func() { _ = w.Close() }()
	filler := bytes.Repeat([]byte("on and on "), 1000)
	for _, err = w.Write(msg[:len(msg)/2]); err == nil; {
		_, err = w.Write(filler)
	}
}
