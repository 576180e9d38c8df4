package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"
)

// reverseRole is the floor for calls: the plainest proxy that one would write
// in Go. It reads request and response whole, as whoever looks into messages
// must, and looks at nothing.
//
// Left alone, httputil.ReverseProxy makes a buffer of 32 KiB for every
// response, and that is a good part of its cost. The lean one has a pool for
// them: a harder floor, shown beside the plain one.
func reverseRole(args []string) error {
	if len(args) != 2 || (args[0] != "plain" && args[0] != "lean") {
		return errors.New("usage: reverse plain|lean URL")
	}
	target, err := url.Parse(args[1])
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		// As genkan's own, so that the connections behind are not the difference.
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 128,
			DisableCompression:  true,
		},
		ModifyResponse: func(r *http.Response) error {
			body, err := readWhole(r.Body, r.ContentLength)
			if err != nil {
				return err
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			r.ContentLength = int64(len(body))
			r.Header["Content-Length"] = []string{strconv.Itoa(len(body))}
			return nil
		},
	}
	if args[0] == "lean" {
		proxy.BufferPool = &buffers{}
	}
	return serveRole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := readWhole(r.Body, r.ContentLength)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		proxy.ServeHTTP(w, r)
	}))
}

// buffers are the copy buffers of the lean proxy.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return *kept
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(kept []byte) { b.pool.Put(&kept) }

// readWhole reads a body into one buffer of the right size, if it says its
// size: the floor must not be slowed down by a buffer that grows.
func readWhole(body io.ReadCloser, size int64) ([]byte, error) {
	defer func() { _ = body.Close() }()
	if size < 0 {
		return io.ReadAll(body)
	}
	buf := make([]byte, size)
	_, err := io.ReadFull(body, buf)
	return buf, err
}

// staticRole is the floor for lists: a handler that has the bytes already.
func staticRole(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: static FILE")
	}
	body, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	kind, size := []string{"application/json"}, []string{strconv.Itoa(len(body))}
	return serveRole(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Content-Type"], h["Content-Length"] = kind, size
		_, _ = w.Write(body)
	}))
}
