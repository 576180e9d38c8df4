package app

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
	n8nreal "genkan/internal/testkit/n8n"
)

// The MCP Client node of a real n8n calls a tool through the gateway, once for each item.
func TestRealN8nCallsTools(t *testing.T) {
	i := n8nreal.Start(t)
	i.NeedsWriting(t)
	const calls = 1000
	h := openHouse(t, servers(conf{"fault": child(t)}))
	h.waitReady("fault")
	mcpClientRun(t, i, h.base+"/mcp", h.token, "fault__echo", 50) // n8n compiles what it runs
	through := mcpClientRun(t, i, h.base+"/mcp", h.token, "fault__echo", calls)
	direct := mcpClientRun(t, i, testkit.StartFaultHTTP(t), "", "echo", calls)
	i.Keep(t, "mcp-client", fmt.Sprintf("The MCP Client node (`mcpClient` 1.1) called `fault__echo` with a bearer token %d times in one execution. All %d answers were right.\n\n"+
		"| | node | a call |\n|---|---:|---:|\n| through Genkan, server on stdio | %d ms | %.2f ms |\n| the same server over HTTP, without Genkan | %d ms | %.2f ms |\n",
		calls, calls, through.Milliseconds(), perCall(through, calls), direct.Milliseconds(), perCall(direct, calls)))
}

func perCall(total time.Duration, calls int) float64 {
	return float64(total.Microseconds()) / 1000 / float64(calls)
}

// mcpClientRun runs a workflow whose MCP Client node calls a tool of an endpoint, checks
// each answer, and returns how long the node took.
func mcpClientRun(t *testing.T, i *n8nreal.Instance, endpoint, token, tool string, calls int) time.Duration {
	t.Helper()
	path := "genkan-e2e-mcp-" + strings.ToLower(rand.Text())
	client := conf{
		"id": "client", "name": "MCP Client", "type": "@n8n/n8n-nodes-langchain.mcpClient", "typeVersion": 1.1, "position": []int{400, 0},
		"parameters": conf{
			"serverTransport": "httpStreamable", "endpointUrl": endpoint, "authentication": "none",
			"tool":      conf{"__rl": true, "mode": "id", "value": tool},
			"inputMode": "json", "jsonInput": `={{ { text: "item " + $json.n } }}`, "options": conf{},
		},
	}
	if token != "" {
		var made struct{ ID string }
		i.Must(t, http.MethodPost, "/credentials", conf{"name": path, "type": "httpBearerAuth", "data": conf{"token": token}}, &made)
		t.Cleanup(func() { i.Call(t, http.MethodDelete, "/credentials/"+made.ID, nil) })
		client["parameters"].(conf)["authentication"] = "bearerAuth"
		client["credentials"] = conf{"httpBearerAuth": conf{"id": made.ID, "name": path}}
	}
	link := func(to string) conf { return conf{"main": [][]conf{{{"node": to, "type": "main", "index": 0}}}} }
	id := i.Create(t, n8nreal.Workflow{
		"name": path,
		"nodes": []conf{
			{
				"id": "hook", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": []int{0, 0}, "webhookId": path,
				"parameters": conf{"path": path, "httpMethod": "POST", "responseMode": "onReceived", "options": conf{}},
			},
			{
				"id": "items", "name": "Items", "type": "n8n-nodes-base.code", "typeVersion": 2, "position": []int{200, 0},
				"parameters": conf{"jsCode": fmt.Sprintf("return Array.from({length: %d}, (_, n) => ({json: {n}}));", calls)},
			},
			client,
		},
		"connections": conf{"Hook": link("Items"), "Items": link("MCP Client")},
		"settings":    conf{"executionOrder": "v1"},
	})
	t.Cleanup(func() { i.Delete(t, id) })
	i.Must(t, http.MethodPost, "/workflows/"+id+"/activate", nil, nil)
	i.Webhook(t, path)
	var ran struct {
		Status string
		Data   struct {
			ResultData struct {
				Error   conf
				RunData map[string][]struct {
					ExecutionTime int64
					Data          struct {
						Main [][]struct {
							JSON struct{ Content []struct{ Type, Text string } }
						}
					}
				}
			}
		}
	}
	i.Must(t, http.MethodGet, "/executions/"+i.Settled(t, id)+"?includeData=true", nil, &ran)
	runs := ran.Data.ResultData.RunData["MCP Client"]
	if ran.Status != "success" || len(runs) != 1 || len(runs[0].Data.Main) != 1 || len(runs[0].Data.Main[0]) != calls {
		t.Fatalf("%s: %s, %d runs: %v", endpoint, ran.Status, len(runs), ran.Data.ResultData.Error)
	}
	for n, item := range runs[0].Data.Main[0] {
		if len(item.JSON.Content) != 1 || item.JSON.Content[0].Text != fmt.Sprintf("item %d", n) {
			t.Fatalf("answer %d is %+v", n, item)
		}
	}
	return time.Duration(runs[0].ExecutionTime) * time.Millisecond
}
