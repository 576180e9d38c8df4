package record

import (
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"genkan/internal/gateway"
	"genkan/internal/logs"
)

const (
	// maxLoggedPath and maxLoggedMethod bound the path and the method in a log line,
	// in bytes.
	maxLoggedPath   = 200
	maxLoggedMethod = 16
	// maxLoggedSegment bounds a segment of a path: a longer one may be a key.
	maxLoggedSegment = 24
)

// Refusals records refused HTTP requests: a log line for the first ones of each
// source, a number for the others, and a metric. It never sees tokens or bodies.
type Refusals struct {
	log   *slog.Logger
	count *prometheus.CounterVec
	tally *logs.Tally[refusalSource]
}

// refusalSource is the kind by which refusals are counted.
type refusalSource struct{ reason, client, host string }

// otherSources is the host of the sources beyond the bound.
const otherSources = "(others)"

func newRefusals(log *slog.Logger) *Refusals {
	sum := func(from refusalSource, more int) {
		log.Warn("more requests were refused", "reason", from.reason, "count", more,
			"client", from.client, "remote_address", from.host, "within_seconds", logs.Window.Seconds())
	}
	others := func(from refusalSource) refusalSource { return refusalSource{from.reason, "", otherSources} }
	return &Refusals{
		tally: logs.NewTally(sum, others),
		log:   log,
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "genkan_refusals_total",
			Help: "Requests that were refused, by reason.",
		}, []string{"reason"}),
	}
}

// Note records a refused request. The reason is one of a fixed set. The client is
// empty if it is unknown.
func (r *Refusals) Note(req *http.Request, status int, reason, client string) {
	r.count.WithLabelValues(reason).Inc()
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		host = req.RemoteAddr
	}
	if !r.tally.Allows(refusalSource{reason, client, host}) {
		return
	}
	r.log.Warn("a request was refused",
		"reason", reason, "status", status,
		"method", cut(req.Method, maxLoggedMethod), "path", loggedPath(req),
		"client", client, "remote_address", req.RemoteAddr)
}

// Flush logs the refusals that were only counted since the last time.
func (r *Refusals) Flush() { r.tally.Flush() }

// loggedPath returns the pattern of the route that a request matched, without the
// caller's values, which may be secret. For a request that matched no route it
// returns the path without long segments, for the same reason. The result has
// neither a query nor control characters.
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
	head, missing := gateway.Cut(text, most)
	if missing > 0 {
		head += "…"
	}
	return head
}
