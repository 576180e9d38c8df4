package api

import (
	"context"
	"encoding/json"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// Settings are the settings of the configuration file. They are JSON objects by their
// keys there.
type Settings interface {
	Settings() ([]byte, error)
	// ChangeSettings changes them in the file; null removes one.
	ChangeSettings(ctx context.Context, settings []byte) error
	FixedFile() (why gateway.Text, fixed bool)
}

func (a *API) settingRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/settings", who: forAdmins, id: "getSettings", summary: "Show the settings of the configuration file",
			about:  "Those that PATCH can change. Flags and environment variables come before them.",
			answer: client.Settings{}, failures: []restError{restErrorOf(gateway.CodeConflict)}, serve: a.getSettings,
		},
		{
			method: "PATCH", path: "/v1/settings", who: forAdmins, id: "changeSettings", summary: "Change settings in the configuration file",
			about: "Each key replaces the setting of that name, and null removes it. The file is edited in place: comments and everything else keep their bytes. " +
				"The change holds at once. A literal apiKey is kept encrypted, and the file refers to it.",
			body: client.SettingsPatch{}, answer: client.Settings{}, failures: []restError{restErrorOf(gateway.CodeInvalid), restErrorOf(gateway.CodeConflict)}, serve: a.changeSettings,
		},
		{
			method: "POST", path: "/v1/n8n/test", who: forAdmins, id: "testN8N", summary: "Ask an n8n instance whether it can be used",
			about: "Nothing is kept.",
			body:  client.N8NInstance{}, answer: client.N8NTest{}, failures: []restError{restErrorOf(gateway.CodeInvalid)}, serve: a.testN8N,
		},
		{
			method: "POST", path: "/v1/embeddings/test", who: forAdmins, id: "testEmbeddings", summary: "Ask a model for a vector",
			about: "The model gets one word. Nothing is kept.",
			body:  client.EmbeddingsModel{}, answer: client.EmbeddingsTest{}, failures: []restError{restErrorOf(gateway.CodeInvalid)}, serve: a.testEmbeddings,
		},
	}
}

func (a *API) getSettings(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	raw, err := a.opt.Settings.Settings()
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.Settings{File: a.opt.ConfigFile, Settings: map[string]any{}}
	if err := json.Unmarshal(raw, &out.Settings); err != nil {
		a.fail(w, err)
		return
	}
	why, _ := a.opt.Settings.FixedFile()
	out.Fixed = a.language().Text(why)
	if problem, at := a.opt.EmbeddingsProblem(); problem.Format != "" {
		out.Embeddings = &client.EmbeddingsProblem{Problem: a.language().Text(problem)}
		if !at.IsZero() {
			out.Embeddings.At = &at
		}
	}
	encode(w, http.StatusOK, out)
}

func (a *API) changeSettings(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	var in client.SettingsPatch
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	raw, err := json.Marshal(in)
	if err == nil {
		err = a.opt.Settings.ChangeSettings(r.Context(), raw)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	a.getSettings(w, r, id)
}

func (a *API) testN8N(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.N8NInstance
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	raw, err := json.Marshal(in) //nolint:gosec // the key is for the instance, and stays in this process
	if err != nil {
		a.fail(w, err)
		return
	}
	problem, advice, err := a.opt.TestN8N(r.Context(), raw)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.N8NTest{OK: problem.String() == "", Problem: a.language().Text(problem), Advice: a.language().Text(advice)})
}

func (a *API) testEmbeddings(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.EmbeddingsModel
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	raw, err := json.Marshal(in) //nolint:gosec // the key is for the model, and stays in this process
	if err != nil {
		a.fail(w, err)
		return
	}
	problem, err := a.opt.TestEmbeddings(r.Context(), raw)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.EmbeddingsTest{OK: problem.String() == "", Problem: a.language().Text(problem)})
}
