package client_test

import (
	"io"
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
			_, err := client.New(strings.TrimPrefix(other.URL, "http://"), false, "token").Servers(t.Context())
			e := gateway.AsError(err)
			if e == nil || e.Code != gateway.CodeUnavailable || !strings.Contains(e.Text(), "what answers at "+other.URL+" is not genkan") {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

func TestPlainHTTPToAnAddressThatServesTLSSaysSo(t *testing.T) {
	t.Parallel()
	other := httptest.NewTLSServer(http.NotFoundHandler())
	defer other.Close()
	_, err := client.New(strings.TrimPrefix(other.URL, "https://"), false, "token").Servers(t.Context())
	if e := gateway.AsError(err); e == nil || !strings.Contains(e.Text(), "serves TLS") {
		t.Errorf("it ends with %v", err)
	}
}
