package kb

import (
	"context"
	"encoding/json"
	"slices"

	"genkan/internal/gateway"
)

// tool is one of the sixteen tools.
type tool struct {
	name, title, description string
	properties               []property
	required                 []string
	effect                   effect
	run                      func(ctx context.Context, b *Base, call *gateway.Call, in *arguments) (any, error)
}

// effect is the effect of a call on the stored data.
type effect uint8

const (
	reads   effect = iota
	adds           // a second call adds again
	changes        // a second call changes nothing more
)

// property is an argument in the input schema. The schema keeps the order of the table.
type property struct {
	name   string
	schema schema
}

type schema struct {
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Format      string          `json:"format,omitempty"`
	Enum        []Priority      `json:"enum,omitempty"`
	Items       *schema         `json:"items,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
}

func text(name, description string) property {
	return property{name, schema{Type: "string", Description: description}}
}

func number(name, description string) property {
	return property{name, schema{Type: "number", Description: description}}
}

func texts(name, description string) property {
	return property{name, schema{Type: "array", Items: &schema{Type: "string"}, Description: description}}
}

func dated(name, format, description string) property {
	return property{name, schema{Type: "string", Format: format, Description: description}}
}

// fieldProperties returns the fields of an item, as create_item and update_item
// accept them.
func fieldProperties(creating bool) []property {
	usual := func(text, usual string) string {
		if creating {
			return text + " (" + usual + ")"
		}
		return text
	}
	replacing := "; they replace all that there are"
	if creating {
		replacing = ""
	}
	priority := text("priority", usual("Priority", "default: MEDIUM"))
	priority.schema.Enum = Priorities()
	fields := []property{
		text("title", usual("Title, 1 to 200 characters", "required")),
		text("description", usual("Description, at most 1,000 characters", "default: empty")),
		text("content", usual("Content in Markdown, at most 102,400 characters", "default: empty")),
		text("status", usual("Name of a status, see get_statuses", "default: the first open one, Open unless configured")),
		priority,
		text("category", usual("Category", "optional")),
		dated("start_date", "date-time", usual("When it starts", "optional")),
		dated("end_date", "date-time", usual("When it ends", "optional")),
		text("version", usual("Version", "optional")),
		texts("related", usual("References of related items, such as [\"docs-1\", \"docs-2\"]"+replacing, "optional")),
		texts("tags", usual("Tags"+replacing, "optional")),
	}
	if creating {
		return fields
	}
	return append(
		fields,
		texts("add_related", "References of items to relate to; the other relations stay"),
		texts("remove_related", "References of items to relate to no longer"),
		texts("add_tags", "Tags to add; the others stay"),
		texts("remove_tags", "Tags to take away"),
	)
}

func itemProperties() []property {
	return []property{text("type", "Type of the item"), number("id", "Id of the item")}
}

func pageProperties() []property {
	return []property{
		number("limit", "How many at most (default: 20, maximum: 100)"),
		number("offset", "How many to leave out from the start (default: 0)"),
	}
}

func dayProperties() []property {
	return []property{
		dated("start_date", "date", "Updated on this day (UTC) or later, YYYY-MM-DD"),
		dated("end_date", "date", "Updated on this day (UTC) or earlier, YYYY-MM-DD"),
	}
}

// toolTable returns the sixteen tools.
func toolTable() []tool {
	types := texts("types", "Types to look in (default: all)")
	return []tool{
		{
			"create_item", "Create item", "Create a new item (a node) in the knowledge base.",
			append([]property{text("type", "Type of the item: any text of 1 to 50 characters, such as docs or issues")}, fieldProperties(true)...),
			[]string{"type", "title"},
			adds, createItem,
		},
		{
			"get_item_detail", "Get item", "Get one item with everything it has, by its type and id: docs-12 is type docs, id 12.",
			itemProperties(),
			[]string{"type", "id"},
			reads, getItemDetail,
		},
		{
			"get_items", "List items", "List the items of a type, the last updated first, without their contents. " +
				"Items in closed statuses are left out unless they are asked for.",
			append([]property{
				text("type", "Type of the items"),
				texts("statuses", "Names of statuses, any of which the items may have; they override includeClosedStatuses"),
				{"includeClosedStatuses", schema{Type: "boolean", Description: "Also items in closed statuses (default: false)"}},
			}, append(dayProperties(), pageProperties()...)...),
			[]string{"type"},
			reads, getItems,
		},
		{
			"update_item", "Update item", "Change an existing item. Fields that are not given stay as they are; null clears one.",
			append(itemProperties(), fieldProperties(false)...),
			[]string{"type", "id"},
			changes, updateItemTool,
		},
		{
			"delete_item", "Delete item", "Delete an item, and the relations that others have with it.",
			itemProperties(),
			[]string{"type", "id"},
			changes, deleteItemTool,
		},
		{
			"search_items", "Search items", "Search titles, descriptions and contents for items that have all words of the query, the best first. " +
				"Works in English and Japanese.",
			slices.Concat([]property{
				text("query", "What to look for"), types,
				texts("statuses", "Names of statuses, any of which the items may have (default: all)"),
				text("tag", "A tag that the items must have"),
			}, dayProperties(), pageProperties()),
			[]string{"query"},
			reads, searchItems,
		},
		{
			"search_suggest", "Suggest searches", "Complete the beginning of a search query.",
			[]property{text("query", "The beginning of a query"), types, number("limit", "How many at most (default: 10, maximum: 20)")},
			[]string{"query"},
			reads, searchSuggest,
		},
		{
			"get_related_items", "Explore related items", "Explore the items around one along their relations, the nearest first.",
			append(
				itemProperties(),
				number("depth", "How many relations away at most (default: 1, maximum: 3)"),
				number("max_results", "How many items at most (default: 50, maximum: 1000)"),
			),
			[]string{"type", "id"},
			reads, getRelatedItems,
		},
		{
			"find_path", "Find paths", "Find all shortest paths between two items along their relations.",
			[]property{
				text("from_type", "Type of the first item"), number("from_id", "Id of the first item"),
				text("to_type", "Type of the other item"), number("to_id", "Id of the other item"),
				number("max_depth", "How many relations long at most (default: 5, maximum: 10)"),
			},
			[]string{"from_type", "from_id", "to_type", "to_id"},
			reads, findPath,
		},
		{"get_tags", "List tags", "List all tags with how many items have each, the most used first.", nil, nil, reads, getTags},
		{
			"search_items_by_tag", "Find items by tag", "List the items that have a tag, in any status, the last updated first.",
			append([]property{text("tag", "Name of the tag"), types}, pageProperties()...),
			[]string{"tag"},
			reads, searchItemsByTag,
		},
		{"get_statuses", "List statuses", "List all statuses that items may have, and which of them are closed.", nil, nil, reads, getStatuses},
		{"get_current_state", "Get current state", "Get the text about the current state of the project.", nil, nil, reads, getCurrentState},
		{
			"update_current_state", "Update current state", "Write the text about the current state of the project. It replaces the one before.",
			[]property{
				text("content", "The state in Markdown, at most 102,400 characters"),
				text("updated_by", "Who updates it, such as ai-start or ai-finish (default: the caller)"),
				texts("related", "References of related items (default: as before)"),
				texts("tags", "Tags (default: as before)"),
			},
			[]string{"content"},
			changes, updateCurrentState,
		},
		{
			"change_item_type", "Change item type", "Change the type of an item. It gets a new id and keeps its relations; its old reference goes on finding it.",
			[]property{
				text("from_type", "Type that the item has"), number("from_id", "Id that the item has"),
				text("to_type", "Type that the item gets"),
			},
			[]string{"from_type", "from_id", "to_type"},
			changes, changeItemType,
		},
		{
			"bulk_update", "Update many items", "Change up to 1,000 items at once: all of them, or none if anything is wrong.",
			[]property{{"updates", schema{Type: "array", Items: &schema{
				Type: "object", Required: []string{"type", "id", "data"},
				Properties: encodeProperties(append(itemProperties(), property{"data", schema{
					Type: "object", Description: "The fields to change, as in update_item",
					Properties: encodeProperties(fieldProperties(false)),
				}})),
			}}}},
			[]string{"updates"},
			changes, bulkUpdate,
		},
	}
}

func names(properties []property) []string {
	out := make([]string, len(properties))
	for i, p := range properties {
		out[i] = p.name
	}
	return out
}

// known returns the names of the tool's arguments.
func (t *tool) known() []string { return names(t.properties) }

// spares reports whether a call may omit the required arguments. The list of REST's
// own route may include all types: a person starts there, while an agent is better
// off with a search. A call of the tool over REST, which asks for a check of its
// arguments, is like any other.
func (t *tool) spares(call *gateway.Call) bool {
	return call.Via == "rest" && !call.Complete && t.name == "get_items"
}

// encodeProperties keeps the order of the properties: the most important come first.
func encodeProperties(properties []property) json.RawMessage {
	out := []byte{'{'}
	for i, p := range properties {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), p.name...), `":`...)
		out = append(out, mustEncode(p.schema)...)
	}
	return append(out, '}')
}

func mustEncode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("kb: a definition that cannot be encoded")
	}
	return raw
}

// encode returns the tool in the form that clients get.
func (t *tool) encode() gateway.Tool {
	type annotations struct {
		Title       string `json:"title"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Destructive bool   `json:"destructiveHint"`
		Idempotent  bool   `json:"idempotentHint"`
		OpenWorld   bool   `json:"openWorldHint"`
	}
	hints := annotations{t.title, t.effect == reads, t.effect == changes, t.effect != adds, false}
	return gateway.Tool{
		Kind: gateway.KindTool, Name: t.name, ReadOnly: hints.ReadOnly, Idempotent: hints.Idempotent, ChecksArguments: true,
		Definition: mustEncode(struct {
			Name        string      `json:"name"`
			Title       string      `json:"title"`
			Description string      `json:"description"`
			InputSchema schema      `json:"inputSchema"`
			Annotations annotations `json:"annotations"`
		}{
			t.name, t.title, t.description,
			schema{Type: "object", Properties: encodeProperties(t.properties), Required: t.required},
			hints,
		}),
	}
}
