package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The knowledge base is genkan's own, so nothing stands behind it. These steps make
// two related items, and find them again by words and along the graph.

// knowledgeBase is what is behind genkan then.
const knowledgeBase = "its knowledge base alone"

// made is an item that a visit has made.
type made struct {
	ID     int64  `json:"id"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

func (m made) ref() string { return fmt.Sprintf("%s-%d", m.Type, m.ID) }

// knowledgeSteps are for one visit: they remember what they made.
func knowledgeSteps() []step {
	var first, second made
	return []step{
		{"seventeen tools", func(ctx context.Context, v *visit) error {
			raw, err := v.peer.do(ctx, "tools/list", map[string]any{})
			if err != nil {
				return err
			}
			var list struct {
				Tools []json.RawMessage `json:"tools"`
			}
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
			if n := len(list.Tools); n != 17 { // with read_result
				return fmt.Errorf("%d tools are listed", n)
			}
			return nil
		}},
		{"create two related items", func(ctx context.Context, v *visit) error {
			err := v.answer(ctx, "create_item", map[string]any{"type": "docs", "title": "玄関の設計 " + v.name, "tags": []string{"house"}}, &first)
			if err != nil {
				return err
			}
			err = v.answer(ctx, "create_item", map[string]any{"type": "issues", "title": "Open the door for " + v.name, "related": []string{first.ref()}}, &second)
			if err == nil && (first.ID == 0 || second.ID <= first.ID || first.Status != "Open") {
				err = fmt.Errorf("made were %+v and %+v", first, second)
			}
			return err
		}},
		{"search_items", func(ctx context.Context, v *visit) error {
			for query, want := range map[string]made{"設計 " + v.name: first, "door " + v.name: second} {
				var found struct {
					Total int    `json:"total"`
					Items []made `json:"items"`
				}
				if err := v.answer(ctx, "search_items", map[string]any{"query": query}, &found); err != nil {
					return err
				}
				if found.Total == 0 || len(found.Items) == 0 || found.Items[0].ID != want.ID {
					return fmt.Errorf("%q found %+v", query, found)
				}
			}
			return nil
		}},
		{"get_related_items", func(ctx context.Context, v *visit) error {
			var around struct {
				Items []struct {
					Item         made   `json:"item"`
					Distance     int    `json:"distance"`
					Relationship string `json:"relationship"`
				} `json:"related_items"`
				Stats struct {
					Nodes int `json:"total_nodes"`
					Edges int `json:"total_edges"`
				} `json:"graph_stats"`
			}
			if err := v.answer(ctx, "get_related_items", map[string]any{"type": first.Type, "id": first.ID, "depth": 2}, &around); err != nil {
				return err
			}
			if len(around.Items) != 1 || around.Items[0].Item.ID != second.ID || around.Items[0].Distance != 1 || around.Items[0].Relationship != "direct" || around.Stats.Edges != 1 {
				return fmt.Errorf("around it are %+v", around)
			}
			return nil
		}},
		{"find_path", func(ctx context.Context, v *visit) error {
			var paths struct {
				Paths []struct {
					Items  []made `json:"items"`
					Length int    `json:"length"`
				} `json:"paths"`
			}
			err := v.answer(ctx, "find_path", map[string]any{"from_type": second.Type, "from_id": second.ID, "to_type": first.Type, "to_id": first.ID}, &paths)
			if err != nil {
				return err
			}
			if len(paths.Paths) != 1 || paths.Paths[0].Length != 1 || len(paths.Paths[0].Items) != 2 || paths.Paths[0].Items[1].ID != first.ID {
				return fmt.Errorf("the paths are %+v", paths)
			}
			return nil
		}},
		{"an item that is not there", func(ctx context.Context, v *visit) error {
			raw, err := v.peer.do(ctx, "tools/call", calling("get_item_detail", map[string]any{"type": "docs", "id": 999_999}))
			if err != nil { // the Inspector ends with an error when a tool does
				return told(err.Error())
			}
			return told(string(raw))
		}},
	}
}

// told checks that the error of an item that is not there has arrived.
func told(text string) error {
	if !strings.Contains(text, "Item not found") {
		return errors.New("it was told " + text)
	}
	return nil
}

// answer calls a tool, and reads its structured answer or the text, which is the
// same.
func (v *visit) answer(ctx context.Context, tool string, arguments map[string]any, into any) error {
	raw, err := v.peer.do(ctx, "tools/call", calling(tool, arguments))
	if err != nil {
		return err
	}
	var result struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	if result.IsError || len(result.Content) == 0 {
		return fmt.Errorf("the result of %s is %s", tool, raw)
	}
	for _, said := range []json.RawMessage{result.Structured, json.RawMessage(result.Content[0].Text)} {
		if len(said) == 0 || string(said) == "null" {
			continue
		}
		if err := json.Unmarshal(said, into); err != nil {
			return fmt.Errorf("the answer of %s is %s: %w", tool, said, err)
		}
	}
	return nil
}

// visitKnowledge has the clients use the knowledge base alone, over both wires.
func (l *lab) visitKnowledge(r peersReport, chosen []guest) (peersReport, error) {
	defer l.stopAll()
	house := map[string]any{"mcpServers": map[string]server{}}
	d, err := l.openDoorWith("knowledge", house)
	if err != nil {
		return r, err
	}
	for _, c := range chosen {
		for _, era := range c.eras {
			r = append(r, l.visitWith(c, era, overHTTP, knowledgeBase, knowledgeSteps(), target{URL: d.url() + "/s/kb", Token: d.token}))
			dir, err := l.furnishWith(fmt.Sprint("knowledge-", len(r)), house)
			if err != nil {
				return r, err
			}
			to := target{Command: l.stdioCommand(dir, "--only", "kb")}
			r = append(r, l.visitWith(c, era, overStdio, knowledgeBase, knowledgeSteps(), to))
		}
	}
	return r, l.ctx.Err()
}
