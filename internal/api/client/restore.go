package client

import (
	"context"
	"net/http"
)

// Restoration is what an import brings into the knowledge base as it was elsewhere.
type Restoration struct {
	Items     []RestoredItem `json:"items,omitempty" doc:"At most 1,000."`
	Relations []ItemPair     `json:"relations,omitempty" doc:"Between items that are there by then. They update no item."`
	State     *RestoredState `json:"state,omitempty" doc:"Replaces the text about where things stand."`
}

// RestoredItem is an item as it was, without its relations.
type RestoredItem struct {
	ID          int64    `json:"id,omitempty" doc:"Kept if it is higher than any id that was ever given; otherwise the item gets a new one."`
	Type        string   `json:"type" doc:"Any text of 1 to 50 characters, such as docs or issues."`
	Title       string   `json:"title" doc:"1 to 200 characters."`
	Description string   `json:"description,omitempty" doc:"At most 1,000 characters."`
	Content     string   `json:"content,omitempty" doc:"Markdown, at most 102,400 characters."`
	Status      string   `json:"status,omitempty"`
	Priority    string   `json:"priority,omitempty" doc:"CRITICAL, HIGH, MEDIUM (unless said), LOW or MINIMAL."`
	Category    string   `json:"category,omitempty"`
	Version     string   `json:"version,omitempty"`
	StartDate   string   `json:"start_date,omitempty" doc:"A date or a time, such as 2026-01-15T10:30:00Z."`
	EndDate     string   `json:"end_date,omitempty" doc:"As start_date."`
	Tags        []string `json:"tags,omitempty"`
	CreatedAt   string   `json:"created_at,omitempty" doc:"As start_date; now unless said."`
	UpdatedAt   string   `json:"updated_at,omitempty" doc:"As start_date; created_at unless said."`
	Former      []string `json:"former,omitempty" doc:"References that it had under other types; kept if the item keeps its id and nobody else has had theirs."`
}

// ItemPair are the two ends of a relation.
type ItemPair struct {
	A string `json:"a" doc:"A reference, such as docs-12."`
	B string `json:"b"`
}

// RestoredState is the text about where things stand, as it was.
type RestoredState struct {
	Content   string   `json:"content" doc:"Markdown, at most 102,400 characters."`
	UpdatedBy string   `json:"updated_by,omitempty"`
	UpdatedAt string   `json:"updated_at,omitempty" doc:"Now unless said."`
	Related   []string `json:"related,omitempty"`
	Tags      []string `json:"tags,omitempty"`
}

// Restored is what became of it.
type Restored struct {
	Items []RestoredAs `json:"items" doc:"In the order in which they were given."`
}

// RestoredAs is what became of an item.
type RestoredAs struct {
	Ref    string   `json:"ref"`
	Former []string `json:"former" doc:"The former references that were kept."`
}

// Restore imports items of another knowledge base atomically.
func (c *Client) Restore(ctx context.Context, in Restoration) (Restored, error) {
	var out Restored
	return out, c.do(ctx, http.MethodPost, "/v1/items/restore", in, &out)
}

// State reads the text about where things stand.
func (c *Client) State(ctx context.Context) (State, error) {
	var out State
	return out, c.do(ctx, http.MethodGet, "/v1/state", nil, &out)
}
