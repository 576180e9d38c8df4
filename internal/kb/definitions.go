package kb

import (
	"context"
	"encoding/json"
	"slices"

	"genkan/internal/gateway"
)

// tool is one of the sixteen tools.
type tool struct {
	name               string
	title, description gateway.Text
	properties         []property
	required           []string
	effect             effect
	// tags and examples describe the tool in the registry and to the search.
	tags     []string
	examples []example
	run      func(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error)
}

// category is the category of all tools in the registry.
const category = "knowledge"

// example shows how a tool is used. Parameters and result are JSON.
type example struct {
	description        gateway.Text
	parameters, result string
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
	name        string
	description gateway.Text
	schema      schema
	// fields are the properties of an object, or of the objects in an array.
	fields   []property
	required []string
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

// say returns a text without values.
func say(format string) gateway.Text { return gateway.Text{Format: format} }

func text(name, description string) property {
	return property{name: name, description: say(description), schema: schema{Type: "string"}}
}

func number(name, description string) property {
	return property{name: name, description: say(description), schema: schema{Type: "number"}}
}

func flag(name, description string) property {
	return property{name: name, description: say(description), schema: schema{Type: "boolean"}}
}

func texts(name, description string) property {
	return property{name: name, description: say(description), schema: schema{Type: "array", Items: &schema{Type: "string"}}}
}

func moments(name, description string) property {
	return property{name: name, description: say(description), schema: schema{Type: "string", Format: "date-time"}}
}

func days(name, description string) property {
	return property{name: name, description: say(description), schema: schema{Type: "string", Format: "date"}}
}

func priority(description string) property {
	return property{name: "priority", description: say(description), schema: schema{Type: "string", Enum: Priorities()}}
}

// newFields returns the fields of an item, as create_item accepts them.
func newFields() []property {
	return []property{
		text("title", "Title, 1 to 200 characters (required)"),
		text("description", "Description, at most 1,000 characters (default: empty)"),
		text("content", "Content in Markdown, at most 102,400 characters (default: empty)"),
		text("status", "Name of a status, see get_statuses (default: the first open one, Open unless configured)"),
		priority("Priority (default: MEDIUM)"),
		text("category", "Category (optional)"),
		moments("start_date", "When it starts (optional)"),
		moments("end_date", "When it ends (optional)"),
		text("version", "Version (optional)"),
		texts("related", "References of related items, such as [\"docs-1\", \"docs-2\"] (optional)"),
		texts("tags", "Tags (optional)"),
	}
}

// changedFields returns the fields of an item, as update_item accepts them.
func changedFields() []property {
	return []property{
		text("title", "Title, 1 to 200 characters"),
		text("description", "Description, at most 1,000 characters"),
		text("content", "Content in Markdown, at most 102,400 characters"),
		text("status", "Name of a status, see get_statuses"),
		priority("Priority"),
		text("category", "Category"),
		moments("start_date", "When it starts; \"\" clears it"),
		moments("end_date", "When it ends; \"\" clears it"),
		text("version", "Version"),
		texts("related", "References of related items, such as [\"docs-1\", \"docs-2\"]; they replace all that there are"),
		texts("tags", "Tags; they replace all that there are"),
		texts("add_related", "References of items to relate to; the other relations stay"),
		texts("remove_related", "References of items to relate to no longer"),
		texts("add_tags", "Tags to add; the others stay"),
		texts("remove_tags", "Tags to take away"),
	}
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
		days("start_date", "Updated on this day (UTC) or later, YYYY-MM-DD"),
		days("end_date", "Updated on this day (UTC) or earlier, YYYY-MM-DD"),
	}
}

// toolTable returns the sixteen tools. Their descriptions say when to use them.
func toolTable() []tool {
	types := texts("types", "Types to look in (default: all)")
	return []tool{
		{
			name: "create_item", title: say("Create item"),
			description: say("Create a new item (a node): remember a decision, note, task, issue or document for later conversations. " +
				"Look with search_items first."),
			properties: append([]property{text("type", "Type of the item: any text of 1 to 50 characters, such as docs or issues")}, newFields()...),
			required:   []string{"type", "title"},
			effect:     adds, run: createItem,
			tags: []string{"remember", "memory", "take a note", "memo", "save"},
			examples: []example{
				{
					say("Remember a decision"),
					`{"type":"decisions","title":"Use SQLite","content":"One file, no server to run.","tags":["storage"],"related":["docs-12"]}`,
					`{"id":13,"type":"decisions","title":"Use SQLite","status":"Open","content_length":27}`,
				},
				{say("Take a note of this for later"), `{"type":"notes","title":"Where the keys are","content":"Under the mat."}`, ""},
			},
		},
		{
			name: "get_item_detail", title: say("Get item"),
			description: say("Get one item with its content, by its type and id: docs-12 is type docs, id 12. Lists and searches leave contents out."),
			properties:  itemProperties(), required: []string{"type", "id"},
			effect: reads, run: getItemDetail,
			tags:     []string{"read", "item"},
			examples: []example{{say("Read docs-12"), `{"type":"docs","id":12}`, ""}},
		},
		{
			name: "get_items", title: say("List items"),
			description: say("List the items of a type, the last updated first, without their contents, such as open issues. " +
				"Items in closed statuses are left out unless they are asked for."),
			properties: append([]property{
				text("type", "Type of the items"),
				texts("statuses", "Names of statuses, any of which the items may have; they override includeClosedStatuses"),
				flag("includeClosedStatuses", "Also items in closed statuses (default: false)"),
			}, append(dayProperties(), pageProperties()...)...),
			required: []string{"type"},
			effect:   reads, run: getItems,
			tags:     []string{"list", "item"},
			examples: []example{{say("Which issues are in progress"), `{"type":"issues","statuses":["In Progress"]}`, ""}},
		},
		{
			name: "update_item", title: say("Update item"),
			description: say("Change an existing item, such as its status or content. Fields that are not given stay as they are; null or \"\" clears one. " +
				"The answer says what changed."),
			properties: append(itemProperties(), changedFields()...), required: []string{"type", "id"},
			effect: changes, run: updateItemTool,
			tags:     []string{"edit", "item"},
			examples: []example{{say("Mark an issue as done"), `{"type":"issues","id":7,"status":"Completed","add_tags":["v2"]}`, `{"id":7,"type":"issues","changed":["status","tags"]}`}},
		},
		{
			name: "delete_item", title: say("Delete item"),
			description: say("Delete an item, and the relations that others have with it. To keep it off lists only, give it a closed status."),
			properties:  itemProperties(), required: []string{"type", "id"},
			effect: changes, run: deleteItemTool,
			tags:     []string{"remove", "item"},
			examples: []example{{say("Delete a note"), `{"type":"notes","id":3}`, `{"deleted":true,"type":"notes","id":3}`}},
		},
		{
			name: "search_items", title: say("Search items"),
			description: say("Find out what we know about something: full-text search of the knowledge base, in titles, descriptions and contents, " +
				"for all words of the query, the best first, in English and Japanese. Use it before create_item."),
			properties: slices.Concat([]property{
				text("query", "What to look for"), types,
				texts("statuses", "Names of statuses, any of which the items may have (default: all)"),
				text("tag", "A tag that the items must have"),
			}, dayProperties(), pageProperties()),
			required: []string{"query"},
			effect:   reads, run: searchItems,
			tags:     []string{"find", "recall", "know", "what we know", "look up"},
			examples: []example{{say("What do we know about this"), `{"query":"gateway","types":["docs","decisions"]}`, ""}, {say("Look up what we decided about this before"), `{"query":"database","types":["decisions"]}`, ""}},
		},
		{
			name: "search_suggest", title: say("Suggest completions"),
			description: say("Complete the beginning of a query, to learn which words items have."),
			properties:  []property{text("query", "The beginning of a query"), types, number("limit", "How many at most (default: 10, maximum: 20)")},
			required:    []string{"query"},
			effect:      reads, run: searchSuggest,
			tags:     []string{"complete", "autocomplete"},
			examples: []example{{say("How does a title go on"), `{"query":"API des"}`, `{"suggestions":["API design"]}`}},
		},
		{
			name: "get_related_items", title: say("Explore related items"),
			description: say("Explore the items around one along their relations, the nearest first, with the relations among them."),
			properties: append(
				itemProperties(),
				number("depth", "How many relations away at most (default: 1, maximum: 3)"),
				number("max_results", "How many items at most (default: 50, maximum: 1000)"),
			),
			required: []string{"type", "id"},
			effect:   reads, run: getRelatedItems,
			tags:     []string{"graph", "relations"},
			examples: []example{{say("What belongs to this issue"), `{"type":"issues","id":7,"depth":2}`, ""}},
		},
		{
			name: "find_path", title: say("Find paths"),
			description: say("Find how two items are connected: the paths between them along their relations, the shortest first, at most ten. truncated: more may exist."),
			properties: []property{
				text("from_type", "Type of the first item"), number("from_id", "Id of the first item"),
				text("to_type", "Type of the other item"), number("to_id", "Id of the other item"),
				number("max_depth", "How many relations long at most (default: 5, maximum: 10)"),
			},
			required: []string{"from_type", "from_id", "to_type", "to_id"},
			effect:   reads, run: findPath,
			tags:     []string{"graph", "relations"},
			examples: []example{{say("How an issue and a document are connected"), `{"from_type":"issues","from_id":7,"to_type":"docs","to_id":12}`, ""}},
		},
		{
			name: "get_tags", title: say("List tags"),
			description: say("List all tags with how many items have each, the most used first. Look here before inventing a tag."),
			effect:      reads, run: getTags,
			tags:     []string{"tags"},
			examples: []example{{say("Which tags are there"), `{}`, `{"tags":[{"name":"storage","count":4}]}`}},
		},
		{
			name: "search_items_by_tag", title: say("Find items by tag"),
			description: say("List the items that have a tag, in any status, the last updated first."),
			properties:  append([]property{text("tag", "Name of the tag"), types}, pageProperties()...),
			required:    []string{"tag"},
			effect:      reads, run: searchItemsByTag,
			tags:     []string{"tags", "find"},
			examples: []example{{say("All that has the tag storage"), `{"tag":"storage"}`, ""}},
		},
		{
			name: "get_statuses", title: say("List statuses"),
			description: say("List all statuses that items may have, and which of them are closed."),
			effect:      reads, run: getStatuses,
			tags:     []string{"statuses"},
			examples: []example{{say("Which statuses are there"), `{}`, `{"statuses":[{"name":"Open","closed":false}]}`}},
		},
		{
			name: "get_current_state", title: say("Get current state"),
			description: say("Get the text about the current state of the project: where the last conversation left off. Read it first."),
			effect:      reads, run: getCurrentState,
			tags:     []string{"state", "resume"},
			examples: []example{{say("Where did we stop last time"), `{}`, ""}},
		},
		{
			name: "update_current_state", title: say("Update current state"),
			description: say("Write the text about the current state of the project, for the next conversation. It replaces the one before."),
			properties: []property{
				text("content", "The state in Markdown, at most 102,400 characters"),
				text("updated_by", "Who updates it, such as ai-start or ai-finish (default: the caller)"),
				texts("related", "References of related items (default: as before)"),
				texts("tags", "Tags (default: as before)"),
			},
			required: []string{"content"},
			effect:   changes, run: updateCurrentState,
			tags:     []string{"state", "handover"},
			examples: []example{{say("Hand over to the next conversation"), `{"content":"Migration done; next: the API.","updated_by":"ai-finish"}`, ""}},
		},
		{
			name: "change_item_type", title: say("Change item type"),
			description: say("Change the type of an item. It gets a new id and keeps its relations; its old reference goes on finding it."),
			properties: []property{
				text("from_type", "Type that the item has"), number("from_id", "Id that the item has"),
				text("to_type", "Type that the item gets"),
			},
			required: []string{"from_type", "from_id", "to_type"},
			effect:   changes, run: changeItemType,
			tags:     []string{"convert", "item"},
			examples: []example{{say("Make an issue of a note"), `{"from_type":"notes","from_id":3,"to_type":"issues"}`, ""}},
		},
		{
			name: "bulk_update", title: say("Update many items"),
			description: say("Change up to 1,000 items at once: all of them, or none if anything is wrong."),
			properties: []property{{
				name: "updates", schema: schema{Type: "array"}, required: []string{"type", "id", "data"},
				fields: append(itemProperties(), property{
					name: "data", description: say("The fields to change, as in update_item"),
					schema: schema{Type: "object"}, fields: changedFields(),
				}),
			}},
			required: []string{"updates"},
			effect:   changes, run: bulkUpdate,
			tags:     []string{"edit", "batch"},
			examples: []example{{say("Close two issues"), `{"updates":[{"type":"issues","id":7,"data":{"status":"Closed"}},{"type":"issues","id":8,"data":{"status":"Closed"}}]}`, ""}},
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

// viaItems is the edge of the REST routes of items. There a list may include all types: a
// person starts there, while an agent is better off with a search. Writes answer the whole
// item there, as REST does.
const viaItems = "items"

// spares reports whether callers through an edge may omit the required arguments.
func (t *tool) spares(via string) bool { return via == viaItems && t.name == "get_items" }

// encode returns the schema of the property.
func (p *property) encode(translate gateway.Translate) schema {
	s := p.schema
	s.Description = p.description.In(translate)
	switch {
	case p.fields == nil:
	case s.Type == "array":
		s.Items = &schema{Type: "object", Properties: encodeProperties(p.fields, translate), Required: p.required}
	default:
		s.Properties = encodeProperties(p.fields, translate)
	}
	return s
}

// encodeProperties keeps the order of the properties: the most important come first.
func encodeProperties(properties []property, translate gateway.Translate) json.RawMessage {
	out := []byte{'{'}
	for i := range properties {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), properties[i].name...), `":`...)
		out = append(out, mustEncode(properties[i].encode(translate))...)
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

// encode returns the tool in the form that clients get. The search knows it in the
// other languages, too.
func (t *tool) encode(translate gateway.Translate, others []gateway.Translate) gateway.Tool {
	type annotations struct {
		Title       string `json:"title"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Destructive bool   `json:"destructiveHint"`
		Idempotent  bool   `json:"idempotentHint"`
		OpenWorld   bool   `json:"openWorldHint"`
	}
	title := t.title.In(translate)
	hints := annotations{title, t.effect == reads, t.effect == changes, t.effect != adds, false}
	labels := &gateway.ToolLabels{Category: category, Tags: t.tags}
	for _, e := range t.examples {
		one := gateway.ToolExample{Description: e.description.In(translate), Parameters: json.RawMessage(e.parameters)}
		if e.result != "" {
			one.ExpectedResult = json.RawMessage(e.result)
		}
		labels.Examples = append(labels.Examples, one)
	}
	for _, other := range others {
		labels.Translations += say("Knowledge base").In(other) + "\n" + t.title.In(other) + "\n" + t.description.In(other) + "\n"
		for _, e := range t.examples {
			labels.Translations += e.description.In(other) + "\n"
		}
	}
	return gateway.Tool{
		Kind: gateway.KindTool, Name: t.name, ReadOnly: hints.ReadOnly, Idempotent: hints.Idempotent, ChecksArguments: true, Labels: labels,
		Definition: mustEncode(struct {
			Name        string      `json:"name"`
			Title       string      `json:"title"`
			Description string      `json:"description"`
			InputSchema schema      `json:"inputSchema"`
			Annotations annotations `json:"annotations"`
		}{
			t.name, title, t.description.In(translate),
			schema{Type: "object", Properties: encodeProperties(t.properties, translate), Required: t.required},
			hints,
		}),
	}
}
