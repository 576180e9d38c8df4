package client_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// An answer that is not the API's is from another program, whatever its status. It
// is not reported as genkan's.
func TestAnotherProgramAtTheAddressIsNotTakenForGenkan(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"a page": http.StatusOK, "an error": http.StatusNotFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "<html>hello</html>")
			}))
			defer other.Close()
			_, err := over(other).Servers(t.Context())
			e := gateway.AsError(err)
			if e == nil || e.Code != gateway.CodeUnavailable || !strings.Contains(e.Text(), "is not genkan") {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

func TestPlainHTTPToAnAddressThatServesTLSSaysSo(t *testing.T) {
	t.Parallel()
	other := httptest.NewTLSServer(http.NotFoundHandler())
	defer other.Close()
	_, err := over(other).Servers(t.Context())
	if e := gateway.AsError(err); e == nil || !strings.Contains(e.Text(), "serves TLS") {
		t.Errorf("it ends with %v", err)
	}
}

// over makes a client of a server that takes its connections for genkan's.
func over(server *httptest.Server) *client.Client {
	return client.NewOver(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
	}, "token")
}
