package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"genkan/internal/testkit"
)

// A caller that is not the admin sees the state of servers, but not their output,
// their hidden tools or their problems.
func TestOthersSeeNoOutput(t *testing.T) {
	t.Parallel()
	noisy := child(t, "-mode", "noise,stderr-flood")
	chatty := conf{"command": "/bin/sh", "args": []string{"-c", "echo canary-on-stdout; echo canary-on-stderr >&2; exec sleep 600"}}
	dies := conf{"command": "/bin/sh", "args": []string{"-c", "echo canary-on-stderr >&2; exit 3"}}
	h := openHouse(t, servers(conf{
		"noisy": with(noisy, conf{"tools": conf{"deny": []string{"sleep"}}}), "chatty": chatty, "dies": dies,
	}), hurried)
	h.waitReady("noisy")
	testkit.Eventually(t, func() bool {
		_, text := h.request(http.MethodGet, "/v1/servers/chatty", "", nil)
		return strings.Contains(text, "canary-on-std")
	}, "the admin sees the output")
	testkit.Eventually(t, func() bool { return h.server("dies").Starts > 1 }, "it has died")
	h.as("other")
	for _, path := range []string{"/v1/servers", "/v1/servers/noisy", "/v1/servers/chatty", "/v1/servers/dies", "/v1/tools"} {
		_, text := h.request(http.MethodGet, path, "", nil)
		for _, canary := range []string{"canary", `"output"`, `"hidden"`, `"findings"`, "noisy__sleep"} {
			if strings.Contains(text, canary) {
				t.Errorf("%s shows %s: %s", path, canary, text)
			}
		}
	}
	for _, tool := range []string{"dies__x", "chatty__x", "noisy__sleep"} {
		if _, err := h.call(tool, "{}"); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	for _, path := range []string{"/v1/reload", "/v1/servers/dies/try"} {
		if status, text := h.request(http.MethodPost, path, "", nil); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// Everything at once: calls, lists, tries, reloads, tokens that come and go. None
// of the calls fails, and nothing is left.
func TestRESTUnderLoad(t *testing.T) {
	t.Parallel()
	one, two := child(t), sibling(t)
	configs := []conf{
		servers(conf{"one": one, "two": two}),
		servers(conf{"one": with(one, conf{"timeout": "5m"}), "two": two}),
		servers(conf{"one": one, "two": with(two, conf{"headers": conf{"X-Team": "a"}})}),
	}
	h := openHouse(t, configs[0])
	h.waitReady("one", "two")
	testkit.Eventually(t, func() bool { return h.lists("one__echo") && h.lists("two__echo") }, "listed")
	var all sync.WaitGroup
	rounds := testkit.Count(6, 30)
	repeat := func(what func(i int)) {
		all.Go(func() {
			for i := range rounds {
				what(i)
			}
		})
	}
	for range 4 {
		repeat(func(i int) {
			want := fmt.Sprint("n", i)
			for _, server := range []string{"one", "two"} {
				if got, err := h.call(server+"__echo", fmt.Sprintf(`{"text":%q}`, want)); err != nil || got != want {
					t.Errorf("%s: %q, %v", server, got, err)
				}
			}
		})
	}
	repeat(func(i int) {
		for _, name := range []string{"one", "two"} {
			if status, text := h.request(http.MethodPost, "/v1/servers/"+name+"/try", "", nil); status != http.StatusAccepted {
				t.Errorf("%d %s", status, text)
			}
		}
	})
	repeat(func(i int) {
		h.write(configs[i%len(configs)])
		if status, text := h.request(http.MethodPost, "/v1/reload", "", nil); status != http.StatusOK {
			t.Errorf("%d %s", status, text)
		}
	})
	repeat(func(int) {
		for _, path := range []string{"/v1/servers", "/v1/tools", "/metrics"} {
			if status, text := h.request(http.MethodGet, path, "", http.Header{"User-Agent": {"load"}}); status != http.StatusOK {
				t.Errorf("%d %s", status, text)
			}
		}
	})
	repeat(func(i int) {
		name := fmt.Sprint("client-", i)
		_, secret, err := h.tokens.Add(t.Context(), name, false)
		if err != nil {
			t.Error(err)
			return
		}
		if status, _ := h.request(http.MethodGet, "/v1/tools", "", http.Header{"Authorization": {"Bearer " + secret.Reveal()}}); status != http.StatusOK {
			t.Errorf("a new token: %d", status)
		}
		if err := h.tokens.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if err := h.tokens.Revoke(t.Context(), name); err != nil {
			t.Error(err)
		}
		if status, _ := h.request(http.MethodGet, "/v1/tools", "", http.Header{"Authorization": {"Bearer " + secret.Reveal()}}); status != http.StatusUnauthorized {
			t.Errorf("a revoked token: %d", status)
		}
	})
	all.Wait()
}
