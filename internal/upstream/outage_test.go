package upstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/testkit"
)

// A server that stays down is a line for each cause, and then one at growing
// intervals.
func TestAnOutageIsAFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outage
		var said []string
		began := time.Now()
		for try := 0; time.Since(began) < 24*time.Hour; try++ {
			err := fmt.Errorf("dial tcp 127.0.0.1:%d: refused", 40_000+try)
			if since := time.Since(began); since > time.Hour && since < 2*time.Hour {
				err = errors.New("the certificate has expired")
			}
			if line := o.failed(err, time.Now()); line != "" {
				said = append(said, fmt.Sprint(time.Since(began).Round(time.Minute), " ", line))
			}
			time.Sleep(30 * time.Second)
		}
		want := []string{"0s server is down", "10m0s server is still down", "30m0s server is still down", "1h1m0s server is down"}
		if got := strings.Join(said[:min(len(said), 4)], "; "); got != strings.Join(want, "; ") {
			t.Errorf("said %s", got)
		}
		if len(said) > 18 {
			t.Errorf("%d lines in a day: %v", len(said), said)
		}
	})
}

// A server that fails in a new way each time does not fill the log either.
func TestAnOutageOfManyCauses(t *testing.T) {
	var o outage
	lines := 0
	for i := range 1000 {
		if o.failed(errors.New(strings.Repeat("x", i)), time.Now()) != "" {
			lines++
		}
	}
	if lines != maxCauses || o.failures != 1000 {
		t.Errorf("%d lines for %d failures", lines, o.failures)
	}
}

// The supervisor keeps to it: a command that does not exist is tried again and
// again, and told of once.
func TestAServerThatStaysDownIsToldOfOnce(t *testing.T) {
	t.Parallel()
	s := open(t, Settings{Name: "gone", Command: "no-such-command-anywhere"})
	testkit.Eventually(t, func() bool { return s.Status().Starts >= 4 }, "it was tried several times")
	if n := strings.Count(s.log.String(), "server is down"); n != 1 {
		t.Errorf("%d lines:\n%s", n, s.log.String())
	}
}
