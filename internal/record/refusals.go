package record

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// refusalWindow is how long refusals are summed up.
	refusalWindow = time.Minute
	// refusalsAtOnce is how many lines each source gets in a window before its
	// refusals are only counted.
	refusalsAtOnce = 5
	// maxRefusalSources is how many sources are told apart in a window. The others
	// share one for each reason.
	maxRefusalSources = 1000
	// maxLoggedPath bounds what a line shows of a path, and maxLoggedMethod of a
	// method, in bytes.
	maxLoggedPath   = 200
	maxLoggedMethod = 16
	// maxLoggedSegment bounds a segment of a path: a longer one may be a key.
	maxLoggedSegment = 24
)

// Refusals keeps account of HTTP requests that were refused: a line in the log
// for the first ones of each source, a sum for the others, and a counter. It never
// sees tokens or bodies.
type Refusals struct {
	log   *slog.Logger
	count *prometheus.CounterVec

	mu    sync.Mutex
	seen  map[refusalSource]int // in this window; nil when none has begun
	timer *time.Timer
}

// refusalSource is what refusals are summed up by.
type refusalSource struct{ reason, client, host string }

// otherSources stands for the host of sources that are too many to tell apart.
const otherSources = "(others)"

func newRefusals(log *slog.Logger) *Refusals {
	return &Refusals{
		log: log,
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "genkan_refusals_total",
			Help: "Requests that were refused, by reason.",
		}, []string{"reason"}),
	}
}

// Note notes a refused request. The reason is one of a fixed set. The client is
// empty if it is unknown.
func (r *Refusals) Note(req *http.Request, status int, reason, client string) {
	r.count.WithLabelValues(reason).Inc()
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		host = req.RemoteAddr
	}
	if !r.isLogged(refusalSource{reason, client, host}) {
		return
	}
	r.log.Warn("a request was refused",
		"reason", reason, "status", status,
		"method", cut(req.Method, maxLoggedMethod), "path", loggedPath(req),
		"client", client, "remote_address", req.RemoteAddr)
}

// isLogged counts a refusal and reports whether it gets a line of its own.
func (r *Refusals) isLogged(from refusalSource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[refusalSource]int{}
		r.timer = time.AfterFunc(refusalWindow, r.Flush)
	}
	if _, known := r.seen[from]; !known && len(r.seen) >= maxRefusalSources {
		from.client, from.host = "", otherSources
	}
	r.seen[from]++
	return r.seen[from] <= refusalsAtOnce
}

// Flush ends the window and logs what was only counted in it.
func (r *Refusals) Flush() {
	r.mu.Lock()
	seen := r.seen
	r.seen = nil
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.mu.Unlock()
	for from, n := range seen {
		if n > refusalsAtOnce {
			r.log.Warn("more requests were refused", "reason", from.reason, "count", n-refusalsAtOnce,
				"client", from.client, "remote_address", from.host, "within_seconds", refusalWindow.Seconds())
		}
	}
}

// loggedPath is the path of the route that a request has matched, with the names of
// its parts and not the caller's text in them, which may be secret. The path of a
// request that has matched none is shown without long segments, for the same
// reason. It has neither a query nor control characters.
func loggedPath(req *http.Request) string {
	_, path, found := strings.Cut(req.Pattern, " ")
	if !found {
		path = req.Pattern
	}
	if path != "" && !strings.HasSuffix(path, "/") {
		return path
	}
	segments := strings.Split(cut(req.URL.EscapedPath(), maxLoggedPath), "/")
	for i, s := range segments {
		if len(s) > maxLoggedSegment {
			segments[i] = "…"
		}
	}
	return strings.Join(segments, "/")
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
