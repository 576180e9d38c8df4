package cli

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"genkan/internal/api/client"
	"genkan/internal/app"
)

// squatter is a program of another user, on a port that genkan had.
type squatter struct {
	mu       sync.Mutex
	token    string
	requests int
	leaks    []string
}

type squatterKey struct{}

// ServeHTTP answers everything as genkan would, as far as it can.
func (s *squatter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if heard := fmt.Sprint(r.Method, r.URL, r.Header, string(body)); len(r.Header["Authorization"]) > 0 || strings.Contains(heard, s.token) {
		s.leaks = append(s.leaks, r.Method+" "+r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"status":"ok","message":%q,"version":"v0-test","servers":[],"tools":[],"items":[],"pagination":{}}`, client.HealthMessage)
}

func cmdSquat(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.MkAbs(args[0])
	raw, err := os.ReadFile(app.AdminTokenFile(data))
	ts.Check(err)
	// A former version left its address in this file, and believed it.
	ts.Check(os.WriteFile(filepath.Join(data, "address.json"), []byte(`{"listen":"`+args[1]+`","pid":1}`), 0o600))
	l, err := net.Listen("tcp", args[1])
	ts.Check(err)
	s := &squatter{token: strings.TrimSpace(string(raw))}
	server := &http.Server{Handler: s}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	ts.Defer(func() {
		_ = server.Close()
		<-ended
	})
	ts.Value(squatterKey{}).(*squatterBox).squatter = s
}

// squatterBox is a script's squatter.
type squatterBox struct{ *squatter }

func cmdUnheard(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(squatterKey{}).(*squatterBox).squatter
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.leaks) > 0 {
		ts.Fatalf("the admin token was sent to another program: %v", s.leaks)
	}
	if len(args) > 0 && s.requests == 0 {
		ts.Fatalf("nobody asked it for a proof")
	}
}
