package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/api/client"
)

func TestTheDoctorIsAsked(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"mcpServers": map[string]any{
		"needy":  map[string]any{"command": "nothing", "env": map[string]string{"KEY": "${secret:needy.key}"}},
		"absent": map[string]any{"command": "/nowhere/at/all"},
	}})
	var report client.DoctorReport
	got := d.send("GET", "/v1/doctor", "")
	if err := json.Unmarshal([]byte(got.body), &report); err != nil || got.status != 200 || report.OK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	found := map[string]client.DoctorFinding{}
	for _, f := range report.Findings {
		found[f.Subject] = f
	}
	if f := found["server/fault"]; f.Severity != "ok" || !strings.HasPrefix(f.Title, "ready after") {
		t.Errorf("a server that is well: %+v", f)
	}
	if f := found["server/needy"]; f.Severity != "problem" || !strings.HasPrefix(f.Command, "genkan secrets set needy.key") ||
		f.Request == nil || *f.Request != (client.DoctorRequest{Method: "PUT", Path: "/v1/secrets/needy.key"}) {
		t.Errorf("a secret that is not there: %+v", f)
	}
	if f := found["server/absent"]; f.Severity != "problem" || !strings.Contains(f.Fix, "correct its path") || f.Request != nil {
		t.Errorf("a command that is not there: %+v", f)
	}
	for _, subject := range []string{"program", "data", "config"} {
		if found[subject].Title == "" {
			t.Errorf("nothing is said about %s: %s", subject, got.body)
		}
	}
	one := d.send("GET", "/v1/doctor?server=fault", "")
	if one.status != 200 || !strings.Contains(one.body, `"ok":true`) || strings.Contains(one.body, "needy") {
		t.Errorf("one server: %d %s", one.status, one.body)
	}
	if got := d.send("GET", "/v1/doctor?server=fautl", ""); got.status != 404 || !strings.Contains(got.body, "did you mean") {
		t.Errorf("a server that is not there: %d %s", got.status, got.body)
	}
	if got := d.send("GET", "/v1/doctor", "", "Authorization", "Bearer "+d.newToken()); got.status != 403 {
		t.Errorf("a client: %d %s", got.status, got.body)
	}
}
