package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/api/client"
)

func TestTokensAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	var made client.MadeToken
	got := d.send("POST", "/v1/tokens", `{"name":"editor"}`)
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != 201 || !strings.HasPrefix(made.Token, "gk_") {
		t.Fatalf("a new token: %d %s", got.status, got.body)
	}
	as := []string{"Authorization", "Bearer " + made.Token}
	if got := d.send("GET", "/v1/tools", "", as...); got.status != 200 {
		t.Errorf("the new token: %d %s", got.status, got.body)
	}
	if got := d.send("GET", "/v1/tokens", "", as...); got.status != 403 {
		t.Errorf("a client lists tokens: %d %s", got.status, got.body)
	}
	if got := d.send("POST", "/v1/tokens", `{"name":"editor"}`); got.status != 409 || !strings.Contains(got.body, "CONFLICT") {
		t.Errorf("the same name again: %d %s", got.status, got.body)
	}
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":"Not A Name"}`, `{"name":"admin"}`, `{"name":"x","admin":true}`} {
		if got := d.send("POST", "/v1/tokens", body); got.status != 400 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	list := d.send("GET", "/v1/tokens", "")
	if list.status != 200 || !strings.Contains(list.body, `{"name":"editor","admin":false,"createdAt":"20`) || strings.Contains(list.body, "gk_") {
		t.Errorf("the list: %d %s", list.status, list.body)
	}
	if got := d.send("DELETE", "/v1/tokens/editor", ""); got.status != 200 {
		t.Errorf("revoking: %d %s", got.status, got.body)
	}
	if got := d.send("GET", "/v1/tools", "", as...); got.status != 401 {
		t.Errorf("a revoked token: %d %s", got.status, got.body)
	}
	if got := d.send("DELETE", "/v1/tokens/editor", ""); got.status != 404 {
		t.Errorf("revoking again: %d %s", got.status, got.body)
	}
	if got := d.send("DELETE", "/v1/tokens/admin", ""); got.status != 400 || !strings.Contains(got.body, "a file in the data directory") {
		t.Errorf("revoking the admin token: %d %s", got.status, got.body)
	}
}
