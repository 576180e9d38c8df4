package doctor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/doctor"
)

// A model that gives no vectors is a warning: searches go on by words.
func TestEmbeddings(t *testing.T) {
	facts := healthy()
	facts.Embeddings, facts.EmbeddingsAt = text("it is down"), time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	var got []string
	for _, f := range doctor.Examine(facts) {
		if f.Subject.Kind == doctor.OfModel {
			got = append(got, line(f))
		}
	}
	want := []string{"warning embeddings: embeddings cannot be had: it is down | searches find tools by words alone until they can; the model was asked last at 2026-01-02 03:04 > the web UI tests the address under Settings, n8n and embeddings; the setting is embeddings in /srv/example/genkan.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	checkUnforged(t, facts)
}

// What is said about an n8n instance.
func TestN8N(t *testing.T) {
	for name, c := range map[string]struct {
		n8n  doctor.N8N
		want []string
	}{
		"well":        {doctor.N8N{Tools: 18}, []string{"ok server/n8n: n8n at http://127.0.0.1:5678 answers and accepts the key; 18 tools"}},
		"not running": {doctor.N8N{}, []string{"ok server/n8n: n8n at http://127.0.0.1:5678 answers and accepts the key"}},
		"unusable": {
			doctor.N8N{Problem: text("it is down")},
			[]string{"problem server/n8n: n8n cannot be used: it is down > correct it in the web UI under Settings, n8n and embeddings, in n8n of /srv/example/genkan.yaml, or in N8N_URL and N8N_API_KEY where genkan starts"},
		},
		"hidden": {
			doctor.N8N{Hidden: true},
			[]string{`warning server/n8n: a server has the name n8n, so the tools of the n8n instance of that name are hidden from all clients > give the instance another name in /srv/example/genkan.yaml, such as "name: n8n-api"; its tools are then called n8n-api__list_workflows and so on`},
		},
		"with an MCP server of its own": {
			doctor.N8N{Tools: 18, MCPServer: "http://127.0.0.1:5678/mcp-server/http"},
			[]string{
				"ok server/n8n: n8n at http://127.0.0.1:5678 answers and accepts the key; 18 tools",
				"note server/n8n: this n8n has an MCP server of its own, with tools that search nodes and test workflows > genkan servers add n8n-mcp --url http://127.0.0.1:5678/mcp-server/http > add it to genkan, too: enable it in n8n under Settings > Instance-level MCP first, and sign in with `genkan login n8n-mcp` afterwards",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			facts := healthy()
			c.n8n.Name, c.n8n.URL = "n8n", "http://127.0.0.1:5678"
			facts.N8N = []doctor.N8N{c.n8n}
			var got []string
			for _, f := range doctor.Examine(facts) {
				if f.Subject == (doctor.Subject{Kind: doctor.OfServer, Name: "n8n"}) {
					got = append(got, line(f))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			checkUnforged(t, facts)
		})
	}
}
