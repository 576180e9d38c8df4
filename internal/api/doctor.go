package api

import (
	"net/http"
	"slices"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/lang"
)

func (a *API) doctorRoute() route {
	return route{
		method: "GET", path: "/v1/doctor", who: forAdmins, id: "doctor", summary: "Find out what is wrong, and what mends it",
		about: "As genkan doctor does: this program, the data directory, the configuration, the port, each server and the files of clients. " +
			"Servers that are starting are not waited for; those that are ready are asked for a sign of life, which takes five seconds if none comes. Nothing is changed.",
		query:  []query{{name: "server", kind: "string", about: "Only this server, and what is wrong around it; may be repeated.", repeats: true}},
		answer: client.DoctorReport{}, failures: []restError{restErrorOf(gateway.CodeNotFound)}, serve: a.doctor,
	}
}

func (a *API) doctor(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	only := r.URL.Query()["server"]
	for _, name := range only {
		isPart := slices.ContainsFunc(a.opt.House().BuiltIn(), func(s gateway.Source) bool { return s.Name() == name })
		if !a.isDeclared(name) && (!isPart || name == kb.SourceName) {
			a.noSuchServer(w, name)
			return
		}
	}
	found, err := a.opt.Doctor(r.Context(), only)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, DoctorReportOf(found, a.language()))
}

func (a *API) isDeclared(name string) bool {
	for _, each := range a.opt.House().Declared() {
		if each.Name == name {
			return true
		}
	}
	return false
}

// DoctorReportOf returns the doctor's findings in REST's form.
func DoctorReportOf(found []doctor.Finding, l lang.Language) client.DoctorReport {
	out := client.DoctorReport{OK: doctor.Worst(found) < doctor.Problem, Findings: []client.DoctorFinding{}}
	for _, f := range found {
		out.Findings = append(out.Findings, DoctorFindingOf(f, l))
	}
	return out
}

// DoctorFindingOf returns a finding in REST's form.
func DoctorFindingOf(f doctor.Finding, l lang.Language) client.DoctorFinding {
	lines := f.Lines
	if f.Detail.Format != "" {
		lines = append([]string{l.Text(f.Detail)}, lines...)
	}
	out := client.DoctorFinding{
		Subject: f.Subject.String(), Severity: f.Severity.String(), Title: l.Text(f.Title),
		Detail: strings.Join(lines, "\n"), Lines: f.Lines, Fix: f.Fix.Command, Command: f.Fix.Command,
	}
	for _, at := range f.Times {
		out.Times = append(out.Times, client.DoctorTime{Text: doctor.Local(at), Time: at.UTC()})
	}
	if f.Fix.Text.Format != "" {
		text := l.Text(f.Fix.Text)
		out.Advice = text
		if place := l.Text(f.Fix.Place); place != "" && strings.Contains(text, place) {
			out.Place = place
		}
		switch {
		case out.Fix == "":
			out.Fix = text
		case text != "":
			out.Fix = l.Sprintf("%s  (%s)", out.Fix, text)
		}
	}
	if f.Fix.Request.Method != "" {
		request := client.DoctorRequest(f.Fix.Request)
		out.Request = &request
	}
	return out
}
