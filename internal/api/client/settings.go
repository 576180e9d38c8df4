package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Settings are the settings of the configuration file.
type Settings struct {
	File     string         `json:"file" doc:"The configuration file."`
	Fixed    string         `json:"fixed,omitempty" doc:"Why they can only be changed in the file, if so."`
	Settings map[string]any `json:"settings" doc:"By their keys in the file, as it has them: lang, rateLimit, budget, record, learn, n8n (a list of instances) and embeddings. Literal secrets are ***. A key that is not there has its default."`

	Embeddings *EmbeddingsProblem `json:"embeddings,omitempty" doc:"Why the model of embeddings gives no vectors now; missing if it does, if it was not asked yet, and without a model."`
}

// EmbeddingsProblem is why a model gives no vectors.
type EmbeddingsProblem struct {
	Problem string     `json:"problem" doc:"What is wrong, and what to do."`
	At      *time.Time `json:"at,omitempty" doc:"When it was asked last; missing if it cannot be asked."`
}

// Settings returns the settings of the configuration file.
func (c *Client) Settings(ctx context.Context) (out Settings, _ error) {
	return out, c.do(ctx, http.MethodGet, "/v1/settings", nil, &out)
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

// EmbeddingsModel is a model that compares texts as the configuration file names it.
type EmbeddingsModel struct {
	URL        string  `json:"url" doc:"The address of the API."`
	Model      string  `json:"model" doc:"The name of the model there."`
	Kind       string  `json:"kind,omitempty" doc:"openai or ollama; openai if it is missing."`
	APIKey     string  `json:"apiKey,omitempty" doc:"A key, a reference such as ${secret:EMBEDDINGS_API_KEY}, or *** for the configured key."`
	Dimensions int     `json:"dimensions,omitempty" doc:"How many are asked for."`
	Weight     float64 `json:"weight,omitempty" doc:"Of no meaning for a test."`
}

// EmbeddingsTest tells whether a model gives vectors.
type EmbeddingsTest struct {
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty" doc:"What is wrong, and what to do."`
}
