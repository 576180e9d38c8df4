package upstream

import (
	"cmp"
	"time"
)

// limits bound a connection over stdio or SSE. A zero field stands for its
// default; only tests set others.
type limits struct {
	// backlog is how many bytes may wait for a server that does not read.
	backlog int
	// readTimeout is how long a server may leave a full backlog untouched before
	// it counts as one that does not read.
	readTimeout time.Duration
	// discoverTimeout is how long a server may leave server/discover unanswered
	// before it is also sent initialize. Some servers never answer an unknown
	// method; others are only slow to start, so both answers are accepted.
	discoverTimeout time.Duration
}

func (l limits) withDefaults() limits {
	return limits{
		backlog:         cmp.Or(l.backlog, 8<<20),
		readTimeout:     cmp.Or(l.readTimeout, 5*time.Second),
		discoverTimeout: cmp.Or(l.discoverTimeout, 3*time.Second),
	}
}
