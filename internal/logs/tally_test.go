package logs

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/testkit"
)

// A server that causes the same line again and again gets a few of them and one
// line with a number. Other servers and other lines are not affected.
func TestLinesAboutAServerAreSummedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out testkit.Buffer
		limited, flush := ByServer(slog.New(slog.NewJSONHandler(&out, nil)))
		taken := 0
		lines := func() (found []map[string]any) {
			text := out.String()
			for line := range strings.Lines(text[taken:]) {
				var fields map[string]any
				if err := json.Unmarshal([]byte(line), &fields); err != nil {
					t.Fatal(err)
				}
				found = append(found, fields)
			}
			taken = len(text)
			return found
		}
		evil := limited.With("server", "evil").With("connection", 1)
		for i := range 1000 {
			evil.Warn("junk", "i", i)
			limited.Warn("left out", "server", "evil", "i", i)
		}
		evil.Warn("other")
		evil.Debug("not wanted")
		limited.With("server", "good").Warn("junk")
		if got := lines(); len(got) != 2*AtOnce+2 {
			t.Errorf("%d lines at once: %v", len(got), got)
		}
		time.Sleep(Window + time.Second)
		synctest.Wait()
		sums := map[string]any{}
		for _, line := range lines() {
			sums[fmt.Sprint(line["server"], " ", line["line"])] = line["count"]
		}
		if len(sums) != 2 || sums["evil junk"] != float64(1000-AtOnce) || sums["evil left out"] != float64(1000-AtOnce) {
			t.Errorf("the sums are %v", sums)
		}
		// The next window begins with lines again.
		evil.Warn("junk")
		if got := lines(); len(got) != 1 {
			t.Errorf("then %v", got)
		}
		// Servers without end are bounded.
		for i := range 10 * maxKinds {
			limited.Warn("junk", "server", fmt.Sprint(i))
		}
		if got := lines(); len(got) > maxKinds+AtOnce {
			t.Errorf("%d lines at once", len(got))
		}
		flush()
		if got := lines(); len(got) != 1 || got[0]["server"] != "(others)" {
			t.Errorf("the last sums are %v", got)
		}
	})
}
