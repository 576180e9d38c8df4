package api

import (
	"math"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// knowledgeErrors is how REST clients see the codes of the knowledge base.
var knowledgeErrors = map[kb.Code]restError{
	kb.CodeItemNotFound:        {http.StatusNotFound, "ITEM_NOT_FOUND"},
	kb.CodeValidation:          restErrorOf(gateway.CodeInvalid),
	kb.CodeDatabase:            {http.StatusInternalServerError, "DATABASE_ERROR"},
	kb.CodeConstraintViolation: {http.StatusConflict, "CONSTRAINT_VIOLATION"},
	kb.CodePermissionDenied:    {http.StatusForbidden, "PERMISSION_DENIED"},
}

// statusNoSpace is the status of a database error when the disk is full.
const statusNoSpace = http.StatusInsufficientStorage

// knowledgeFailures returns the failures of every route of the knowledge base: its
// own, and those of any call.
func knowledgeFailures() []restError {
	all := []restError{
		{statusNoSpace, knowledgeErrors[kb.CodeDatabase].code},
		{http.StatusForbidden, "TOOL_DISABLED"},
		{http.StatusNotFound, "TOOL_NOT_FOUND"},
		restErrorOf(gateway.CodeConflict), restErrorOf(gateway.CodeTimeout), restErrorOf(gateway.CodeLimited),
		{http.StatusInternalServerError, "TOOL_EXECUTION_ERROR"},
	}
	for _, one := range knowledgeErrors {
		all = append(all, one)
	}
	return all
}

// itemRoutes returns the routes of the knowledge base. A reference ends with a
// hyphen and a number, so a word such as search cannot be a reference and may be in
// its place.
func (a *API) itemRoutes() []route {
	limit := query{name: "limit", kind: "integer", about: "Items on a page.", least: 1, most: kb.MaxPage, otherwise: kb.UsualPage}
	offset := query{name: "offset", kind: "integer", about: "How many to leave out from the start.", most: math.MaxInt32}
	types := query{name: "type", kind: "string", about: "Only items of this type; may be repeated.", repeats: true}
	since := query{name: "start_date", kind: "string", about: "Updated on this day (UTC) or later, YYYY-MM-DD."}
	until := query{name: "end_date", kind: "string", about: "Updated on this day (UTC) or earlier, YYYY-MM-DD."}
	list := []route{
		{
			method: "GET", path: "/v1/items", id: "listItems", summary: "List items of the knowledge base",
			about: "The last updated first, without their contents. Items in closed statuses are left out unless they are asked for. With a tag, they are in any status.",
			query: []query{
				{name: "type", kind: "string", about: "Only items of this type; with tag it may be repeated.", repeats: true},
				{name: "tag", kind: "string", about: "Only items with this tag. It goes with type only."},
				{name: "status", kind: "string", about: "Only items in this status; may be repeated, or have several with commas. It overrides includeClosed.", repeats: true},
				{name: "includeClosed", kind: "boolean", about: "Also items in closed statuses."},
				since, until, limit, offset,
			},
			answer: client.ItemList{}, serve: a.listItems,
		},
		{
			method: "POST", path: "/v1/items", id: "addItem", summary: "Make an item",
			body: client.NewItem{}, answer: client.Item{}, status: http.StatusCreated,
			serve: a.posted("create_item", http.StatusCreated),
		},
		{
			method: "GET", path: "/v1/items/search", id: "searchItems", summary: "Find items by their words",
			about: "Items that have all words of the query in title, description or content, the best first, in any status unless some are named. In English and Japanese.",
			query: []query{
				{name: "query", kind: "string", about: "What to look for."},
				types,
				{name: "status", kind: "string", about: "Only items in this status; may be repeated, or have several with commas.", repeats: true},
				{name: "tag", kind: "string", about: "Only items with this tag."},
				since, until, limit, offset,
			},
			answer: client.FoundItems{}, serve: a.searchItems,
		},
		{
			method: "GET", path: "/v1/items/suggest", id: "suggestItems", summary: "Complete the beginning of a search",
			query: []query{
				{name: "query", kind: "string", about: "The beginning of a query."},
				types,
				{name: "limit", kind: "integer", least: 1, most: kb.MaxSuggestions, otherwise: kb.UsualSuggestions},
			},
			answer: client.Suggestions{}, serve: a.suggestItems,
		},
		{
			method: "GET", path: "/v1/items/path", id: "findPath", summary: "Find all shortest paths between two items",
			query: []query{
				{name: "from", kind: "string", about: "The reference of an item, such as docs-12."},
				{name: "to", kind: "string", about: "The reference of the other."},
				{name: "max_depth", kind: "integer", about: "How many relations long at most.", least: 1, most: kb.MaxPathDepth, otherwise: kb.UsualPathDepth},
			},
			answer: client.ItemPaths{}, serve: a.findPath,
		},
		{
			method: "POST", path: "/v1/items/bulk", id: "changeItems", summary: "Change many items at once",
			about: "All of them, or none if anything is wrong; then details.index is the first that is.",
			body:  client.BulkUpdate{}, answer: client.BulkUpdated{},
			serve: a.posted("bulk_update", http.StatusOK),
		},
		{
			method: "GET", path: "/v1/items/export", id: "exportItems", summary: "Read all items",
			about:  "An Item as JSON on each line, in the order of their ids. The header " + client.TotalHeader + " says how many there were when it began. An export that fails midway breaks the connection.",
			answer: "", media: linesMedia, serve: a.exportItems,
		},
		{
			method: "GET", path: "/v1/items/{ref}", id: "getItem", summary: "Show an item",
			about:  "A reference is the type and the id with a hyphen between them: docs-12. One from before the item's type was changed is followed.",
			answer: client.Item{}, serve: a.getItem,
		},
		{
			method: "PATCH", path: "/v1/items/{ref}", id: "changeItem", summary: "Change an item",
			about: "What the body does not name stays; null or \"\" clears a field.",
			body:  client.ItemChange{}, answer: client.Item{}, serve: a.changeItem,
		},
		{
			method: "DELETE", path: "/v1/items/{ref}", id: "deleteItem", summary: "Delete an item, and others' relations with it",
			answer: client.DeletedItem{}, serve: a.deleteItem,
		},
		{
			method: "POST", path: "/v1/items/{ref}/type", id: "changeItemType", summary: "Give an item another type",
			about: "It gets a new id and keeps its relations; its old reference goes on finding it.",
			body:  client.NewType{}, answer: client.Item{}, serve: a.changeItemType,
		},
		{
			method: "GET", path: "/v1/items/{ref}/related", id: "relatedItems", summary: "Explore the items around one",
			query: []query{
				{name: "depth", kind: "integer", about: "How many relations away at most.", least: 1, most: kb.MaxDepth, otherwise: kb.UsualDepth},
				{name: "max_results", kind: "integer", about: "How many items at most.", least: 1, most: kb.MaxRelatedResults, otherwise: kb.UsualRelated},
			},
			answer: client.RelatedItems{}, serve: a.relatedItems,
		},
		{
			method: "GET", path: "/v1/tags", id: "listTags", summary: "List the tags of items",
			answer: client.TagList{}, serve: a.asked("get_tags"),
		},
		{
			method: "GET", path: "/v1/statuses", id: "listStatuses", summary: "List the statuses that items may have",
			answer: client.StatusList{}, serve: a.asked("get_statuses"),
		},
		{
			method: "GET", path: "/v1/state", id: "getState", summary: "Read the text about where things stand",
			answer: client.State{}, serve: a.asked("get_current_state"),
		},
		{
			method: "PUT", path: "/v1/state", id: "putState", summary: "Write the text about where things stand",
			body: client.NewState{}, answer: client.State{}, serve: a.posted("update_current_state", http.StatusOK),
		},
	}
	for i := range list {
		// As over MCP, every admitted caller may read and write.
		list[i].who = forCallers
		list[i].failures = knowledgeFailures()
	}
	return list
}
