package app

import (
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/testkit"
)

// A list that cannot be read is shown with its server, whose other lists are used,
// until it can be read.
func TestAListThatCannotBeReadIsShown(t *testing.T) {
	t.Parallel()
	s := newSpeaker(t, toolSaying("look", "Looks.")).say(func(s *speaker) { s.fails = "resources/list" })
	h := openHouse(t, servers(conf{"bank": s.conf()}))
	h.waitReady("bank")
	got := h.server("bank")
	want := client.ListProblem{List: "resources", Problem: "the database is gone"}
	if len(got.ListProblems) != 1 || got.ListProblems[0] != want || got.Tools != 1 {
		t.Errorf("%d tools, problems %v", got.Tools, got.ListProblems)
	}
	s.say(func(s *speaker) { s.fails = "tools/list" })
	if status, text := h.request("POST", "/v1/servers/bank/try", "", nil); status >= 300 {
		t.Fatalf("%d %s", status, text)
	}
	testkit.Eventually(t, func() bool {
		got := h.server("bank")
		return got.State == "ready" && got.Tools == 1 && len(got.ListProblems) == 1 && got.ListProblems[0].List == "tools"
	}, "the tools are those of before, and that is shown")
	if !strings.Contains(h.log.String(), "a list could not be read") {
		t.Error("it is not in the log")
	}
}
