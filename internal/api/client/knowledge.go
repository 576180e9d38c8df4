package client

import (
	"context"
	"net/http"
	"time"
)

// Knowledge is how the knowledge base is, as far as that is known without reading
// it.
type Knowledge struct {
	Sequence int64 `json:"sequence" doc:"The number of the last write."`
	Items    int   `json:"items"`
	// Types are the types that items have.
	Types []ItemType `json:"types" doc:"The most used first, at most 100."`
	// Index is the file of the text index.
	Index KnowledgeIndex `json:"index"`
	Work  *KnowledgeWork `json:"work,omitempty" doc:"What is being done with it; nothing if it is not there."`
}

// ItemType is a type, and how many items have it.
type ItemType struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// KnowledgeIndex is the file of the text index.
type KnowledgeIndex struct {
	InMemory bool       `json:"inMemory" doc:"There are so few items that no file is needed."`
	File     string     `json:"file,omitempty"`
	Size     int64      `json:"size,omitempty" doc:"In bytes."`
	Built    *time.Time `json:"built,omitempty"`
	Covers   int64      `json:"covers,omitempty" doc:"The last write that is in it."`
	Missing  bool       `json:"missing,omitempty" doc:"The file is not there; it is built anew by itself."`
	Damage   string     `json:"damage,omitempty" doc:"What is wrong with the file; it is built anew by itself."`
}

// KnowledgeWork is the progress of a task on the knowledge base.
type KnowledgeWork struct {
	What  string `json:"what" doc:"check or rebuild."`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// KnowledgeHealth is how index and graph compare with the rows.
type KnowledgeHealth struct {
	Good      bool   `json:"good"`
	Sequence  int64  `json:"sequence" doc:"The write at which they were compared."`
	Items     int    `json:"items"`
	Relations int    `json:"relations"`
	Indexed   bool   `json:"indexed" doc:"There is an index; without one, searches read every item."`
	Damage    string `json:"damage,omitempty" doc:"What is wrong with the file of the index."`
	// MissingTexts and MissingLinks are ids, at most a hundred.
	MissingTexts   []int64 `json:"missingTexts" doc:"Ids of items that the text index lacks or has otherwise; the first hundred."`
	MissingLinks   []int64 `json:"missingLinks" doc:"Ids of items whose neighbours the graph has otherwise; the first hundred."`
	ExtraTexts     int     `json:"extraTexts" doc:"How many more items the text index has, or fewer."`
	ExtraItems     int     `json:"extraItems" doc:"How many more items the graph has, or fewer."`
	ExtraRelations int     `json:"extraRelations" doc:"How many more relations the graph has, or fewer."`
	Moving         bool    `json:"moving,omitempty" doc:"Items were changed all the while, so that nothing of this is certain."`
}

// Knowledge tells how the knowledge base is.
func (c *Client) Knowledge(ctx context.Context) (Knowledge, error) {
	var out Knowledge
	return out, c.do(ctx, http.MethodGet, "/v1/knowledge", nil, &out)
}

// CheckKnowledge compares index and graph with all rows.
func (c *Client) CheckKnowledge(ctx context.Context) (KnowledgeHealth, error) {
	var out KnowledgeHealth
	return out, c.do(ctx, http.MethodPost, "/v1/knowledge/check", nil, &out)
}

// RebuildKnowledge rebuilds the index and the graph.
func (c *Client) RebuildKnowledge(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/v1/knowledge/rebuild", nil, &Done{})
}
