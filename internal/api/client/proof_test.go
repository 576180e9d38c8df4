package client

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// Whatever a listener answers, without the token it is not sent the token.
func TestTheTokenIsNotSentWithoutProof(t *testing.T) {
	t.Parallel()
	const token = gateway.Secret("0123456789abcdef0123456789abcdef")
	ok := func(body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	for name, answer := range map[string]func(challenge string, port int) string{
		"nothing":               func(string, int) string { return "" },
		"no HTTP":               func(string, int) string { return "220 ready\r\n" },
		"an empty proof":        func(string, int) string { return ok("") },
		"the challenge":         func(challenge string, _ int) string { return ok(challenge) },
		"another token's proof": func(challenge string, port int) string { return ok(Proof("another", challenge, port)) },
		"an empty token's":      func(challenge string, port int) string { return ok(Proof("", challenge, port)) },
		"an old proof":          func(_ string, port int) string { return ok(Proof(token, strings.Repeat("0", ChallengeLength), port)) },
		"another port's proof":  func(challenge string, port int) string { return ok(Proof(token, challenge, port+1)) },
		"a failure": func(challenge string, port int) string {
			return strings.Replace(ok(Proof(token, challenge, port)), "200 OK", "401 Unauthorized", 1)
		},
		"a redirect": func(string, int) string {
			return "HTTP/1.1 302 Found\r\nLocation: /v1/servers\r\nContent-Length: 0\r\n\r\n"
		},
		"endless headers": func(string, int) string { return "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			heard := make(chan string)
			go func() {
				defer close(heard)
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					heard <- converse(conn, answer)
				}
			}()
			done := make(chan error, 1)
			go func() {
				_, err := New(l.Addr().String(), token).Servers(t.Context())
				_ = l.Close()
				done <- err
			}()
			asked := false
			for request := range heard {
				asked = asked || strings.HasPrefix(request, "GET "+ProofPath)
				if strings.Contains(request, string(token)) || strings.Contains(request, "Authorization") {
					t.Errorf("it was sent %q", request)
				}
			}
			if e := gateway.AsError(<-done); e.Code != gateway.CodeDenied || !strings.Contains(e.Error(), "did not prove") {
				t.Errorf("got %v", e)
			}
			if !asked {
				t.Error("it was not asked for a proof")
			}
		})
	}
}

// converse answers the first request on a connection and returns all that came.
func converse(conn net.Conn, answer func(challenge string, port int) string) string {
	defer func() { _ = conn.Close() }()
	buffer := make([]byte, 4096)
	var request string
	for !strings.Contains(request, "\r\n\r\n") {
		n, err := conn.Read(buffer)
		request += string(buffer[:n])
		if err != nil {
			return request
		}
	}
	_, challenge, _ := strings.Cut(request, ProofChallenge+"=")
	challenge, _, _ = strings.Cut(challenge, " ")
	said := answer(challenge, conn.LocalAddr().(*net.TCPAddr).Port)
	_, _ = io.WriteString(conn, said)
	if said == "" {
		return request
	}
	rest, _ := io.ReadAll(conn)
	return request + string(rest)
}
