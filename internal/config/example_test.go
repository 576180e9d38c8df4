package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// As it ships, the example means the defaults.
func TestExampleMeansTheDefaults(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(defaults(), mustLoad(t, Example(), environ(), Flags{})); diff != "" {
		t.Error(diff)
	}
}

// With the comment signs removed, the example is accepted and names every key
// that exists, so it cannot fall behind.
func TestExampleNamesEveryKey(t *testing.T) {
	t.Parallel()
	env := environ("GITHUB_TOKEN", "x", "HOME", "/srv/example", "DOCS_TOKEN", "x", "DOCS_CLIENT_SECRET", "x")
	named := map[string]bool{}
	for _, without := range [][]string{{"listen:"}, {"host:", "port:"}} { // one excludes the other
		text := uncommented(Example(), without)
		c := mustLoad(t, text, env, Flags{})
		if len(c.Servers) != 2 || c.Listen != "127.0.0.1:3000" {
			t.Errorf("%+v", c)
		}
		root, bad := parse([]byte(text))
		if bad != nil {
			t.Fatal(bad.text)
		}
		collect(root, "", named)
	}
	known := everyKey()
	for _, key := range known {
		if !named[key] {
			t.Errorf("the example does not name %s", key)
		}
	}
	if len(known) != len(named) {
		t.Errorf("the example names %d keys of %d", len(named), len(known))
	}
}

// The values that the example gives as defaults are the defaults.
func TestExampleShowsTheDefaults(t *testing.T) {
	t.Parallel()
	env := environ("GITHUB_TOKEN", "x", "HOME", "/srv/example", "DOCS_TOKEN", "x", "DOCS_CLIENT_SECRET", "x")
	shown := mustLoad(t, uncommented(Example(), []string{"host:", "port:"}), env, Flags{})
	d := defaults()
	if shown.Listen != d.Listen || shown.LogLevel != d.LogLevel || shown.Lang != d.Lang || shown.PageSize != d.PageSize || shown.BehindProxy != d.BehindProxy || shown.LoginShell != d.LoginShell || shown.Learn != d.Learn || shown.Record != d.Record {
		t.Errorf("got %+v, want the values of %+v", shown, d)
	}
	got, want := shown.Servers[0], stdio("github", "npx")
	want.Args, want.Env, want.Cwd, want.Tools = got.Args, got.Env, got.Cwd, got.Tools
	want.ToolOptions, want.Budget = got.ToolOptions, got.Budget
	if diff := cmp.Diff(want, got, asRead); diff != "" {
		t.Error(diff)
	}
}

// uncommented turns the settings on, as Example's comment describes, except
// those that begin with one of the given words.
func uncommented(text string, without []string) string {
	var lines []string
	for line := range strings.Lines(text) {
		setting, commented := strings.CutPrefix(line, "#")
		explains := strings.HasPrefix(setting, " ") && !strings.HasPrefix(setting, "  ") || strings.TrimSpace(setting) == ""
		dropped := slices.ContainsFunc(without, func(w string) bool { return strings.HasPrefix(setting, w) })
		if commented && !explains && !dropped {
			line = setting
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// collect notes the paths of all keys; what people name themselves is "*".
func collect(n *node, at string, into map[string]bool) {
	for _, e := range n.entries {
		key := join(at, e.key)
		switch at {
		case "mcpServers", "mcpServers.*.env", "mcpServers.*.headers", "mcpServers.*.tools.options", "profiles", "clients":
			key = join(at, "*")
		default:
			into[key] = true
		}
		collect(e.value, key, into)
	}
}

// everyKey lists what the decoder knows.
func everyKey() []string {
	d := &decoder{problems: &problems{}}
	var keys []string
	add := func(at string, fields []field) {
		for _, f := range fields {
			keys = append(keys, join(at, f.name))
		}
	}
	add("", d.fileFields(&layer{}))
	add("cors", d.corsFields(&layer{}))
	add("rateLimit", d.rateLimitFields(&RateLimit{}))
	add("tls", d.tlsFields(&layer{}))
	add("mcpServers.*", d.serverFields(&serverDraft{}))
	add("oauth", d.fileOAuthFields(&layer{}))
	add("mcpServers.*.oauth", d.oauthFields(&OAuth{}))
	add("mcpServers.*.tools", d.serverToolFields(&Server{}))
	add("mcpServers.*.tools.options.*", d.toolOptionFields(&ToolOptions{}))
	add("profiles.*", d.profileFields(&Profile{}))
	add("profiles.*.tools", d.toolFields(&ToolFilter{}))
	add("embeddings", d.embeddingsFields(&Embeddings{}))
	add("approvals", d.approvalFields(&Approvals{}))
	add("record", d.recordFields(&Record{}))
	add(KnowledgeSource, d.knowledgeFields(&Knowledge{}))
	add(N8NSource, d.n8nFields(&N8N{}))
	add(KnowledgeSource+".semantic", d.embeddingsFields(&Embeddings{}))
	add("clients.*", d.clientFields(&Client{}))
	return keys
}
