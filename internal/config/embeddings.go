package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"

	"genkan/internal/gateway"
)

// Embeddings is a model that makes vectors of texts, and how much they count. It
// prints and encodes without what may be a key.
type Embeddings struct {
	URL, Model string
	APIKey     gateway.Secret
	// Kind is how URL is spoken to: one of the Embeddings constants.
	Kind string
	// Dimensions are asked for; 0 is the model's own number.
	Dimensions int
	// Weight is how much meaning counts beside words, 0 to 1.
	Weight float64
	// Definition is the JSON object that it was read from.
	Definition gateway.Secret
	// Unresolved describes references to variables and secrets that are not
	// there. It is not used before they are.
	Unresolved gateway.Texts
}

// The kinds of endpoints that make vectors.
const (
	EmbeddingsOpenAI = "openai"
	EmbeddingsOllama = "ollama"
)

// DefaultEmbeddingsWeight is low: a weak model must not harm a search that words
// alone do well.
const DefaultEmbeddingsWeight = .15

// DefaultSemanticWeight is what meaning counts in semantic_search, which is asked
// for it.
const DefaultSemanticWeight = .3

// shownEmbeddings is what whoever prints, logs or encodes it sees.
type shownEmbeddings struct {
	URL        string         `json:"url,omitempty"`
	Model      string         `json:"model,omitempty"`
	APIKey     gateway.Secret `json:"apiKey,omitempty"`
	Kind       string         `json:"kind,omitempty"`
	Dimensions int            `json:"dimensions,omitempty"`
	Weight     float64        `json:"weight,omitempty"`
}

func (e Embeddings) shown() shownEmbeddings {
	return shownEmbeddings{maskURL(e.URL), e.Model, e.APIKey, e.Kind, e.Dimensions, e.Weight}
}

// Format keeps secrets out of every verb.
func (e Embeddings) Format(f fmt.State, verb rune) {
	if verb != 'v' {
		_, _ = fmt.Fprintf(f, "%v", e.shown())
		return
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), e.shown())
}

// MarshalJSON keeps secrets out of JSON.
func (e Embeddings) MarshalJSON() ([]byte, error) { return json.Marshal(e.shown()) }

// LogValue keeps secrets out of structured logs.
func (e Embeddings) LogValue() slog.Value { return slog.AnyValue(e.shown()) }

func (d *decoder) embeddings(n *node, at string, weight float64) Embeddings {
	e := Embeddings{Kind: EmbeddingsOpenAI, Weight: weight, Definition: gateway.Secret(n.appendJSON(nil))}
	d.unresolved, d.missing = nil, nil
	before := len(d.problems.list)
	d.object(n, at, d.embeddingsFields(&e))
	switch {
	case len(d.unresolved) > 0:
		e.Unresolved = gateway.Texts{Between: gateway.Apart, Each: d.unresolved}
	case (e.URL == "" || e.Model == "") && len(d.problems.list) == before:
		d.problems.add(n.at, "%s needs a url (where the model is) and a model (its name there)", at)
	}
	d.unresolved, d.missing = nil, nil
	return e
}

func (d *decoder) embeddingsFields(e *Embeddings) []field {
	return []field{
		{"url", func(n *node, at string) { e.URL, _ = d.expanded(n, at, checkURL) }},
		{"model", func(n *node, at string) { e.Model, _ = d.expanded(n, at, checkClientText) }},
		{"apiKey", func(n *node, at string) {
			v, _ := d.expanded(n, at, checkClientText)
			e.APIKey = gateway.Secret(v)
		}},
		{"kind", func(n *node, at string) {
			if w, ok := d.oneOf(n, at, []string{EmbeddingsOpenAI, EmbeddingsOllama}); ok {
				e.Kind = w
			}
		}},
		{"dimensions", func(n *node, at string) { e.Dimensions, _ = d.integer(n, at, 1, 1<<16) }},
		{"weight", func(n *node, at string) {
			if !d.is(n, kindNumber, at) {
				return
			}
			v, err := strconv.ParseFloat(n.text, 64)
			if err != nil || v < 0 || v > 1 || math.IsNaN(v) {
				d.problems.add(n.at, "%s must be a number from 0 to 1", at)
				return
			}
			e.Weight = v
		}},
	}
}
