package doctor

import "genkan/internal/gateway"

// n8n reports on an n8n instance.
func (e *examination) n8n(i *N8N) {
	e.about(OfServer, i.Name)
	file := e.facts.Config.File.Path
	switch {
	case i.Hidden:
		e.say(Warning, gateway.Textf("a server has the name %s, so the tools of the n8n instance of that name are hidden from all clients", i.Name)).
			advise(gateway.Textf("give the instance another name in %s, such as \"name: %s-api\"; its tools are then called %s-api__list_workflows and so on", file, i.Name, i.Name))
		return
	case i.Problem.Format != "":
		e.say(Problem, gateway.Textf("n8n cannot be used: %s", i.Problem)).
			advise(gateway.Textf("correct it in the web UI under Settings, n8n and embeddings, in n8n of %s, or in N8N_URL and N8N_API_KEY where genkan starts", file))
		return
	case i.Tools > 0:
		e.say(OK, gateway.Textf("n8n at %s answers and accepts the key; %d tools", i.URL, i.Tools))
	default:
		e.say(OK, gateway.Textf("n8n at %s answers and accepts the key", i.URL))
	}
	if i.MCPServer != "" {
		e.say(Note, gateway.Textf("this n8n has an MCP server of its own, with tools that search nodes and test workflows")).
			run(e.genkan("servers add " + Quote(i.Name+"-mcp") + " --url " + Quote(i.MCPServer))).
			advise(gateway.Textf("add it to genkan, too: enable it in n8n under Settings > Instance-level MCP first, and sign in with `genkan login %s-mcp` afterwards", i.Name))
	}
}

// embeddings reports that the model that compares texts gives no vectors.
func (e *examination) embeddings() {
	if e.facts.Embeddings.Format == "" {
		return
	}
	e.about(OfModel, "")
	f := e.say(Warning, gateway.Textf("embeddings cannot be had: %s", e.facts.Embeddings)).
		because(gateway.Textf("searches find tools by words alone until they can")).
		advise(gateway.Textf("the web UI tests the address under Settings, n8n and embeddings; the setting is embeddings in %s", e.facts.Config.File.Path))
	if at := e.facts.EmbeddingsAt; !at.IsZero() {
		f.because(gateway.Textf("searches find tools by words alone until they can; the model was asked last at %s", Local(at))).at(at)
	}
}
