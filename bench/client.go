package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// client is one keep-alive connection that asks again and again. It speaks
// just as much HTTP as its peers answer with: the load must be cheap, because
// it runs beside what it measures.
type client struct {
	conn    net.Conn
	r       *bufio.Reader
	request []byte
	idAt    int
	next    int
	fixed   bool
	// want is the size of an answer, known after the first one.
	want int
	body []byte
}

// patience is how long any answer may take.
const patience = 30 * time.Second

func dial(t target) (*client, error) {
	conn, err := net.DialTimeout("tcp", t.Address, patience)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, r: bufio.NewReaderSize(conn, 32<<10), fixed: t.Fixed}
	session := ""
	switch {
	case t.Era != "legacy" || t.Method == "initialize":
	case t.Fixed:
		session = rand.Text() // nobody asks for it, but requests weigh the same
	default:
		if session, err = c.initialize(t); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	c.request, c.idAt = t.request(session)
	return c, nil
}

// initialize opens a legacy session of this client's own.
func (c *client) initialize(t target) (session string, err error) {
	hello := t
	hello.Method, hello.Tool = "initialize", ""
	raw, _ := hello.request("")
	a, err := c.exchange(raw)
	if err != nil {
		return "", err
	}
	if a.status != 200 || a.session == "" {
		return "", fmt.Errorf("initialize was answered with %d %.200s", a.status, c.body)
	}
	n, err := c.exchange(t.notification(a.session))
	if err == nil && n.status != 202 {
		err = fmt.Errorf("notifications/initialized was answered with %d %.200s", n.status, c.body)
	}
	return a.session, err
}

// ask sends the request under a new id and checks the answer.
func (c *client) ask() error {
	id := c.request[c.idAt : c.idAt+len(idPlace)]
	if !c.fixed || c.next == 0 {
		c.next++
	}
	strconv.AppendInt(id[:0], 1_000_000_000+int64(c.next), 10)
	a, err := c.exchange(c.request)
	switch {
	case err != nil:
		return err
	case a.status != 200:
		return fmt.Errorf("answered with %d %.200s", a.status, c.body)
	case a.size < 0:
		return errors.New("the answer does not say its size")
	case c.want == 0:
		// The first answer is looked at; the others must be like it.
		if !bytes.Contains(c.body, []byte(`"result"`)) || bytes.Contains(c.body, []byte(`"isError":true`)) {
			return fmt.Errorf("answered with %.200s", c.body)
		}
		c.want = a.size
	case a.size != c.want:
		return fmt.Errorf("an answer has %d bytes and not %d: %.200s", a.size, c.want, c.body)
	}
	if !bytes.Contains(c.body[:min(len(c.body), 64)], id) {
		return fmt.Errorf("an answer is to another request: %.200s", c.body)
	}
	return nil
}

// response is what matters of an HTTP response; its body is in client.body.
type response struct {
	status  int
	size    int // -1 when it does not say
	session string
}

func (c *client) exchange(request []byte) (response, error) {
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return response{}, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return response{}, err
	}
	a := response{size: -1}
	line, err := c.line()
	if err != nil {
		return a, err
	}
	if len(line) < 12 || string(line[:9]) != "HTTP/1.1 " {
		return a, fmt.Errorf("not an HTTP response: %q", line)
	}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, err
	}
	chunked := false
	for {
		if line, err = c.line(); err != nil {
			return a, err
		}
		if len(line) == 0 {
			break
		}
		key, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(key, []byte("Content-Length")):
			if a.size, err = strconv.Atoi(string(value)); err != nil {
				return a, err
			}
		case bytes.EqualFold(key, []byte("Mcp-Session-Id")):
			a.session = string(value)
		case bytes.EqualFold(key, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	if chunked {
		a.size, err = c.stream()
		return a, err
	}
	n := max(a.size, 0)
	if cap(c.body) < n {
		c.body = make([]byte, n)
	}
	c.body = c.body[:n]
	_, err = io.ReadFull(c.r, c.body)
	return a, err
}

// stream reads an answer that took so long that it became a stream of events:
// the last one is the answer.
func (c *client) stream() (size int, err error) {
	whole, err := io.ReadAll(httputil.NewChunkedReader(c.r))
	if err != nil {
		return -1, err
	}
	if _, err := c.line(); err != nil { // which ends the chunks
		return -1, err
	}
	const field = "\ndata: "
	at := bytes.LastIndex(whole, []byte(field))
	if at < 0 {
		return -1, errors.New("the answer is a stream without events")
	}
	c.body = append(c.body[:0], bytes.TrimRight(whole[at+len(field):], "\n")...)
	return len(c.body), nil
}

func (c *client) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

func (c *client) close() { _ = c.conn.Close() }
