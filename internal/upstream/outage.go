package upstream

import (
	"strings"
	"time"
)

// outage decides which failures of a server that stays down are logged: each cause
// once, and then a reminder at growing intervals.
type outage struct {
	// failures counts the failures since the server was ready.
	failures int
	// since is when the first of them was.
	since    time.Time
	causes   map[string]bool
	remind   time.Time
	interval time.Duration
}

const (
	// The first reminder comes after firstReminder. The interval doubles up to
	// maxReminder.
	firstReminder, maxReminder = 10 * time.Minute, 2 * time.Hour
	// maxCauses is how many causes of an outage get a line of their own.
	maxCauses = 8
)

// failed counts a failure. It returns the message to log, or "" for none.
func (o *outage) failed(err error, now time.Time) string {
	if o.failures++; o.failures == 1 {
		o.since = now
	}
	if o.causes == nil {
		o.causes, o.interval = map[string]bool{}, firstReminder
	}
	cause := withoutNumbers(err.Error())
	switch {
	case !o.causes[cause] && len(o.causes) < maxCauses:
		o.causes[cause] = true
		o.remind = now.Add(o.interval)
		return "server is down"
	case now.Before(o.remind):
		return ""
	default:
		o.interval = min(2*o.interval, maxReminder)
		o.remind = now.Add(o.interval)
		return "server is still down"
	}
}

// withoutNumbers returns a text without its digits, because ports, process ids and
// times in an error do not make another cause of it.
func withoutNumbers(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}
