package kb

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"time"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// This file defines the JSON forms of the answers. Unset values are null.

type itemAnswer struct {
	ID          int64   `json:"id"`
	Type        string  `json:"type"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Content     *string `json:"content,omitempty"`
	// ContentLength is the number of characters; answers of writes have it in place of the
	// content.
	ContentLength *int     `json:"content_length,omitempty"`
	Status        string   `json:"status"`
	Priority      Priority `json:"priority"`
	Category      *string  `json:"category"`
	StartDate     *string  `json:"start_date"`
	EndDate       *string  `json:"end_date"`
	Version       *string  `json:"version"`
	Related       []string `json:"related"`
	Tags          []string `json:"tags"`
	CreatedAt     string   `json:"created_at"`
	UpdatedAt     string   `json:"updated_at"`
	// MovedFrom is the requested reference if the item has a new one since.
	// Former is set in exports only.
	Former    []string `json:"former,omitempty"`
	MovedFrom string   `json:"moved_from,omitempty"`
	// DroppedRelated and DroppedTags are the entries that an update removed by
	// replacing the lists.
	DroppedRelated []string `json:"dropped_related,omitempty"`
	DroppedTags    []string `json:"dropped_tags,omitempty"`
	// Changed are the fields that an update changed.
	Changed *[]string `json:"changed,omitempty"`
}

type summaryAnswer struct {
	ID        int64    `json:"id"`
	Type      string   `json:"type"`
	Title     string   `json:"title"`
	Status    string   `json:"status"`
	Priority  Priority `json:"priority"`
	Tags      []string `json:"tags"`
	CreatedAt string   `json:"created_at"`
	UpdatedAt string   `json:"updated_at"`
}

type matchAnswer struct {
	summaryAnswer
	Snippet string  `json:"snippet"`
	Score   float64 `json:"score"`
}

type pageAnswer[T any] struct {
	Items  []T `json:"items"`
	Total  int `json:"total"`
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
	// NextOffset is the offset of the next page.
	NextOffset int `json:"next_offset,omitempty"`
	// Hint says why there are no items.
	Hint string `json:"hint,omitempty"`
}

func newPageAnswer[T any](items []T, total, limit, offset int) pageAnswer[T] {
	p := pageAnswer[T]{Items: items, Total: total, Limit: limit, Offset: offset}
	if next := offset + len(items); len(items) > 0 && next < total {
		p.NextOffset = next
	}
	return p
}

type deletedAnswer struct {
	Deleted   bool   `json:"deleted"`
	Type      string `json:"type"`
	ID        int64  `json:"id"`
	MovedFrom string `json:"moved_from,omitempty"`
}

type bulkAnswer struct {
	Updated int         `json:"updated"`
	Results []bulkEntry `json:"results"`
}

type bulkEntry struct {
	summaryAnswer
	Changed        []string `json:"changed"`
	DroppedRelated []string `json:"dropped_related,omitempty"`
	DroppedTags    []string `json:"dropped_tags,omitempty"`
}

type relatedAnswer struct {
	Center summaryAnswer     `json:"center_item"`
	Items  []neighbourAnswer `json:"related_items"`
	// Edges are the relations among these items, the nearer item first.
	Edges [][2]string `json:"edges"`
	Stats graphStats  `json:"graph_stats"`
	// Truncated is set when max_results left out some items, and EdgesTruncated when there
	// are more relations among the items than Edges has.
	Truncated      bool `json:"truncated,omitempty"`
	EdgesTruncated bool `json:"edges_truncated,omitempty"`
}

type neighbourAnswer struct {
	Item         summaryAnswer `json:"item"`
	Distance     int           `json:"distance"`
	Relationship string        `json:"relationship"`
}

type graphStats struct {
	Nodes int `json:"total_nodes"`
	Edges int `json:"total_edges"`
	Depth int `json:"max_depth"`
}

type pathsAnswer struct {
	Paths     []pathAnswer `json:"paths"`
	Shortest  int          `json:"shortest_path_length"`
	Total     int          `json:"total_paths_found"`
	Truncated bool         `json:"truncated,omitempty"`
}

type pathAnswer struct {
	Items  []summaryAnswer `json:"items"`
	Length int             `json:"length"`
	Weight float64         `json:"weight"`
}

type tagAnswer struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type statusAnswer struct {
	Name   string `json:"name"`
	Closed bool   `json:"closed"`
}

type stateAnswer struct {
	Content *string `json:"content,omitempty"`
	// ContentLength and Changed are as in itemAnswer.
	ContentLength *int          `json:"content_length,omitempty"`
	Metadata      stateMetadata `json:"metadata"`
	Changed       *[]string     `json:"changed,omitempty"`
}

type stateMetadata struct {
	UpdatedBy *string  `json:"updated_by"`
	UpdatedAt *string  `json:"updated_at"`
	Related   []string `json:"related"`
	Tags      []string `json:"tags"`
}

func newItemAnswer(found Found) itemAnswer {
	i := &found.Item
	a := itemAnswer{
		ID: i.ID, Type: i.Type, Title: i.Title, Description: i.Description, Content: &i.Content,
		Status: i.Status, Priority: i.Priority, Category: textOrNull(i.Category), Version: textOrNull(i.Version),
		StartDate: textOrNull(moment(i.Start)), EndDate: textOrNull(moment(i.End)),
		Related: refTexts(i.Related), Tags: append([]string{}, i.Tags...),
		CreatedAt: moment(i.CreatedAt), UpdatedAt: moment(i.UpdatedAt),
		DroppedRelated: refTexts(found.DroppedRelated), DroppedTags: found.DroppedTags,
	}
	if !found.Former.IsZero() {
		a.MovedFrom = found.Former.String()
	}
	if found.Changed != nil {
		a.Changed = &found.Changed
	}
	return a
}

// newWrittenAnswer returns the answer of a write: the item without its content, which
// the caller knows. REST answers the whole item.
func newWrittenAnswer(found Found, call *gateway.Call) itemAnswer {
	a := newItemAnswer(found)
	if call.Via != viaItems {
		a.Content, a.ContentLength = nil, new(utf8.RuneCountInString(found.Item.Content))
	}
	return a
}

func newBulkEntry(found Found) bulkEntry {
	return bulkEntry{
		newSummaryAnswer(found.Item.Summary()), found.Changed, refTexts(found.DroppedRelated), found.DroppedTags,
	}
}

func newSummaryAnswer(s Summary) summaryAnswer {
	return summaryAnswer{s.ID, s.Type, s.Title, s.Status, s.Priority, append([]string{}, s.Tags...), moment(s.CreatedAt), moment(s.UpdatedAt)}
}

func newStateAnswer(s State) stateAnswer {
	return stateAnswer{Content: &s.Content, Metadata: stateMetadata{
		textOrNull(s.UpdatedBy), textOrNull(moment(s.UpdatedAt)), refTexts(s.Related), append([]string{}, s.Tags...),
	}}
}

func newWrittenStateAnswer(s State, changed []string, call *gateway.Call) stateAnswer {
	a := newStateAnswer(s)
	a.Changed = &changed
	if call.Via != viaItems {
		a.Content, a.ContentLength = nil, new(utf8.RuneCountInString(s.Content))
	}
	return a
}

func newRelatedAnswer(n Neighbourhood) relatedAnswer {
	a := relatedAnswer{
		Center: newSummaryAnswer(n.Center), Items: []neighbourAnswer{},
		Edges: all(n.Links, func(l [2]Ref) [2]string { return [2]string{l[0].String(), l[1].String()} }),
		Stats: graphStats{len(n.Items) + 1, n.Edges, n.Depth}, Truncated: n.Truncated, EdgesTruncated: len(n.Links) < n.Edges,
	}
	for _, one := range n.Items {
		relationship := "indirect"
		if one.Distance == 1 {
			relationship = "direct"
		}
		a.Items = append(a.Items, neighbourAnswer{newSummaryAnswer(one.Summary), one.Distance, relationship})
	}
	return a
}

func newPathsAnswer(r Routes) pathsAnswer {
	a := pathsAnswer{Paths: []pathAnswer{}, Shortest: -1, Total: len(r.Each), Truncated: r.Truncated}
	for _, route := range r.Each {
		length := len(route) - 1
		if a.Shortest < 0 {
			a.Shortest = length // the first is the shortest
		}
		a.Paths = append(a.Paths, pathAnswer{all(route, newSummaryAnswer), length, 1 / float64(max(length, 1))})
	}
	return a
}

func newMatchAnswer(m Match) matchAnswer {
	const digits = 1e4
	return matchAnswer{newSummaryAnswer(m.Summary), m.Snippet, math.Round(m.Score*digits) / digits}
}

// all converts each element of a list. An empty list is encoded as [] and not as null.
func all[T, A any](list []T, answer func(T) A) []A {
	out := make([]A, len(list))
	for i, one := range list {
		out[i] = answer(one)
	}
	return out
}

func refTexts(refs []Ref) []string { return all(refs, Ref.String) }

// moment formats a time. A zero time is the empty string.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// errorAnswer is the JSON form of an error.
type errorAnswer struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Type      string         `json:"type"`
		Details   map[string]any `json:"details"`
		Timestamp string         `json:"timestamp"`
	} `json:"data"`
}

func newErrorAnswer(e *Error, translate gateway.Translate) errorAnswer {
	a := errorAnswer{Code: e.Code, Message: e.in(translate)}
	a.Data.Type, a.Data.Timestamp = e.Name, moment(e.Time)
	d, details := &e.Details, map[string]any{}
	if e.Code == CodeItemNotFound {
		details["type"], details["id"], details["requested_id"] = d.Ref.Type, d.Ref.ID, d.Ref.String()
	}
	if !d.Actual.IsZero() {
		details["actual_id"] = d.Actual.String()
	}
	if d.Field != "" {
		details["field"] = d.Field
		if e.Code != CodeItemNotFound {
			details["value"] = d.Value
		}
	}
	constraint := d.Violated
	if constraint == "" {
		constraint = d.Constraint.In(translate)
	}
	for key, text := range map[string]string{"constraint": constraint, "message": d.Hint.In(translate)} {
		if text != "" {
			details[key] = text
		}
	}
	if d.List != "" {
		details["index"] = d.Index
	}
	if len(d.Others) > 0 {
		details["others"] = all(d.Others, func(o Details) map[string]any {
			other := map[string]any{"field": o.Field, "value": o.Value, "constraint": o.Constraint.In(translate)}
			if o.List != "" {
				other["index"] = o.Index
			}
			return other
		})
	}
	if d.More > 0 {
		details["more"] = d.More
	}
	if errors.Is(e.Err, gateway.ErrNoSpace) {
		details["reason"] = ReasonNoSpace
	}
	a.Data.Details = details
	return a
}

// newResult returns the answer as text and as structured content, because clients
// show one or the other.
func newResult(answer any, err error, translate gateway.Translate) (*gateway.Result, error) {
	isError, code := false, ""
	if err != nil {
		var own *Error
		if !errors.As(err, &own) {
			return nil, err
		}
		answer, isError, code = newErrorAnswer(own, translate), true, own.kind().String()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil {
		return nil, err
	}
	encoded := bytes.TrimRight(b.Bytes(), "\n")
	raw := make([]byte, 0, 2*len(encoded)+len(encoded)/4+100)
	raw = append(raw, `{"content":[{"type":"text","text":`...)
	raw = jsonrpc.AppendQuoted(raw, string(encoded))
	raw = append(append(raw, `}],"structuredContent":`...), encoded...)
	if isError {
		raw = append(raw, `,"isError":true,"_meta":{"`+gateway.MetaPrefix+`error":{"code":"`+code+`"}}`...)
	}
	return &gateway.Result{Raw: append(raw, '}'), IsError: isError}, nil
}
