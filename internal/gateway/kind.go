package gateway

// Kind says what a source offers under a name.
type Kind uint8

// The kinds.
const (
	KindTool Kind = iota
	KindPrompt
	KindResource
	KindTemplate
	// KindTask is a task that a server made of a call. Tasks are not listed.
	KindTask
	kindCount
)

// kinds holds the words of MCP for each kind.
var kinds = [kindCount]struct{ method, key, changed, name string }{
	KindTool:     {"tools/list", "tools", "notifications/tools/list_changed", "name"},
	KindPrompt:   {"prompts/list", "prompts", "notifications/prompts/list_changed", "name"},
	KindResource: {"resources/list", "resources", "notifications/resources/list_changed", "uri"},
	KindTemplate: {"resources/templates/list", "resourceTemplates", "notifications/resources/list_changed", "uriTemplate"},
	KindTask:     {"", "tasks", "", "taskId"},
}

// Kinds lists the kinds that have lists.
func Kinds() []Kind { return []Kind{KindTool, KindPrompt, KindResource, KindTemplate} }

// KindCount is how many kinds have lists, for tables by kind.
const KindCount = int(KindTask)

// KindOfList finds the kind that a list method asks for.
func KindOfList(method string) (Kind, bool) {
	for k := range KindCount {
		if kinds[k].method == method {
			return Kind(k), true
		}
	}
	return 0, false
}

// ListMethod is the request that lists the kind.
func (k Kind) ListMethod() string { return kinds[k].method }

// ListKey is where the list stands in the answer.
func (k Kind) ListKey() string { return kinds[k].key }

// Changed is the notification that the list is another one. Templates share
// that of resources.
func (k Kind) Changed() string { return kinds[k].changed }

// NameKey is the member of a definition that calls refer to.
func (k Kind) NameKey() string { return kinds[k].name }

func (k Kind) String() string { return kinds[k].key }
