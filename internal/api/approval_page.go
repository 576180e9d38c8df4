package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/workflow"
)

//go:embed approval.html
var approvalTemplate string

// approvalPage is the parsed page and its content security policy: it has its own style,
// runs no scripts, loads nothing, and can be sent to genkan only.
//
//nolint:gochecknoglobals // parsed once
var approvalPage = sync.OnceValues(func() (*template.Template, string) {
	_, style, _ := strings.Cut(approvalTemplate, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return template.Must(template.New("approval").Parse(approvalTemplate)),
		"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
})

// shownApproval is what the page shows.
type shownApproval struct {
	Lang, Title, Text string
	Call              *shownCall
}

// shownCall is the call that waits.
type shownCall struct {
	Rows                           []shownRow
	Arguments, Hash, Approve, Deny string
	// Missing says what the arguments lack, and All names the link to the page with all of
	// them; empty if nothing is cut.
	Missing []string
	All     string
}

type shownRow struct{ Name, Value string }

// byLink is who decides over the link of an approval. Nobody knows more.
const byLink = "link"

// longestForm is the largest form of a decision, in bytes.
const longestForm = 4 << 10

// ApprovalPage serves the page to which the link of an approval leads. Opening it decides
// nothing, because programs open links, too: a decision is a POST of its form. The code
// in the path is all that it takes.
func (a *API) ApprovalPage(w http.ResponseWriter, r *http.Request) {
	if a.opt.Visit != nil && !a.opt.Visit(w, r) {
		return
	}
	if a.opt.Approvals == nil {
		a.Nothing(w)
		return
	}
	code := r.PathValue("code")
	if r.Method == http.MethodPost {
		a.decideOnPage(w, r, code)
		return
	}
	p, err := a.opt.Approvals.Find(code)
	if err == nil && r.URL.Query().Has("all") {
		p, err = a.opt.Approvals.Get(p.ID)
	}
	if err != nil {
		a.refuseOnPage(w, r, err)
		return
	}
	a.showPage(w, http.StatusOK, a.askOnPage(&p))
}

// askOnPage asks about a call.
func (a *API) askOnPage(p *workflow.Approval) shownApproval {
	say := a.language()
	call := &shownCall{Arguments: visible(indentedJSON(p.Arguments)), Hash: p.Hash, Approve: say.Sprintf("Allow this call"), Deny: say.Sprintf("Refuse it")}
	add := func(name, value string) {
		if value != "" {
			call.Rows = append(call.Rows, shownRow{name, gateway.Printable(value)})
		}
	}
	add(say.Sprintf("Tool"), p.Tool)
	add(say.Sprintf("Client"), p.Client)
	add(say.Sprintf("Workflow"), p.Workflow)
	add(say.Sprintf("Until"), p.ExpiresAt.UTC().Format(time.RFC1123))
	if p.NotShown > 0 {
		call.Missing = append(call.Missing, say.Sprintf("%d bytes of the arguments are not shown here.", p.NotShown))
		call.All = say.Sprintf("Show all of them")
	}
	if p.Masked {
		call.Missing = append(call.Missing, say.Sprintf("Parts of the arguments are hidden, because Genkan keeps them secret."))
	}
	title := visible(p.Message)
	if title == "" {
		title = gateway.Printable(say.Sprintf("The workflow %q asks before %s is called.", p.Workflow, p.Tool))
	}
	return shownApproval{Title: title, Call: call}
}

// visible writes hidden characters as escapes, but for line breaks and tabs.
func visible(text string) string { return gateway.Escape(text, true, gateway.AppendEscape) }

// indentedJSON makes JSON readable. Other texts stay.
func indentedJSON(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

func (a *API) decideOnPage(w http.ResponseWriter, r *http.Request, code string) {
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	decision := r.PostFormValue("decision")
	if decision != client.Approve && decision != client.Deny {
		a.refuseOnPage(w, r, gateway.Errorf(gateway.CodeInvalid, "decision must be approve or deny, is %q", gateway.Short(decision)))
		return
	}
	p, err := a.opt.Approvals.Find(code)
	if err != nil {
		a.refuseOnPage(w, r, err)
		return
	}
	approve := decision == client.Approve
	if err = a.opt.Approvals.DecideByCode(r.Context(), code, r.PostFormValue("hash"), byLink, approve); err != nil {
		a.refuseOnPage(w, r, err)
		return
	}
	a.opt.Log.Info("an approval was decided over its link", "approval", p.ID, "workflow", p.Workflow, "approved", approve, "remote_address", r.RemoteAddr)
	title := a.language().Sprintf("The call was allowed.")
	if !approve {
		title = a.language().Sprintf("The call was refused.")
	}
	a.showPage(w, http.StatusOK, shownApproval{Title: title})
}

func (a *API) refuseOnPage(w http.ResponseWriter, r *http.Request, err error) {
	e := gateway.AsError(err)
	status := restErrorOf(e.Code).status
	if a.opt.Refused != nil {
		a.opt.Refused(r, status, e.Code.String())
	}
	a.showPage(w, status, shownApproval{Title: a.language().Sprintf("Nothing was decided here"), Text: a.language().Error(e)})
}

func (a *API) showPage(w http.ResponseWriter, status int, shown shownApproval) {
	page, policy := approvalPage()
	shown.Lang = "en"
	if a.language() == lang.Japanese {
		shown.Lang = "ja"
	}
	var b bytes.Buffer
	if err := page.Execute(&b, shown); err != nil {
		a.fail(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Robots-Tag", "noindex")
	// No other site learns the code. no-referrer would also take the origin from the form.
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
