package template_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"genkan/internal/workflow/template"
)

// example is what docs/templates.md shows.
type example struct {
	Template string
	Params   json.RawMessage
	template.Options
}

// examples reads the documentation. Those with a heading have it as their key.
func examples(t *testing.T) (named map[string]example, all []example) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	named = map[string]example{}
	heading := ""
	for line := range strings.Lines(string(page)) {
		if h, ok := strings.CutPrefix(line, "### "); ok {
			heading = strings.TrimRight(h, " *\n")
		}
		if strings.HasPrefix(line, "{") {
			var e example
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			named[heading], all = e, append(all, e)
		}
	}
	return named, all
}

func TestDocumentation(t *testing.T) {
	named, all := examples(t)
	b := newBench(t)
	for _, e := range all {
		b.use(t, e.Template, string(e.Params), e.Options)
	}
	page, err := os.ReadFile("../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tpl := range template.All() {
		if named[tpl.ID].Template != tpl.ID {
			t.Errorf("%s has no example", tpl.ID)
		}
		_, section, _ := strings.Cut(string(page), "### "+tpl.ID)
		section, _, _ = strings.Cut(section, "\n### ")
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(tpl.Params, &schema); err != nil {
			t.Fatal(err)
		}
		for name := range schema.Properties {
			if !regexp.MustCompile("(?m)^\\|.*`" + name + "`.*\\|").MatchString(section) {
				t.Errorf("%s does not describe %s", tpl.ID, name)
			}
		}
		if heading, _, _ := strings.Cut(section, "\n"); strings.HasSuffix(heading, "*") != tpl.NeedsMatch {
			t.Errorf("%s: %q says whether it wants match", tpl.ID, heading)
		}
	}
}

func TestSevenExamples(t *testing.T) {
	named, _ := examples(t)
	b := newBench(t)
	use := func(name string) {
		t.Helper()
		e, ok := named[name]
		if !ok {
			t.Fatalf("there is no example %s", name)
		}
		b.use(t, e.Template, string(e.Params), e.Options)
		b.sent, b.answer = nil, done
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}

	use("Redact keys")
	b.answer = text("GITHUB_TOKEN=ghp_" + strings.Repeat("x", 36) + "\nOWNER=anna@example.com")
	expect(b.call("anna", "fs__read_file", `{"path":".env"}`), text("GITHUB_TOKEN=[redacted:keys]\nOWNER=anna@example.com"))

	use("Deny deletes except for one client")
	expect(b.call("anna", "github__delete_repo", `{"repo":"x"}`), refused("Deny destructive tools", "the tool delete_repo is destructive (its name has the word delete)"))
	expect(b.call("ops", "github__delete_repo", `{"repo":"x"}`), done)
	expect(b.call("anna", "github__get_repo", `{"repo":"x"}`), done)

	use("Only SELECT")
	expect(b.call("anna", "postgres__query", `{"sql":"SELECT * FROM orders WHERE id = 1234567890123456789"}`), done)
	expect(b.call("anna", "postgres__query", `{"sql":"UPDATE orders SET paid = true"}`), refused("Allow only SELECT", "only SELECT is allowed, and sql is no SELECT"))
	expect(b.call("anna", "postgres__list_tables", ``), done)

	use("Slack only to #dev")
	expect(b.call("anna", "slack__post_message", `{"channel":"#dev","text":"hi"}`), done)
	expect(b.call("anna", "slack__slack_send_message", `{"channel_id":"C0123DEV","text":"hi"}`), done)
	expect(b.call("anna", "slack__post_message", `{"channel":"#general","text":"hi"}`), refused("Deny by an argument", `channel is "#general", and must be one of: #dev, C0123DEV`))
	expect(b.call("anna", "slack__list_channels", `{}`), done)

	use("Drop junk fields")
	b.answer = text(`[{"id":1234567890123456789,"node_id":"x","title":"t","user":{"login":"a","avatar_url":"u"},"_links":{}}]`)
	expect(b.call("anna", "github__list_issues", `{}`), text(`[{"id":1234567890123456789,"title":"t","user":{"login":"a"}}]`))

	use("Ask before a merge")
	expect(b.call("anna", "github__merge_pull_request", `{"n":1}`), refusedByPerson("Ask a person first"))
	b.grant = true
	expect(b.call("anna", "github__merge_pull_request", `{"n":1}`), done)
	if len(b.asked) != 2 || b.asked[0].Message != "Merge this pull request?" {
		t.Errorf("%+v", b.asked)
	}

	use("Always fill in a project id")
	expect(b.call("anna", "gitlab__create_issue", `{"title":"t"}`), done)
	if !slices.Equal(b.sent, []string{`{"title":"t","project_id":1234567890123456789}`}) {
		t.Errorf("%s", b.sent)
	}
	if got := b.list(t, "anna", "gitlab", `{"name":"create_issue","inputSchema":{"properties":{"title":{},"project_id":{}},"required":["project_id","title"]}}`); got[0] != `{"name":"create_issue","inputSchema":{"properties":{"title":{}},"required":["title"]}}` {
		t.Errorf("%s", got)
	}
}
