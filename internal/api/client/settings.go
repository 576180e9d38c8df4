package client

import "encoding/json"

// Settings are the settings of the configuration file.
type Settings struct {
	File     string         `json:"file" doc:"The configuration file."`
	Fixed    string         `json:"fixed,omitempty" doc:"Why they can only be changed in the file, if so."`
	Settings map[string]any `json:"settings" doc:"By their keys in the file, as it has them: lang, rateLimit, budget, record, learn, n8n (a list of instances) and embeddings. Literal secrets are ***. A key that is not there has its default."`
}

// SettingsPatch are settings by their keys in the configuration file. null removes one.
type SettingsPatch struct {
	Lang       json.RawMessage `json:"lang,omitempty" doc:"The language of messages: en or ja."`
	RateLimit  json.RawMessage `json:"rateLimit,omitempty" doc:"How many calls a client may make: {max, timeWindow}."`
	Budget     json.RawMessage `json:"budget,omitempty" doc:"How many tokens an answer to an agent may have, or off."`
	Record     json.RawMessage `json:"record,omitempty" doc:"The call history: {enabled, bodies, days, megabytes, replay}, or off."`
	Learn      json.RawMessage `json:"learn,omitempty" doc:"Whether searches learn."`
	N8N        json.RawMessage `json:"n8n,omitempty" doc:"The n8n instances: [{name, url, apiKey}]."`
	Embeddings json.RawMessage `json:"embeddings,omitempty" doc:"The model that compares texts: {url, model, kind, apiKey, dimensions, weight}."`
}

// N8NInstance is an n8n instance as the configuration file names it.
type N8NInstance struct {
	Name   string `json:"name,omitempty" doc:"n8n if it is missing."`
	URL    string `json:"url" doc:"Where n8n is, with or without /api/v1."`
	APIKey string `json:"apiKey" doc:"A key, a reference such as ${secret:N8N_API_KEY}, or *** for the key of the configured instance of this name."`
}

// N8NTest tells whether an n8n instance can be used.
type N8NTest struct {
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty" doc:"What is wrong, and what to do."`
	Advice  string `json:"advice,omitempty" doc:"Something that may be useful, such as the MCP server of that n8n."`
}
