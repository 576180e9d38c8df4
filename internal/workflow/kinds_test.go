package workflow

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A kind has the ways out that its nodes have when they are compiled, and every type that
// can be drawn has kinds.
func TestKinds(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	for _, kind := range Kinds() {
		has[kind.Type] = true
		t.Run(kind.Title.String(), func(t *testing.T) {
			workflowType := or(kind.Workflow, ToolsCall)
			data := kind.New
			if data == nil {
				data = kind.When
			}
			raw, err := json.Marshal(data)
			if err != nil {
				t.Fatal(err)
			}
			n := &Node{ID: "x", Type: kind.Type, Data: raw}
			if got := kindOf(n, workflowType); got == nil || got.Title.String() != kind.Title.String() {
				t.Errorf("a new one is of the kind %v", got)
			}
			b := &Builder{env: testEnvironment, definition: &Definition{Type: workflowType}, node: n}
			s := &step{Action: nodeTypes()[kind.Type].Compile(b, n)}
			if beside := s.Role == RoleDetached; beside != kind.Beside {
				t.Errorf("beside is %v", kind.Beside)
			}
			var want []string
			if kind.HandlesIn != "" {
				var cases []struct{ Handle string }
				in, _ := json.Marshal(data[kind.HandlesIn])
				if err := json.Unmarshal(in, &cases); err != nil || len(cases) == 0 {
					t.Fatalf("%s has %s", kind.HandlesIn, in)
				}
				for _, c := range cases {
					want = append(want, c.Handle)
				}
			}
			want = append(want, kind.Handles...)
			got := append(slices.Clone(s.ways()), s.Optional...)
			if s.Role == RoleStep || s.Role == RoleCall {
				got = append(got, handleError)
			}
			if !slices.Equal(got, want) {
				t.Errorf("a node has the ways out %v, its kind %v", got, want)
			}
		})
	}
	for name := range nodeTypes() {
		if !has[name] {
			t.Errorf("the type %q has no kind", name)
		}
	}
}

// A problem names the node that sends the call on as it is called in such a workflow.
func TestTheCallIsNamedByTheWorkflow(t *testing.T) {
	t.Parallel()
	d := flow("w", "start → mcp → again → end")
	for i := range d.Nodes {
		if d.Nodes[i].ID == "again" {
			d.Nodes[i] = Node{ID: "again", Type: "mcp-call"}
		}
	}
	for workflowType, want := range map[string]string{ToolsCall: "Call the tool", PromptsGet: "Get the prompt", ToolsList: "Get the list of tools"} {
		d.Type = workflowType
		if problems := Validate(d, testEnvironment); !slices.ContainsFunc(problems, func(p Problem) bool {
			return strings.Contains(p.String(), "the second “"+want+"”")
		}) {
			t.Errorf("%s: %v", workflowType, problems)
		}
	}
}
