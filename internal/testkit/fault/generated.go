package fault

import (
	"encoding/json"
	"fmt"
)

// generatedTools makes n tools that look like those of real servers, in
// length and vocabulary, so that lists, searches and token budgets are tested
// on something like what they will meet. The same n gives the same tools.
func generatedTools(n int) []tool {
	verbs := []struct {
		name, title, text string
		readOnly          bool
	}{
		{"list", "List", "Lists %s, newest first. Results are paginated; pass the cursor of the previous answer to get the next page. Use this before get_%[2]s when you do not know the identifier.", true},
		{"get", "Get", "Returns one of the %s with all its fields, including those that list_%[2]s leaves out.", true},
		{"search", "Search", "Searches %s by free text and by field, for example `state:open author:me`. Returns at most 50 matches, best first.", true},
		{"create", "Create", "Creates a new entry among the %s and returns it with its identifier. Fails when one with the same title already exists.", false},
		{"update", "Update", "Changes fields of one of the %s. Fields that are not given keep their value.", false},
		{"delete", "Delete", "Deletes one of the %s for good. This cannot be undone; ask the user before.", false},
		{"archive", "Archive", "Moves one of the %s to the archive, where it can no longer be changed but still be read.", false},
		{"export", "Export", "Exports %s as CSV, JSON or Markdown and returns the document as text.", true},
	}
	nouns := []struct{ name, text string }{
		{"issue", "issues of a repository"},
		{"pull_request", "pull requests of a repository"},
		{"calendar_event", "events in the user's calendars"},
		{"invoice", "invoices of the accounting system"},
		{"customer", "customers in the CRM"},
		{"database_table", "tables of the connected database"},
		{"file", "files in the workspace"},
		{"message", "messages in a channel"},
		{"deployment", "deployments of a service"},
		{"dashboard", "monitoring dashboards"},
		{"feature_flag", "feature flags of a project"},
		{"document", "documents in the knowledge base"},
	}
	tools := make([]tool, n)
	for i := range tools {
		verb, noun := verbs[i%len(verbs)], nouns[i/len(verbs)%len(nouns)]
		name := verb.name + "_" + noun.name
		if round := i / (len(verbs) * len(nouns)); round > 0 {
			name = fmt.Sprintf("%s_v%d", name, round+1)
		}
		d := definition{
			Name:        name,
			Title:       verb.title + " " + noun.text,
			Description: fmt.Sprintf(verb.text, noun.text, noun.name),
			InputSchema: generatedSchema(verb.readOnly, noun.text),
		}
		if verb.readOnly {
			d.Annotations = readOnly()
		}
		tools[i] = newTool(d, callGenerated)
	}
	return tools
}

func generatedSchema(readOnly bool, nouns string) json.RawMessage {
	if readOnly {
		return fmt.Appendf(nil, `{"type":"object","properties":{"query":{"type":"string","description":"Restricts the answer to %s that match. Leave out for all."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"The most entries to return."},"cursor":{"type":"string","description":"Where the previous page ended."},"fields":{"type":"array","items":{"type":"string"},"description":"Which fields to return; all if left out."}},"additionalProperties":false}`, nouns)
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{"id":{"type":"string","description":"Which of the %s is meant."},"title":{"type":"string","minLength":1,"maxLength":256},"body":{"type":"string","description":"Markdown."},"labels":{"type":"array","items":{"type":"string"}},"priority":{"type":"string","enum":["low","normal","high","urgent"],"default":"normal"},"dry_run":{"type":"boolean","default":false,"description":"Checks everything and changes nothing."}},"required":["id"],"additionalProperties":false}`, nouns)
}
