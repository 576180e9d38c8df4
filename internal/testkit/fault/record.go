package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// recorder appends what the server received, one line each, so that a test
// can say what really reached an upstream. A nil recorder records nothing.
type recorder struct {
	mu   sync.Mutex
	file *os.File
}

func openRecord(path string) (*recorder, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &recorder{file: file}, nil
}

func (r *recorder) close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}

// line writes one line in one system call, so that several servers can share
// a file. Line breaks within an HTTP body become spaces, which JSON does not
// notice.
func (r *recorder) line(raw []byte) {
	if r == nil {
		return
	}
	oneLine := bytes.Map(func(c rune) rune {
		if c == '\n' || c == '\r' {
			return ' '
		}
		return c
	}, raw)
	if !bytes.ContainsAny(raw, "\r\n") {
		oneLine = raw // byte for byte, even where it is not UTF-8
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.file.Write(append(bytes.Clone(oneLine), '\n'))
}

// cancelled notes that the client gave up on a request before its answer.
func (r *recorder) cancelled(id json.RawMessage) { r.line(fmt.Appendf(nil, "cancelled %s", id)) }

func (r *recorder) headers(req *http.Request) {
	if r == nil {
		return
	}
	line, err := json.Marshal(struct {
		HTTP    string      `json:"http"`
		Path    string      `json:"path"`
		Host    string      `json:"host"`
		Headers http.Header `json:"headers"`
	}{req.Method, req.URL.Path, req.Host, req.Header})
	if err == nil {
		r.line(line)
	}
}

func appendPid(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, os.Getpid())
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// counter is the one thing in the server that a call changes for good. It
// lives in a file, under a lock, so that it also counts across restarts and
// across several servers at once.
type counter struct {
	path string

	mu    sync.Mutex
	value int64
}

func (c *counter) increment() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path == "" {
		c.value++
		return c.value, nil
	}
	file, err := os.OpenFile(c.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return 0, err
	}
	// Closing also releases the lock.
	defer func() { _ = file.Close() }()
	if err := lockFile(file); err != nil {
		return 0, err
	}
	content, err := os.ReadFile(c.path)
	if err != nil {
		return 0, err
	}
	var value int64
	if text := strings.TrimSpace(string(content)); text != "" {
		if value, err = strconv.ParseInt(text, 10, 64); err != nil {
			return 0, err
		}
	}
	value++
	// The number only grows, so overwriting leaves nothing of the old one.
	if _, err := file.WriteAt([]byte(strconv.FormatInt(value, 10)+"\n"), 0); err != nil {
		return 0, err
	}
	return value, nil
}
