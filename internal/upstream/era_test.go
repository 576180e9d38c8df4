package upstream

import (
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func remember(era gateway.Era) option {
	return withLists(&lists{saved: map[string]SavedList{"srv": {
		Fingerprint: "one", Era: era, Version: "whatever", Tools: []byte(`[{"name":"remembered"}]`),
	}}})
}

// methods are the requests that a server saw, in order.
func methods(t *testing.T, record string) string {
	t.Helper()
	var all []string
	for _, line := range testkit.Lines(t, record) {
		_, rest, found := strings.Cut(line, `"method":"`)
		if method, _, _ := strings.Cut(rest, `"`); found && strings.Contains(line, `"id":`) {
			all = append(all, method)
		}
	}
	return strings.Join(all, " ")
}

// A new server is asked in the modern way first, and in the legacy way when it
// does not know what that is. What it was the last time is tried first.
func TestEraDetection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, server string
		known        gateway.Era
		want         gateway.Era
		methods      string
	}{
		{"modern", "modern", gateway.EraNone, gateway.EraModern, "server/discover subscriptions/listen tools/list"},
		{"legacy", "legacy", gateway.EraNone, gateway.EraLegacy, "server/discover initialize tools/list"},
		{"both is modern", "both", gateway.EraNone, gateway.EraModern, "server/discover subscriptions/listen tools/list"},
		{"legacy, remembered: no probe", "legacy", gateway.EraLegacy, gateway.EraLegacy, "initialize tools/list"},
		{"modern, remembered", "modern", gateway.EraModern, gateway.EraModern, "server/discover subscriptions/listen tools/list"},
		{"was legacy, is modern", "modern", gateway.EraLegacy, gateway.EraModern, "initialize server/discover subscriptions/listen tools/list"},
		{"was modern, is legacy", "legacy", gateway.EraModern, gateway.EraLegacy, "server/discover initialize tools/list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := t.TempDir() + "/record"
			u := openReady(t, faultChild(t, "-era", test.server, "-record", record), remember(test.known))
			if st := u.Status(); st.Era != test.want {
				t.Errorf("era %s, want %s", st.Era, test.want)
			}
			if got := methods(t, record); got != test.methods {
				t.Errorf("asked %q, want %q", got, test.methods)
			}
			u.mustEcho("x")
		})
	}
}

// Some legacy servers never answer a method that they do not know. They are
// asked in their own way after a while.
func TestALegacyServerThatIsSilentAboutTheUnknown(t *testing.T) {
	t.Parallel()
	u, record := openScript(t, "silent", withLimits(limits{discoverTimeout: 500 * time.Millisecond}))
	if st := u.Status(); st.Era != gateway.EraLegacy || st.Version != "2025-06-18" {
		t.Errorf("status %+v", st)
	}
	sees(t, record, "notifications/cancelled") // nobody waits for discover any more
	if got, err := u.callText("t", `{}`); err != nil || got != "done" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A modern server that is slow at first (npx downloads it) finds both requests
// when it wakes up. That it refuses the legacy one must not hide its answer to
// the other.
func TestASlowModernServer(t *testing.T) {
	t.Parallel()
	timeout := 800 * time.Millisecond
	delay := (timeout + timeout/2).String()
	u := openReady(t, faultChild(t, "-era", "modern", "-mode", "slow-start", "-delay", delay), withLimits(limits{discoverTimeout: timeout}))
	if st := u.Status(); st.Era != gateway.EraModern || st.Starts != 1 {
		t.Errorf("era %s after %d starts", st.Era, st.Starts)
	}
}

// What a server says about why it does not start is shown, whatever it was the
// last time.
func TestAServerThatRefusesToInitialize(t *testing.T) {
	for _, known := range []gateway.Era{gateway.EraNone, gateway.EraLegacy, gateway.EraModern} {
		t.Run("remembered as "+known.String(), func(t *testing.T) {
			t.Parallel()
			set, _ := scripted(t, "init-fails")
			u := open(t, set, remember(known))
			testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
			if st := u.Status(); !strings.Contains(st.Problem.String(), "the API key is missing") {
				t.Errorf("problem: %s", st.Problem)
			}
			_, err := u.callText("t", `{}`)
			wantError(t, err, gateway.CodeUnavailable, "the API key is missing")
		})
	}
}

func TestAServerOfAVersionThatWeDoNotSpeak(t *testing.T) {
	t.Parallel()
	set, _ := scripted(t, "future")
	u := open(t, set)
	testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
	if st := u.Status(); !strings.Contains(st.Problem.String(), "2031-01-01") {
		t.Errorf("problem: %s", st.Problem)
	}
}

// The list of the last time is there at once, unless it was another server's.
func TestTheRememberedList(t *testing.T) {
	t.Parallel()
	slow := func() Settings { return faultChild(t, "-mode", "hang-init") }
	if u := open(t, slow(), remember(gateway.EraModern)); strings.Join(u.toolNames(), " ") != "remembered" {
		t.Errorf("listed %v", u.toolNames())
	}
	other := func(s *Settings, _ *Deps) { s.Fingerprint = "two" }
	if u := open(t, slow(), remember(gateway.EraModern), other); len(u.List(gateway.KindTool)) != 0 {
		t.Errorf("the list of another server is listed: %v", u.toolNames())
	}
	damaged := withLists(&lists{saved: map[string]SavedList{"srv": {Fingerprint: "one", Tools: []byte(`[{"name":`)}}})
	u := open(t, slow(), damaged)
	if len(u.List(gateway.KindTool)) != 0 || !strings.Contains(u.log.String(), "damaged") {
		t.Errorf("listed %v, logged %s", u.toolNames(), u.log)
	}
}
