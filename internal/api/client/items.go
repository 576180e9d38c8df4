package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Item is an item of the knowledge base, as its tools answer it.
type Item struct {
	ID          int64      `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Content     string     `json:"content" doc:"Markdown."`
	Status      string     `json:"status"`
	Priority    string     `json:"priority" doc:"CRITICAL, HIGH, MEDIUM, LOW or MINIMAL."`
	Category    *string    `json:"category"`
	StartDate   *time.Time `json:"start_date"`
	EndDate     *time.Time `json:"end_date"`
	Version     *string    `json:"version"`
	Related     []string   `json:"related" doc:"References of related items, such as docs-12."`
	Tags        []string   `json:"tags"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	MovedFrom   string     `json:"moved_from,omitempty" doc:"The reference that was asked for, if the item has another one now."`
	// What a change took away by replacing the lists.
	DroppedRelated []string `json:"dropped_related,omitempty" doc:"Relations that a change of related took away."`
	DroppedTags    []string `json:"dropped_tags,omitempty" doc:"Tags that a change of tags took away."`
	Changed        []string `json:"changed,omitempty" doc:"The fields that a change has changed."`
}

// Ref is the item's reference.
func (i *Item) Ref() string { return refOf(i.Type, i.ID) }

func refOf(kind string, id int64) string { return kind + "-" + strconv.FormatInt(id, 10) }

// ItemSummary is what lists say of an item.
type ItemSummary struct {
	ID        int64     `json:"id"`
	Type      string    `json:"type"`
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority"`
	Tags      []string  `json:"tags"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Ref is the item's reference.
func (s *ItemSummary) Ref() string { return refOf(s.Type, s.ID) }

// ItemList is a page of items.
type ItemList struct {
	Items      []ItemSummary `json:"items"`
	Total      int           `json:"total"`
	Limit      int           `json:"limit"`
	Offset     int           `json:"offset"`
	NextOffset int           `json:"next_offset,omitempty" doc:"Where to read on, if there is more."`
	Hint       string        `json:"hint,omitempty" doc:"Why there are none."`
}

// FoundItem is an item that a search found.
type FoundItem struct {
	ItemSummary

	Snippet string  `json:"snippet" doc:"A piece of its text with the match between double asterisks."`
	Score   float64 `json:"score"`
}

// FoundItems is a page of what a search found.
type FoundItems struct {
	Items      []FoundItem `json:"items"`
	Total      int         `json:"total"`
	Limit      int         `json:"limit"`
	Offset     int         `json:"offset"`
	NextOffset int         `json:"next_offset,omitempty" doc:"Where to read on, if there is more."`
	Hint       string      `json:"hint,omitempty" doc:"Why there are none."`
}

// NewItem is an item that is to be made.
type NewItem struct {
	Type        string   `json:"type" doc:"Any text of 1 to 50 characters, such as docs or issues."`
	Title       string   `json:"title" doc:"1 to 200 characters."`
	Description string   `json:"description,omitempty" doc:"At most 1,000 characters."`
	Content     string   `json:"content,omitempty" doc:"Markdown, at most 102,400 characters."`
	Status      string   `json:"status,omitempty" doc:"The first open one unless said; /v1/statuses lists them."`
	Priority    string   `json:"priority,omitempty" doc:"CRITICAL, HIGH, MEDIUM (unless said), LOW or MINIMAL."`
	Category    string   `json:"category,omitempty"`
	StartDate   string   `json:"start_date,omitempty" doc:"A date or a time, such as 2026-01-15T10:30:00Z."`
	EndDate     string   `json:"end_date,omitempty" doc:"As start_date."`
	Version     string   `json:"version,omitempty"`
	Related     []string `json:"related,omitempty" doc:"References of related items, such as docs-12."`
	Tags        []string `json:"tags,omitempty"`
}

// ItemChange is what of an item is to be another. What is not named stays, null
// clears a field.
type ItemChange struct {
	Title       *string   `json:"title,omitempty" doc:"1 to 200 characters."`
	Description *string   `json:"description,omitempty"`
	Content     *string   `json:"content,omitempty"`
	Status      *string   `json:"status,omitempty"`
	Priority    *string   `json:"priority,omitempty"`
	Category    *string   `json:"category,omitempty"`
	StartDate   *string   `json:"start_date,omitempty"`
	EndDate     *string   `json:"end_date,omitempty"`
	Version     *string   `json:"version,omitempty"`
	Related     *[]string `json:"related,omitempty" doc:"They replace all that there are."`
	Tags        *[]string `json:"tags,omitempty" doc:"They replace all that there are."`

	AddRelated    *[]string `json:"add_related,omitempty" doc:"References of items to relate to; the other relations stay."`
	RemoveRelated *[]string `json:"remove_related,omitempty" doc:"References of items to relate to no longer."`
	AddTags       *[]string `json:"add_tags,omitempty" doc:"The other tags stay."`
	RemoveTags    *[]string `json:"remove_tags,omitempty"`
}

// NewType is the type that an item is to have.
type NewType struct {
	Type string `json:"type"`
}

// DeletedItem is what an item was that was deleted.
type DeletedItem struct {
	Deleted   bool   `json:"deleted"`
	Type      string `json:"type"`
	ID        int64  `json:"id"`
	MovedFrom string `json:"moved_from,omitempty"`
}

// BulkUpdate changes many items at once.
type BulkUpdate struct {
	Updates []ItemUpdate `json:"updates" doc:"At most 1,000. All are made, or none if anything is wrong."`
}

// ItemUpdate is one change of many.
type ItemUpdate struct {
	Type string     `json:"type"`
	ID   int64      `json:"id"`
	Data ItemChange `json:"data"`
}

// BulkUpdated is what became of many items.
type BulkUpdated struct {
	Updated int           `json:"updated"`
	Results []UpdatedItem `json:"results"`
}

// UpdatedItem is one of these items.
type UpdatedItem struct {
	ItemSummary

	Changed        []string `json:"changed" doc:"The fields that have changed."`
	DroppedRelated []string `json:"dropped_related,omitempty" doc:"Relations that a change of related took away."`
	DroppedTags    []string `json:"dropped_tags,omitempty" doc:"Tags that a change of tags took away."`
}

// RelatedItems are the items around one.
type RelatedItems struct {
	Center         ItemSummary   `json:"center_item"`
	Items          []RelatedItem `json:"related_items" doc:"The nearest first."`
	Edges          [][]string    `json:"edges" doc:"The relations among these items: two references each, the nearer item first."`
	Stats          GraphStats    `json:"graph_stats"`
	Truncated      bool          `json:"truncated,omitempty" doc:"Whether max_results kept some out."`
	EdgesTruncated bool          `json:"edges_truncated,omitempty" doc:"Whether there are more relations among them than edges has."`
}

// RelatedItem is one of them.
type RelatedItem struct {
	Item         ItemSummary `json:"item"`
	Distance     int         `json:"distance" doc:"How many relations away it is."`
	Relationship string      `json:"relationship" doc:"direct or indirect."`
}

// GraphStats say how large a neighbourhood is.
type GraphStats struct {
	Nodes int `json:"total_nodes"`
	Edges int `json:"total_edges"`
	Depth int `json:"max_depth"`
}

// ItemPaths are paths between two items, the shortest first.
type ItemPaths struct {
	Paths     []ItemPath `json:"paths"`
	Shortest  int        `json:"shortest_path_length" doc:"-1 if there is none."`
	Total     int        `json:"total_paths_found"`
	Truncated bool       `json:"truncated,omitempty" doc:"Whether there are more, or may be: the search has an end."`
}

// ItemPath is one of them.
type ItemPath struct {
	Items  []ItemSummary `json:"items"`
	Length int           `json:"length" doc:"How many relations long it is."`
	Weight float64       `json:"weight"`
}

// Suggestions complete the beginning of a search.
type Suggestions struct {
	Suggestions []string `json:"suggestions"`
}

// TagList is all tags.
type TagList struct {
	Tags []Tag `json:"tags" doc:"The most used first."`
}

// Tag is a tag, and how many items have it.
type Tag struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// StatusList is all statuses.
type StatusList struct {
	Statuses []Status `json:"statuses"`
}

// Status is one that an item may have.
type Status struct {
	Name   string `json:"name"`
	Closed bool   `json:"closed" doc:"Whether lists leave its items out unless they are asked for."`
}

// State is the text about where things stand.
type State struct {
	Content  string        `json:"content" doc:"Markdown."`
	Metadata StateMetadata `json:"metadata"`
	Changed  []string      `json:"changed,omitempty" doc:"The fields that a change has changed."`
}

// StateMetadata is about the text.
type StateMetadata struct {
	UpdatedBy *string    `json:"updated_by"`
	UpdatedAt *time.Time `json:"updated_at"`
	Related   []string   `json:"related"`
	Tags      []string   `json:"tags"`
}

// NewState replaces the text about where things stand.
type NewState struct {
	Content   string   `json:"content" doc:"Markdown, at most 102,400 characters."`
	UpdatedBy string   `json:"updated_by,omitempty" doc:"The caller unless said."`
	Related   []string `json:"related,omitempty" doc:"As before unless said."`
	Tags      []string `json:"tags,omitempty" doc:"As before unless said."`
}

// ItemFilter says which items are listed; what is empty does not matter.
type ItemFilter struct {
	Type, Tag         string
	Statuses          []string
	Closed            bool
	FirstDay, LastDay string
	Limit, Offset     int
}

func (f ItemFilter) query() string {
	q := url.Values{}
	setAll(q, map[string]string{"type": f.Type, "tag": f.Tag, "start_date": f.FirstDay, "end_date": f.LastDay})
	setPage(q, f.Limit, f.Offset)
	if len(f.Statuses) > 0 {
		q["status"] = f.Statuses
	}
	if f.Closed {
		q.Set("includeClosed", "true")
	}
	return q.Encode()
}

// ItemSearch says which items to look for. What is not given does not matter.
type ItemSearch struct {
	Query             string
	Types, Statuses   []string
	Tag               string
	FirstDay, LastDay string
	Limit, Offset     int
}

func (s ItemSearch) query() string {
	q := url.Values{"query": {s.Query}, "type": s.Types, "status": s.Statuses}
	setAll(q, map[string]string{"tag": s.Tag, "start_date": s.FirstDay, "end_date": s.LastDay})
	setPage(q, s.Limit, s.Offset)
	return q.Encode()
}

func setAll(q url.Values, texts map[string]string) {
	for key, text := range texts {
		if text != "" {
			q.Set(key, text)
		}
	}
}

func setPage(q url.Values, limit, offset int) {
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if offset != 0 {
		q.Set("offset", strconv.Itoa(offset))
	}
}

func itemPath(ref string) string { return "/v1/items/" + url.PathEscape(ref) }

// Items lists items, the last updated first.
func (c *Client) Items(ctx context.Context, f ItemFilter) (ItemList, error) {
	var out ItemList
	return out, c.do(ctx, http.MethodGet, "/v1/items?"+f.query(), nil, &out)
}

// Item shows one item.
func (c *Client) Item(ctx context.Context, ref string) (Item, error) {
	var out Item
	return out, c.do(ctx, http.MethodGet, itemPath(ref), nil, &out)
}

// AddItem makes an item.
func (c *Client) AddItem(ctx context.Context, in NewItem) (Item, error) {
	var out Item
	return out, c.do(ctx, http.MethodPost, "/v1/items", in, &out)
}

// ChangeItem changes an item: the fields of ItemChange by name, nil clears one.
func (c *Client) ChangeItem(ctx context.Context, ref string, fields map[string]any) (Item, error) {
	var out Item
	return out, c.do(ctx, http.MethodPatch, itemPath(ref), fields, &out)
}

// ChangeItems changes several items atomically.
func (c *Client) ChangeItems(ctx context.Context, in BulkUpdate) (BulkUpdated, error) {
	var out BulkUpdated
	return out, c.do(ctx, http.MethodPost, "/v1/items/bulk", in, &out)
}

// ChangeItemType gives an item another type.
func (c *Client) ChangeItemType(ctx context.Context, ref, kind string) (Item, error) {
	var out Item
	return out, c.do(ctx, http.MethodPost, itemPath(ref)+"/type", NewType{kind}, &out)
}

// DeleteItem deletes an item.
func (c *Client) DeleteItem(ctx context.Context, ref string) (DeletedItem, error) {
	var out DeletedItem
	return out, c.do(ctx, http.MethodDelete, itemPath(ref), nil, &out)
}

// SearchItems finds items by their words.
func (c *Client) SearchItems(ctx context.Context, s ItemSearch) (FoundItems, error) {
	var out FoundItems
	return out, c.do(ctx, http.MethodGet, "/v1/items/search?"+s.query(), nil, &out)
}

// RelatedItems explores the items around one; 0 is as usual.
func (c *Client) RelatedItems(ctx context.Context, ref string, depth, most int) (RelatedItems, error) {
	q := url.Values{}
	if depth != 0 {
		q.Set("depth", strconv.Itoa(depth))
	}
	if most != 0 {
		q.Set("max_results", strconv.Itoa(most))
	}
	var out RelatedItems
	return out, c.do(ctx, http.MethodGet, itemPath(ref)+"/related?"+q.Encode(), nil, &out)
}

// ItemPaths finds the shortest paths between two items; 0 is as usual.
func (c *Client) ItemPaths(ctx context.Context, from, to string, depth int) (ItemPaths, error) {
	q := url.Values{"from": {from}, "to": {to}}
	if depth != 0 {
		q.Set("max_depth", strconv.Itoa(depth))
	}
	var out ItemPaths
	return out, c.do(ctx, http.MethodGet, "/v1/items/path?"+q.Encode(), nil, &out)
}

// Tags lists all tags.
func (c *Client) Tags(ctx context.Context) (TagList, error) {
	var out TagList
	return out, c.do(ctx, http.MethodGet, "/v1/tags", nil, &out)
}

// Statuses lists the statuses that items may be given.
func (c *Client) Statuses(ctx context.Context) (StatusList, error) {
	var out StatusList
	return out, c.do(ctx, http.MethodGet, "/v1/statuses", nil, &out)
}

// TotalHeader says of an export how many items there were when it began.
const TotalHeader = "X-Total-Count"

// ExportItems is all items, one as JSON on each line, and about how many they are.
// Who reads must close it. An export that breaks off ends with an error.
func (c *Client) ExportItems(ctx context.Context) (lines io.ReadCloser, total int, err error) {
	resp, err := c.send(ctx, http.MethodGet, "/v1/items/export", nil)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		return nil, 0, c.read(resp, &struct{}{})
	}
	total, _ = strconv.Atoi(resp.Header.Get(TotalHeader))
	return resp.Body, total, nil
}
