package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"genkan/internal/gateway"
)

// unread is a response that nobody reads until it is opened.
type unread struct {
	*httptest.ResponseRecorder
	began, opened chan struct{}
}

func (w *unread) Write(p []byte) (int, error) {
	close(w.began)
	<-w.opened
	return w.ResponseRecorder.Write(p)
}

// An answer that its caller does not read counts against the caller's share, and
// no other caller's is refused for it.
func TestAnswersCountAgainstTheirCaller(t *testing.T) {
	t.Parallel()
	budget := gateway.NewShares(100_000)
	a := New(Options{
		Log: slog.New(slog.DiscardHandler), Budget: budget,
		Admit: func(_ http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
			return gateway.Identity{ClientID: r.Header.Get("Authorization"), Admin: true}, true
		},
	})
	large := a.guard(route{who: forAdmins}, func(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
		encode(w, http.StatusOK, strings.Repeat("x", 60_000))
	})
	small := a.guard(route{who: forAdmins}, func(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
		encode(w, http.StatusOK, strings.Repeat("x", 20_000))
	})
	get := func(client string, w http.ResponseWriter, serve http.HandlerFunc) {
		r := httptest.NewRequest(http.MethodGet, "/v1/tools", http.NoBody)
		r.Header.Set("Authorization", client)
		serve(w, r)
	}
	stalled := &unread{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(func() { get("greedy", stalled, large) })
	<-stalled.began
	refused := httptest.NewRecorder()
	get("greedy", refused, large)
	if refused.Code != http.StatusTooManyRequests || !strings.Contains(refused.Body.String(), "RATE_LIMIT_EXCEEDED") || refused.Header().Get("Retry-After") == "" {
		t.Errorf("beyond its share: %d %s", refused.Code, refused.Body)
	}
	for range 10 {
		other := httptest.NewRecorder()
		get("other", other, small)
		if other.Code != http.StatusOK || other.Body.Len() < 20_000 {
			t.Errorf("another caller: %d %.200s", other.Code, other.Body)
		}
	}
	close(stalled.opened)
	reading.Wait()
	if stalled.Body.Len() < 60_000 || budget.Used() != 0 {
		t.Errorf("%d bytes were read, %d are left", stalled.Body.Len(), budget.Used())
	}
}
