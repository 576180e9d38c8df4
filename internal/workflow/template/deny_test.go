package template_test

import (
	"strings"
	"testing"

	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

const done = `{"content":[{"type":"text","text":"done"}]}`

// refused is what the model gets of a call that was refused.
func refused(name, reason string) string {
	return `denied: workflow "` + name + `" refused this call: ` + reason + `. It was not sent. Do not send it again unchanged: tell the user, who can have the workflow changed`
}

// refusedByPerson is what the model gets of a call that a person refused.
func refusedByPerson(name string) string {
	return `denied: a person whom workflow "` + name + `" asked refused this call. It was not sent. Do not repeat it, and do not reach the same by another way: ask the user what to do instead`
}

func TestDenyDestructive(t *testing.T) {
	b := newBench(t)
	b.answer = done
	denied := func(reason string) string { return refused("Deny destructive tools", reason) }
	b.use(t, "deny-destructive", `{"reason":"archive it instead"}`, template.Options{})
	for _, c := range []struct{ tool, annotations, want string }{
		{"github__delete_repo", `{}`, denied("the tool delete_repo is destructive (its name has the word delete); archive it instead")},
		{"db__dropTable", `{}`, denied("the tool dropTable is destructive (its name has the word drop); archive it instead")},
		{"fs__rm", `{"readOnlyHint":true}`, denied("the tool rm is destructive (its name has the word rm); archive it instead")},
		{"k8s__scale", `{"destructiveHint":true}`, denied("the tool scale is destructive (its server says so); archive it instead")},
		{"k8s__get", `{"destructiveHint":true,"readOnlyHint":true}`, done},
		{"github__list_deleted", `{}`, done},
		{"github__dropbox_list", `{}`, done},
		{"github__create_issue", `{"destructiveHint":false}`, done},
		{"github__create_issue", `{}`, done},
	} {
		if got := b.callMarked("anna", c.tool, c.annotations, ""); got != c.want {
			t.Errorf("%s %s: %s", c.tool, c.annotations, got)
		}
	}
	b.use(t, "deny-destructive", `{"unmarked":"deny","words":["消す"]}`, template.Options{})
	for _, c := range []struct{ tool, annotations, want string }{
		{"github__create_issue", `{}`, denied("the tool create_issue is destructive (its server does not say that it is not)")},
		{"github__delete_repo", `{"destructiveHint":false}`, done},
		{"github__get", `{"readOnlyHint":true}`, done},
		{"fs__全部_消す", `{"readOnlyHint":true}`, denied("the tool 全部_消す is destructive (its name has the word 消す)")},
	} {
		if got := b.callMarked("anna", c.tool, c.annotations, ""); got != c.want {
			t.Errorf("%s %s: %s", c.tool, c.annotations, got)
		}
	}
}

func TestDenyArgument(t *testing.T) {
	b := newBench(t)
	b.answer = done
	long := strings.Repeat("あ", 100_000)
	for _, c := range []struct {
		params string
		// calls are arguments, and why they are refused.
		calls [][2]string
	}{
		{`{"arguments":["channel","channel_id"],"allow":["#dev","#dev-*"]}`, [][2]string{
			{`{"channel":"#dev","n":1234567890123456789}`, ""},
			{`{"channel":"#dev-ops"}`, ""},
			{`{"channel":"#general"}`, `channel is "#general", and must be one of: #dev, #dev-*`},
			{`{"channel":"#dev","channel_id":"C123"}`, `channel_id is "C123", and must be one of: #dev, #dev-*`},
			{`{"channel":["#dev","#general"]}`, `channel is "#general", and must be one of: #dev, #dev-*`},
			{`{"channel":[]}`, `channel or channel_id is missing, and must be one of: #dev, #dev-*`},
			{`{"channel":null}`, `channel or channel_id is missing, and must be one of: #dev, #dev-*`},
			{``, `channel or channel_id is missing, and must be one of: #dev, #dev-*`},
			{`{"channel":"#Dev"}`, `channel is "#Dev", and must be one of: #dev, #dev-*`},
			{`{"channel":"#dev\n#general"}`, `channel is "#dev\n#general", and must be one of: #dev, #dev-*`},
			{`{"channel":"` + long + `"}`, `channel is "` + long[:240] + `…", and must be one of: #dev, #dev-*`},
		}},
		{`{"arguments":["to.*.mail"],"deny":["*@rival.example"],"reason":"ask sales"}`, [][2]string{
			{`{"to":[{"mail":"a@ours.example"}]}`, ""},
			{`{"to":[{"mail":"a@ours.example"},{"mail":" B@RIVAL.example "}]}`, `to.*.mail is "B@RIVAL.example", which is not allowed; ask sales`},
			{`{"to":{"x":{"mail":{"deep":["c@rival.example"]}}}}`, `to.*.mail is "c@rival.example", which is not allowed; ask sales`},
			{`{}`, ""},
			{``, ""},
		}},
		{`{"arguments":["path"],"allowPattern":"^/srv/","denyPattern":"\\.\\.(/|$)"}`, [][2]string{
			{`{"path":"/srv/a"}`, ""},
			{`{"path":"/srv/../etc"}`, `path is "/srv/../etc", which is not allowed`},
			{`{"path":"/etc"}`, `path is "/etc", and must be one of: /^/srv//`},
		}},
		{`{"arguments":["chat"],"deny":["7"]}`, [][2]string{
			{`{"chat":8}`, ""},
			{`{"chat":7}`, `chat is "7", which is not allowed`},
			{`{"chat":1234567890123456789}`, `chat is a number that is too large to be checked; send it as a text`},
			{`{"constructor":1}`, ""},
		}},
	} {
		b.use(t, "deny-argument", c.params, template.Options{Name: "w", Match: some})
		for _, call := range c.calls {
			b.sent = nil
			want := done
			if call[1] != "" {
				want = refused("w", call[1])
			}
			if got := b.call("anna", "github__post", call[0]); got != want || call[1] == "" && b.sent[0] != call[0] || call[1] != "" && b.sent != nil {
				t.Errorf("%s %.200s: %.400s", c.params, call[0], got)
			}
		}
	}
}

func TestSelectOnly(t *testing.T) {
	b := newBench(t)
	b.answer = done
	b.use(t, "select-only", ``, template.Options{Name: "w", Match: workflow.Match{Servers: []string{"github"}}})
	const comment, dollar, several = "has a comment, which cannot be checked; send it without comments", "has a $ quote, which cannot be checked; write '…'", "has several statements; send one"
	for sql, why := range map[string]string{
		"SELECT * FROM users WHERE action = 'delete; drop'":           "",
		"  select updated_at, \"update\", `drop` from t ;\n":          "",
		"(SELECT 1) UNION (SELECT 2)":                                 "",
		"WITH x AS (SELECT 1) SELECT * FROM x":                        "",
		"SELECT replace(a, 'it''s', '') FROM 表 WHERE 名 = '消す' AND $1": "",
		"SELECT ARRAY['a','b'], x['k'], j->>'a'":                      "",
		"SELECT 'a' WHERE b LIKE '%\\_%'":                             "",
		"DELETE FROM users":                                           "is no SELECT",
		"":                                                            "is no SELECT",
		"EXPLAIN ANALYZE DELETE FROM t":                               "has the word DELETE",
		"SELECT 1; DROP TABLE t":                                      several,
		"SELECT 1 DROP TABLE t":                                       "has the word DROP",
		"WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x":       "has the word DELETE",
		"SELECT * INTO copy FROM t":                                   "has the word INTO",
		"SELECT 1 /*! ; DROP TABLE t */":                              comment,
		"SELECT 1 -- one":                                             comment,
		"SELECT 1 # one":                                              comment,
		"SELECT $$'$$; DROP TABLE t; $$'$$":                           dollar,
		"SELECT 'a\\' ; DROP TABLE t; SELECT '":                       "has a quote that is not closed",
		"SELECT 'a\\'; DROP TABLE t; SELECT ''":                       several,
		"SELECT '\\'' ; DROP TABLE t; SELECT '\\''":                   several,
		"SELECT [a'] ; DROP TABLE t; SELECT [']":                      several,
		"SELECT 'open":                                                "has a quote that is not closed",
		"sElEcT 1 wHeRe 1=1; tRuNcAtE t":                              several,
	} {
		raw := strings.TrimSuffix(strings.TrimPrefix(text(sql), `{"content":[{"type":"text","text":`), "}]}")
		want := done
		if why != "" {
			want = refused("w", "only SELECT is allowed, and sql "+why)
			if strings.HasPrefix(sql, "EXPLAIN") {
				want = refused("w", "only SELECT is allowed, and sql is no SELECT")
			}
		}
		if got := b.call("anna", "github__query", `{"sql":`+raw+`}`); got != want {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for arguments, why := range map[string]string{
		``:                                    "sql or query is missing",
		`{"sql":7}`:                           "sql is not a text",
		`{"query":["SELECT 1","DROP x"]}`:     "query is no SELECT",
		`{"sql":"SELECT 1","query":"DROP x"}`: "query is no SELECT",
		`{"sql":"SELECT '` + strings.Repeat("''a", 50_000) + `"}`: "sql has a quote that is not closed",
	} {
		if got := b.call("anna", "github__query", arguments); got != refused("w", "only SELECT is allowed, and "+why) {
			t.Errorf("%.200s: %.400s", arguments, got)
		}
	}
}
