package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What searches led to, as a story: a search and a call that succeeds teach, each
// caller sees and forgets their own, and an admin shares.
func TestLearned(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	user := d.newToken()
	const path, search, call = "/v1/search/learned", "/v1/tools/search", "/v1/tools/call"
	const query = `{"query":"parrot the text","limit":100}`
	taught := `{"client":"user","server":"fault","tool":"echo","name":"fault__echo","terms":["parrot","text"],"times":1,`
	d.walk(t, []step{
		{name: "nothing yet", method: "GET", path: path, status: 200, has: []string{`{"enabled":true,"lessons":[]}`}},
		{name: "no tool has the word", method: "POST", path: search, body: `{"query":"parrot"}`, token: user, status: 200, has: []string{`"results":[]`}},
		{name: "a call without a hit", method: "POST", path: call, body: `{"name":"fault__echo","parameters":{"text":"x"}}`, token: user, status: 200},
		{name: "taught nothing", method: "GET", path: path, token: user, status: 200, has: []string{`"lessons":[]`}},
		{name: "a search", method: "POST", path: search, body: query, token: user, status: 200, has: []string{"fault__echo"}},
		{name: "somebody else's call", method: "POST", path: call, body: `{"name":"fault__echo","parameters":{"text":"x"}}`, status: 200},
		{name: "a call that fails", method: "POST", path: call, body: `{"name":"fault__echo","parameters":{"text":1}}`, token: user, status: 400},
		{name: "still nothing", method: "GET", path: path + "?all=true", status: 200, has: []string{`"lessons":[]`}},
		{name: "a call that succeeds", method: "POST", path: call, body: `{"name":"fault__echo","parameters":{"text":"x"}}`, token: user, status: 200},
		{name: "is a lesson", method: "GET", path: path, token: user, status: 200, has: []string{taught}},
		{name: "found by the word", method: "POST", path: search, body: `{"query":"parrot"}`, token: user, status: 200, has: []string{"fault__echo"}},
		{name: "not for others", method: "POST", path: search, body: `{"query":"parrot"}`, status: 200, has: []string{`"results":[]`}},

		{name: "an admin's own", method: "GET", path: path, status: 200, has: []string{`"lessons":[]`}},
		{name: "an admin sees the user's", method: "GET", path: path + "?client=user", status: 200, has: []string{taught}},
		{name: "and all", method: "GET", path: path + "?all=true", status: 200, has: []string{taught}},
		{name: "of a tool", method: "GET", path: path + "?all=true&server=fault&tool=pid", status: 200, has: []string{`"lessons":[]`}},
		{name: "a user does not see all", method: "GET", path: path + "?all=true", token: user, status: 403, has: []string{"AUTHORIZATION_ERROR"}},
		{name: "nor others'", method: "GET", path: path + "?client=admin", token: user, status: 403, has: []string{"AUTHORIZATION_ERROR"}},
		{name: "nor what is shared", method: "GET", path: path + "?client=*", token: user, status: 403},
		{name: "but their own by name", method: "GET", path: path + "?client=user", token: user, status: 200, has: []string{taught}},
		{name: "nobody", method: "GET", path: path, token: "gk_wrong", status: 401},
		{name: "half a tool", method: "GET", path: path + "?server=fault", status: 400, has: []string{`"field":"tool"`}},
		{name: "all by half", method: "GET", path: path + "?all=maybe", status: 400, has: []string{`"field":"all"`}},
		{name: "all and one", method: "GET", path: path + "?all=true&client=user", status: 400, has: []string{`"field":"all"`}},

		{name: "a user does not share", method: "POST", path: path + "/share", body: `{"client":"user"}`, token: user, status: 403},
		{name: "an admin does", method: "POST", path: path + "/share", body: `{"client":"user"}`, status: 200, has: []string{`{"shared":1}`}},
		{name: "now others find it", method: "POST", path: search, body: `{"query":"parrot"}`, status: 200, has: []string{"fault__echo"}},
		{name: "nobody's", method: "POST", path: path + "/share", body: `{"client":"nobody"}`, status: 404, has: []string{"NOT_FOUND"}},
		{name: "whose", method: "POST", path: path + "/share", body: `{}`, status: 400},

		{name: "a user does not forget others'", method: "DELETE", path: path + "?client=*", token: user, status: 403},
		{name: "another tool", method: "DELETE", path: path + "?server=fault&tool=pid", token: user, status: 200, has: []string{`{"forgotten":0}`}},
		{name: "that tool", method: "DELETE", path: path + "?server=fault&tool=echo", token: user, status: 200, has: []string{`{"forgotten":1}`}},
		{name: "what is shared stays", method: "GET", path: path + "?all=true", status: 200, has: []string{`"client":"*"`}, hasNot: []string{`"client":"user"`}},
		{name: "a call that says its search", method: "POST", path: call, body: `{"name":"fault__echo","parameters":{"text":"x"},"options":{"query":"robin"}}`, token: user, status: 200},
		{name: "teaches it", method: "GET", path: path, token: user, status: 200, has: []string{`"terms":["robin"],"times":1,`}},
		{name: "and is forgotten", method: "DELETE", path: path, token: user, status: 200, has: []string{`{"forgotten":1}`}},

		{name: "until an admin forgets it", method: "DELETE", path: path + "?all=true", status: 200, has: []string{`{"forgotten":1}`}},
		{name: "nobody finds it", method: "POST", path: search, body: `{"query":"parrot"}`, token: user, status: 200, has: []string{`"results":[]`}},
	})
}

// Switched off, nothing is learned and nothing that was learned is used; switched
// on again, it is there.
func TestLearningCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	teach := []step{
		{name: "a search", method: "POST", path: "/v1/tools/search", body: `{"query":"parrot the text","limit":100}`, status: 200, has: []string{"fault__echo"}},
		{name: "a call", method: "POST", path: "/v1/tools/call", body: `{"name":"fault__echo","parameters":{"text":"x"}}`, status: 200},
	}
	learned := func(name, has string) step {
		return step{name: name, method: "GET", path: "/v1/search/learned", status: 200, has: []string{has}}
	}
	finds := func(name, has string) step {
		return step{name: name, method: "POST", path: "/v1/tools/search", body: `{"query":"parrot"}`, status: 200, has: []string{has}}
	}
	d.walk(t, append(teach, learned("on", `"times":1`), finds("on", "fault__echo")))
	d.learn(t, false)
	d.walk(t, append(teach, learned("off, nothing more", `"enabled":false`), learned("off, what was", `"times":1`), finds("off", `"results":[]`)))
	d.learn(t, true)
	d.walk(t, []step{learned("on again", `"enabled":true`), finds("on again", "fault__echo")})
}

// learn switches learning on or off, as an editor would.
func (d door) learn(t *testing.T, on bool) {
	t.Helper()
	file := filepath.Join(d.data, "genkan.yaml")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(strings.Replace(string(raw), `{"learn":false,`, "{", 1), "{", `{"learn":false,`, 1)
	if on {
		text = strings.Replace(string(raw), `{"learn":false,`, "{", 1)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.send("POST", "/v1/reload", ""); got.status != 200 {
		t.Fatalf("reload: %s", got.body)
	}
}
