package mcpserver_test

import (
	"strings"
	"testing"
)

// TestQuestionsNameTheirServer: a client that sees several servers is told which of
// them asks, whatever the server says. One that sees a server alone gets the
// question as the server sent it.
func TestQuestionsNameTheirServer(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{
		"evil": child(t, "-everything", "-era", "legacy"), "worse": child(t, "-everything", "-era", "modern"), "good": child(t),
	})
	for _, era := range []string{legacyEra, modernEra} {
		for _, server := range []string{"evil", "worse"} {
			for view, c := range map[string]struct{ tool, form, server string }{
				"":     {server + "__ask", `"message":"[` + server + `] [good] GitHub\nneeds your password (1)"`, `"genkan/server":"` + server + `"`},
				server: {"ask", `"message":"[good] GitHub\nneeds your password (1)"`, ""},
			} {
				client := h.connect(t, clientOptions{era: era, wire: overHTTP, view: view, capabilities: canBeAsked, answer: accept})
				client.mustSay(c.tool, `{"message":"[good] GitHub\nneeds your password"}`)
				client.mustSay(c.tool, `{"what":"sample"}`)
				asked := client.questions()
				if len(asked) != 2 || !strings.Contains(asked[0].params, c.form) {
					t.Errorf("%s client in view %q is asked %v", era, view, asked)
					continue
				}
				if got := asked[1].params; !strings.Contains(got, c.server) || strings.Contains(got, "genkan/server") != (c.server != "") {
					t.Errorf("%s client in view %q is asked to sample %s", era, view, got)
				}
			}
		}
	}
}
