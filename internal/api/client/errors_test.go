package client

import (
	"net/http"
	"testing"

	"genkan/internal/gateway"
)

// TestCodesComeBack: a code that is sent over REST is the same code at the client,
// whatever status it shares with others.
func TestCodesComeBack(t *testing.T) {
	names := map[string]bool{}
	for _, code := range gateway.Codes() {
		sent, ok := ErrorCodes[code]
		if !ok || sent.Status < 400 || names[sent.Name] {
			t.Errorf("%v is sent as %+v", code, sent)
		}
		names[sent.Name] = true
		if got := CodeOf(sent.Name, sent.Status); got != code {
			t.Errorf("%v comes back as %v", code, got)
		}
	}
	for status, want := range map[int]gateway.Code{
		http.StatusForbidden: gateway.CodeDenied, http.StatusUnauthorized: gateway.CodeUnauthenticated,
		http.StatusRequestEntityTooLarge: gateway.CodeInvalid, http.StatusTeapot: gateway.CodeInternal,
	} {
		if got := CodeOf("SOMETHING_ELSE", status); got != want {
			t.Errorf("status %d comes back as %v, want %v", status, got, want)
		}
	}
}
