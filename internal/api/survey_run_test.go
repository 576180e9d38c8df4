package api_test

import (
	"encoding/json"
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/testkit"
)

const canary = "canary-that-nobody-may-see"

// surveyedDoor is a house whose every answer is looked at. Its server has a
// secret, and neither the tool that would tell it nor those that end it.
func surveyedDoor(tb testing.TB) (door, *surveyor) {
	tb.Helper()
	d := openDoor(tb, map[string]any{"kb": map[string]any{"enabled": true}, "fault-env": map[string]string{"CANARY": canary}, "fault-tools": map[string]any{"deny": []string{"env", "crash"}}})
	d.write(".cursor/mcp.json", `{"mcpServers": {"kept": {"command": "x", "env": {"API_KEY": "`+canary+`0123456789"}}}}`)
	tokens := map[string]string{"nobody": "", "a stranger": "gk_stranger-" + canary, "a client": d.newToken(), "the admin": d.token}
	s := newSurveyor(tb, d.handler, tokens)
	s.secrets = []string{canary, tokens["a client"], tokens["the admin"]}
	s.learnNames(tb)
	s.makeCalls(tb)
	s.names["connections"] = []string{"cursor", "zed", "all", "genkan"}
	return d, s
}

// makeCalls makes calls that the history keeps, with bodies and without, and learns
// their ids.
func (s *surveyor) makeCalls(tb testing.TB) {
	tb.Helper()
	for _, who := range []string{"a client", "the admin"} {
		for _, body := range []string{`{"name":"fault__echo","parameters":{"text":"hello"}}`, `{"name":"nobody__nothing"}`} {
			s.as(who, wire{method: "POST", target: "/v1/tools/call", header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)})
		}
	}
	got, _ := s.as("the admin", wire{method: "GET", target: "/v1/calls"})
	var list client.CallList
	if err := json.Unmarshal(got.body, &list); err != nil || len(list.Calls) < 4 {
		tb.Fatalf("the calls: %s", got.body)
	}
	for _, one := range list.Calls {
		s.names["calls"] = append(s.names["calls"], one.ID)
	}
}

// learnNames finds out what there is.
func (s *surveyor) learnNames(tb testing.TB) {
	tb.Helper()
	for _, collection := range []string{"tools", "servers"} {
		got, _ := s.as("the admin", wire{method: "GET", target: "/v1/" + collection})
		var lists map[string]json.RawMessage
		var things []struct{ Name string }
		if json.Unmarshal(got.body, &lists) != nil || json.Unmarshal(lists[collection], &things) != nil || len(things) == 0 {
			tb.Fatalf("no %s: %s", collection, got.body)
		}
		s.names[collection] = nil
		for _, one := range things {
			s.names[collection] = append(s.names[collection], one.Name)
		}
	}
}

// restore puts back what earlier requests have changed, so that each operation
// meets the same house.
func (s *surveyor) restore(tb testing.TB, d door) {
	tb.Helper()
	file := filepath.Join(d.data, "genkan.yaml")
	if now, err := os.ReadFile(file); err != nil || string(now) != d.config {
		if err := os.WriteFile(file, []byte(d.config), 0o600); err != nil {
			tb.Fatal(err)
		}
		s.as("the admin", wire{method: "POST", target: "/v1/reload"})
	}
	d.t = tb
	d.waitReady()
	var disabled client.ToolList
	got, _ := s.as("the admin", wire{method: "GET", target: "/v1/tools?enabled=false&limit=100"})
	if err := json.Unmarshal(got.body, &disabled); err != nil {
		tb.Fatalf("disabled tools: %s", got.body)
	}
	for _, tool := range disabled.Tools {
		s.as("the admin", wire{method: "POST", target: "/v1/tools/" + tool.Name + "/enable"})
	}
	s.restoreWorkflows(tb)
	s.names["items"] = nil
	for _, title := range []string{"word", "two words", "言葉"} {
		got, _ := s.as("the admin", wire{
			method: "POST", target: "/v1/items", header: http.Header{"Content-Type": {"application/json"}},
			body: []byte(`{"type":"docs-of/言葉","title":"` + title + `"}`),
		})
		var made client.Item
		if err := json.Unmarshal(got.body, &made); err != nil || got.status != http.StatusCreated {
			tb.Fatalf("an item: %s", got.body)
		}
		s.names["items"] = append(s.names["items"], made.Ref())
	}
}

// restoreWorkflows puts back the workflows, their tests and hook modules.
func (s *surveyor) restoreWorkflows(tb testing.TB) {
	tb.Helper()
	s.names["workflows"], s.names["hook-modules"] = []string{"word", "two-words"}, []string{"shared"}
	got, _ := s.as("the admin", wire{
		method: "POST", target: "/v1/workflows/import", header: http.Header{"Content-Type": {"application/json"}},
		body: []byte(`{"workflows":[` + hooked("word", "") + `,` + hooked("two-words", "return") + `],"hookModules":[{"id":"shared","script":"return"}]}`),
	})
	if got.status != http.StatusOK {
		tb.Fatalf("workflows: %s", got.body)
	}
}

func (s *surveyor) maker(o *operation, seed uint64) *maker {
	h := fnv.New64a()
	_, _ = h.Write([]byte(o.id))
	return &maker{s, o, rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// survey asks one operation all that it can be asked, and returns what was wrong
// with the answers, and the statuses that were seen.
func (s *surveyor) survey(o *operation, seed uint64) (problems []string, seen map[int]int) {
	m, seen := s.maker(o, seed), map[int]int{}
	try := func(who string, w wire) {
		r, sent := s.as(who, w)
		if !sent {
			return
		}
		seen[r.status]++
		w.who = who
		problems = append(problems, s.problems(w, r)...)
	}
	for _, who := range []string{"nobody", "a stranger", "a client", "the admin"} {
		wrong, right := m.some(m.wrong()), testkit.Count(3, 8)
		switch who {
		case "nobody", "a stranger":
			m.shuffle(wrong)
			wrong, right = wrong[:min(len(wrong), testkit.Count(2, 8))], testkit.Count(1, 8)
		case "a client":
			m.shuffle(wrong)
			wrong, right = wrong[:min(len(wrong), testkit.Count(6, 40))], testkit.Count(2, 8)
		}
		for range right {
			try(who, m.right(m.method))
		}
		for _, one := range wrong {
			try(who, m.make(one))
		}
		methods := []string{"HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "ODD"}
		m.rng.Shuffle(len(methods), func(i, j int) { methods[i], methods[j] = methods[j], methods[i] })
		for _, method := range methods[:testkit.Count(2, len(methods))] {
			if _, methods := s.find(method, m.path); !slices.Contains(methods, method) {
				w := m.right(method)
				w.what = "another method"
				try(who, w)
			}
		}
	}
	return problems, seen
}

// some are requests of each kind: one that the seed chooses, or all of them with
// full counts.
func (m *maker) some(wrong []wish) []wish {
	m.shuffle(wrong)
	most, kinds := testkit.Count(1, len(wrong)), map[string]int{}
	return slices.DeleteFunc(wrong, func(one wish) bool {
		kinds[one.what]++
		return kinds[one.what] > most
	})
}

func (m *maker) shuffle(list []wish) {
	m.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// Whatever is described is asked, rightly and wrongly, by everybody, and every
// answer is as the description says.
func TestEveryAnswerIsAsDescribed(t *testing.T) {
	t.Parallel()
	d, s := surveyedDoor(t)
	const seed = 1
	answered := 0
	for i := range s.operations {
		o := &s.operations[i]
		t.Run(o.id, func(t *testing.T) {
			s.restore(t, d)
			problems, seen := s.survey(o, seed)
			for _, problem := range problems[:min(len(problems), 10)] {
				t.Error(problem)
			}
			if len(problems) > 10 {
				t.Errorf("and %d more", len(problems)-10)
			}
			t.Logf("%s %s: %v", o.method, o.path, seen)
			for status := range seen {
				if status < 400 && o.responses[strconv.Itoa(status)] != nil {
					answered++
					break
				}
			}
		})
	}
	// A survey that everybody refuses looks at nothing.
	if answered*4 < len(s.operations)*3 {
		t.Errorf("only %d of %d operations were ever answered with success", answered, len(s.operations))
	}
}

// FuzzREST mutates what is sent from there on.
func FuzzREST(f *testing.F) {
	if fuzzing := flag.Lookup("test.fuzz"); !testkit.Full() && (fuzzing == nil || fuzzing.Value.String() == "") {
		f.Skip("the survey sends what this begins with; GENKAN_TESTS=full sends it here, too")
	}
	d, s := surveyedDoor(f)
	for i := range s.operations {
		m := s.maker(&s.operations[i], 2)
		w := m.right(m.method)
		f.Add(w.method, w.target, "application/json", w.body)
	}
	n := 0
	f.Fuzz(func(t *testing.T, method, target, media string, body []byte) {
		if n++; n%1000 == 0 {
			s.restore(t, d)
		}
		// What waits for long is right, and no use here.
		if strings.Contains(string(body), "sleep") || strings.Contains(string(body), "progress") {
			t.Skip()
		}
		for _, who := range []string{"nobody", "a client", "the admin"} {
			w := wire{what: "fuzzed", method: method, target: target, header: http.Header{"Content-Type": {media}}, body: body}
			if r, sent := s.as(who, w); sent {
				w.who = who
				for _, problem := range s.problems(w, r) {
					t.Error(problem)
				}
			}
		}
	})
}
