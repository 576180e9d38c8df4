package doctor_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/doctor"
)

// Names of servers leave those servers, and what is wrong around them.
func TestOnly(t *testing.T) {
	facts := healthy()
	facts.Servers = append(facts.Servers, doctor.Server{Name: "other", Known: true, State: "down", Transport: "http"})
	facts.Data.Dir.Mode = 0o755
	facts.Clients[0].Tools = 1000
	var got []string
	for _, f := range doctor.Only(doctor.Examine(facts), []string{"github"}) {
		got = append(got, f.Severity.String()+" "+f.Subject.String())
	}
	if diff := cmp.Diff([]string{"warning data", "ok server/github"}, got); diff != "" {
		t.Error(diff)
	}
}

// A file with an entry that leads nowhere is not said to be all right.
func TestNotAllIsWell(t *testing.T) {
	facts := healthy()
	facts.Clients[0].Files[0].Leads = append(facts.Clients[0].Files[0].Leads, doctor.Lead{Name: "gone", Command: "genkan", Found: true, Strangers: []string{"gone"}})
	for _, f := range doctor.Examine(facts) {
		if strings.Contains(f.Title.String(), "all entries lead to genkan") {
			t.Errorf("%s, although one leads nowhere", line(f))
		}
	}
}

// What a request can mend says which.
func TestRequestsThatMend(t *testing.T) {
	facts := healthy()
	facts.Servers = []doctor.Server{
		{Name: "needy", State: "down", Missing: []doctor.Missing{{Name: "a key/b", Secret: true}}},
		{Name: "silent", State: "not responding", Known: true},
		{Name: "signed-out", State: "down", Known: true, SignIn: "needed"},
	}
	facts.Running.WorkflowsOff = true
	facts.Knowledge = doctor.Knowledge{Looked: true, Index: doctor.Index{Path: "/x", Missing: true}}
	got := map[string]doctor.Request{}
	for _, f := range doctor.Examine(facts) {
		if f.Severity >= doctor.Warning {
			got[f.Subject.String()] = f.Fix.Request
		}
	}
	want := map[string]doctor.Request{
		"server/needy":      {Method: "PUT", Path: "/v1/secrets/a%20key%2Fb"},
		"server/silent":     {Method: "POST", Path: "/v1/servers/silent/restart"},
		"server/signed-out": {},
		"knowledge":         {Method: "POST", Path: "/v1/knowledge/rebuild"},
		"program":           {Method: "PUT", Path: "/v1/workflows/switch", Body: `{"on":true}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
