package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// baseOf returns what a change was made to; the zero value if the request does not say.
func baseOf(r *http.Request) (workflow.Base, *gateway.Error) {
	if n := numberIn(r.URL.Query(), "base", 0); n != 0 {
		return workflow.Base{Version: n}, nil
	}
	tag := r.Header.Get("If-Match")
	if tag == "" {
		return workflow.Base{}, nil
	}
	number, at, said := strings.Cut(strings.Trim(strings.TrimPrefix(tag, "W/"), `"`), "-")
	n, err := strconv.Atoi(number)
	saved := int64(0)
	if said && err == nil {
		saved, err = strconv.ParseInt(at, 10, 64)
	}
	if err != nil || n < 1 {
		return workflow.Base{}, invalid("If-Match must be the ETag of an answer, or the number of a version, is %q", gateway.Short(tag))
	}
	return workflow.Base{Version: n, At: workflow.Millis(saved)}, nil
}

// tagOf is the ETag of a workflow: the newest version, and when it was saved.
func tagOf(s *workflow.Stored) string {
	return fmt.Sprintf(`"%d-%d"`, s.Version, s.UpdatedAt)
}

// checkBase refuses a change of a workflow that does not say which version it was made
// to. A change that does is checked when it is stored.
func (a *API) checkBase(r *http.Request, id string, base int) error {
	newest, err := a.opt.Workflows.Workflow(r.Context(), id, 0)
	if err != nil || base != 0 {
		return nil //nolint:nilerr // there is none yet
	}
	return gateway.Errorf(gateway.CodeConflict, "workflow %q exists already, with version %d; to change it, say that the change was made to that version: ?base=%d, or version in the definition",
		id, newest.Version, newest.Version)
}

// checkThere refuses a change that the request says was made to a version of a workflow that
// was deleted since. The version in a definition says only where that comes from.
func (a *API) checkThere(r *http.Request, id string, base int) error {
	if base == 0 {
		return nil
	}
	_, err := a.opt.Workflows.Workflow(r.Context(), id, 0)
	return err
}
