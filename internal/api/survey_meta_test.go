package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// smallDescription is of an API with one thing in it.
const smallDescription = `{"openapi":"3.1.0","paths":{"/v1/thing":{"post":{
	"operationId":"thing",
	"parameters":[{"name":"page","in":"query","schema":{"type":"integer","minimum":1}}],
	"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Question"}}}},
	"responses":{
		"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Answer"}}}},
		"302":{"description":"elsewhere"},
		"400":{"content":{"application/json":{"schema":{}}}},
		"401":{"content":{"application/json":{"schema":{}}}},
		"403":{"content":{"application/json":{"schema":{}}}},
		"429":{"content":{"application/json":{"schema":{}}}},
		"500":{"content":{"application/json":{"schema":{}}}}}}}},
	"components":{"schemas":{
		"Question":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false},
		"Answer":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}}`

// A survey that cannot complain is worth nothing: each handler here does one
// thing wrong, and that is what is said of it.
func TestTheSurveyComplains(t *testing.T) {
	t.Parallel()
	say := func(status int, media, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	const data = "application/json"
	for name, c := range map[string]struct {
		thing     http.HandlerFunc
		complaint string // empty for none
	}{
		"all is well":                {say(400, data, `{}`), ""},
		"well, with another charset": {say(400, data+"; charset=utf-8", `{}`), ""},
		"a limit":                    {say(429, data, `{}`, "Retry-After", "3"), ""},
		"a status of its own":        {say(418, data, `{}`), "the status is not described"},
		"an answer of its own":       {say(200, data, `{"n":"one"}`), "the answer does not fit its schema"},
		"an answer that lacks":       {say(200, data, `{}`), "the answer does not fit its schema"},
		"no JSON":                    {say(200, data, `<p>`), "the answer is not JSON"},
		"another content type":       {say(400, "text/plain", `{}`), `the content type "text/plain" is not described`},
		"takes everything":           {say(200, data, `{"n":1}`), "the body is not as described, and was accepted"},
		"answers strangers":          {say(200, data, `{"n":1}`), "it was answered without a token"},
		"answers foreign pages":      {say(200, data, `{"n":1}`), "it was answered to a foreign page"},
		"takes every query":          {say(200, data, `{"n":1}`), "?page=0 is not as described, and was accepted"},
		"takes unknown queries":      {say(200, data, `{"n":1}`), "?unknown is not described, and was accepted"},
		"takes broken queries":       {say(200, data, `{"n":1}`), "a query that cannot be read was accepted"},
		"takes what is no JSON":      {say(200, data, `{"n":1}`), "a body that is not JSON was accepted"},
		"fails inside":               {say(500, data, `{"code":"INTERNAL_ERROR"}`), "it failed inside"},
		"tells secrets":              {say(400, data, `{"error":"`+canary+`"}`), "a secret is in the answer"},
		"tells secrets in a header":  {say(400, data, `{}`, "X-Echo", canary), "a secret is in the answer"},
		"a limit without an end":     {say(429, data, `{}`), "429 does not say when to come back"},
		"a limit of words":           {say(429, data, `{}`, "Retry-After", "soon"), "429 does not say when to come back"},
		"leads nowhere":              {say(302, data, ``), "leads nowhere"},
		"panics":                     {func(http.ResponseWriter, *http.Request) { panic("oh") }, "it panicked: oh"},
	} {
		t.Run(name, func(t *testing.T) {
			got := surveyOf(t, c.thing, say(405, data, `{}`, "Allow", "POST"))
			if c.complaint == "" && got != "" || !strings.Contains(got, c.complaint) {
				t.Errorf("complained %.2000q, want %q", got, c.complaint)
			}
		})
	}
	for name, c := range map[string]struct {
		other     http.HandlerFunc
		complaint string
	}{
		"other methods are not found":   {say(404, data, `{}`), "which is a 405"},
		"other methods are carried out": {say(200, data, `{"n":1}`), "which is a 405"},
		"nothing is said of methods":    {say(405, data, `{}`), "lacks POST"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := surveyOf(t, say(400, data, `{}`), c.other); !strings.Contains(got, c.complaint) {
				t.Errorf("complained %.2000q, want %q", got, c.complaint)
			}
		})
	}
}

// surveyOf is what is complained about an API with one thing in it.
func surveyOf(t *testing.T, thing, other http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(smallDescription)) })
	mux.HandleFunc("POST /v1/thing", thing)
	mux.HandleFunc("/v1/thing", other)
	s := newSurveyor(t, mux, nil)
	s.secrets = []string{canary}
	var problems []string
	for seed := range uint64(3) { // what is asked wrongly is the seed's choice
		more, _ := s.survey(&s.operations[0], seed)
		problems = append(problems, more...)
	}
	// Which wrong page was accepted is the seed's choice.
	return regexp.MustCompile(`\?page=\S+ is not`).ReplaceAllString(strings.Join(problems, "\n"), "?page=0 is not")
}
