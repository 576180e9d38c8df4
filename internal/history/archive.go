package history

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Archive is the history as people and programs see it: everybody their own calls,
// administrators all, and nobody a secret.
type Archive struct {
	Reader *Reader
	// Writer is the process's own writer; nil if it writes nothing.
	Writer *Writer
	// Running returns a call of the process that has not ended, and what its client sent,
	// if that will be kept; nil if the process carries out no calls.
	Running func(id string) (e Entry, request []byte, ok bool)
	// AllRunning returns all calls of the process that have not ended; nil as Running.
	AllRunning func() []Entry
	// CancelRunning ends such a call. It reports false if there is none; nil as Running.
	CancelRunning func(id string) bool
	// Redact returns what takes the secrets out of a body. It returns the body without
	// them and the rules that it broke.
	Redact func(context.Context) (func([]byte) ([]byte, []string), error)
	// Log records who reads the bodies of others.
	Log *slog.Logger
	// Since returns since when a reader has its name, which somebody else may have had
	// before; the zero time if it always had it.
	Since func(context.Context, gateway.Identity) (time.Time, error)
}

// Listed is a call in a list.
type Listed struct {
	Entry
	// Arguments is the beginning of the call's arguments; empty if they are not kept, or
	// if the call is another client's.
	Arguments string
}

// Listing is a page of a list.
type Listing struct {
	Page
	Calls []Listed
}

// Shown is a call with what was sent and received, without secrets.
type Shown struct {
	Entry
	Request, Response []byte
	// Unreadable is why the bodies cannot be read; nil if they can, or if there are
	// none.
	Unreadable error
	// Redacted are the rules by which something was taken out.
	Redacted []string
}

// limited returns the query with what the reader may not see taken out.
func (a *Archive) limited(ctx context.Context, q Query, who gateway.Identity) (Query, error) {
	if who.Admin {
		return q, nil
	}
	q.Caller = who.ClientID
	if a.Since == nil {
		return q, nil
	}
	since, err := a.Since(ctx, who)
	if since.After(q.Since) {
		q.Since = since
	}
	return q, err
}

func (a *Archive) flush(ctx context.Context) {
	if a.Writer != nil {
		a.Writer.Flush(ctx)
	}
}

// List returns a page of the calls that the reader may see.
func (a *Archive) List(ctx context.Context, who gateway.Identity, q Query) (Listing, error) {
	a.flush(ctx)
	redact, unknown := a.Redact(ctx)
	if unknown != nil && q.Text != "" {
		return Listing{}, unknown // what may be found is not known
	}
	without := func(body []byte) []byte { body, _ = redact(body); return body }
	q, err := a.limited(ctx, q, who)
	if err != nil {
		return Listing{}, err
	}
	page, err := a.Reader.List(ctx, q, without)
	list := Listing{Page: page, Calls: make([]Listed, len(page.Calls))}
	var others []string
	for i, e := range page.Calls {
		list.Calls[i] = Listed{Entry: e}
		if !e.Has(HasBodies) {
			continue
		}
		if isAnothers(e.Caller, who) && !slices.Contains(others, e.Caller) {
			others = append(others, e.Caller)
		}
		if !listsArguments(e, who, unknown) {
			continue
		}
		if b, err := a.Reader.open(ctx, page.sealed[i]); err == nil {
			list.Calls[i].Arguments = digest(b.Request, without)
			if strings.Contains(e.Error, maskedArgument) && len(b.Response) <= errorFrom {
				list.Calls[i].Error = errorIn(without(b.Response), e)
			}
		}
	}
	if q.Text != "" && others != nil {
		a.Log.Info("an administrator searched in what other clients sent and received", "clients", strings.Join(others, ", "), "reader", who.ClientID)
	}
	return list, err
}

// Unended returns the calls that have not ended and that the reader may see, the newest
// first.
func (a *Archive) Unended(ctx context.Context, who gateway.Identity) ([]Listed, error) {
	q, err := a.limited(ctx, Query{}, who)
	if err != nil || a.AllRunning == nil {
		return nil, err
	}
	redact, unknown := a.Redact(ctx)
	without := func(body []byte) []byte { body, _ = redact(body); return body }
	all := slices.DeleteFunc(a.AllRunning(), func(e Entry) bool {
		return q.Caller != "" && q.Caller != e.Caller || e.Started.Before(q.Since)
	})
	slices.SortFunc(all, func(a, b Entry) int { return b.Started.Compare(a.Started) })
	listed := make([]Listed, len(all))
	for i, e := range all {
		listed[i].Entry = e
		if !listsArguments(e, who, unknown) {
			continue
		}
		if _, request, ok := a.Running(e.ID); ok && request != nil {
			listed[i].Arguments = digest(request, without)
		}
	}
	return listed, nil
}

// Show returns a call that the reader may see, also one that has not ended.
func (a *Archive) Show(ctx context.Context, who gateway.Identity, id string) (Shown, error) {
	q, err := a.limited(ctx, Query{}, who)
	if err != nil {
		return Shown{}, err
	}
	if e, request, ok := a.running(id, q); ok {
		if request != nil {
			e.Flags |= HasBodies
		}
		if len(request) > maxBody {
			e.Flags |= RequestCut
		}
		return a.shown(ctx, who, e, func() (Bodies, error) { return Bodies{Request: beginning(request)}, nil }), nil
	}
	e, s, err := a.ended(ctx, id, q)
	if err != nil {
		return Shown{}, err
	}
	return a.shown(ctx, who, e, func() (Bodies, error) { return a.Reader.open(ctx, s) }), nil
}

// running returns a call that has not ended and that the query selects.
func (a *Archive) running(id string, q Query) (e Entry, request []byte, ok bool) {
	if a.Running == nil {
		return e, nil, false
	}
	e, request, ok = a.Running(id)
	return e, request, ok && (q.Caller == "" || q.Caller == e.Caller) && !e.Started.Before(q.Since)
}

// ended returns a call that has ended and that the query selects.
func (a *Archive) ended(ctx context.Context, id string, q Query) (Entry, *sealed, error) {
	a.flush(ctx)
	e, s, err := a.Reader.get(id, q.Caller)
	if err == nil && e.Started.Add(e.Took).Before(q.Since) {
		err = errForgotten(id)
	}
	return e, s, err
}

// Cancel ends a call that has not ended, if who may see it.
func (a *Archive) Cancel(ctx context.Context, who gateway.Identity, id string) error {
	q, err := a.limited(ctx, Query{}, who)
	if err != nil {
		return err
	}
	if _, _, ok := a.running(id, q); ok && a.CancelRunning(id) {
		return nil
	}
	if _, _, err := a.ended(ctx, id, q); err != nil {
		return err
	}
	return gateway.Errorf(gateway.CodeConflict, "call %s has ended already, so nothing was canceled; `genkan calls show %s` shows how it went", id, id)
}

// shown returns a call with its bodies, without secrets.
func (a *Archive) shown(ctx context.Context, who gateway.Identity, e Entry, open func() (Bodies, error)) Shown {
	shown := Shown{Entry: e}
	if !e.Has(HasBodies) {
		return shown
	}
	bodies, err := open()
	var redact func([]byte) ([]byte, []string)
	if err == nil {
		redact, err = a.Redact(ctx)
	}
	if err != nil {
		a.Log.Warn("the bodies of a call cannot be read", "request_id", e.ID, "error", err)
		shown.Unreadable = err
		return shown
	}
	if isAnothers(e.Caller, who) {
		a.Log.Info("an administrator read what another client sent and received", "request_id", e.ID, "client", e.Caller, "reader", who.ClientID)
	}
	for _, body := range []struct {
		from []byte
		into *[]byte
	}{{bodies.Request, &shown.Request}, {bodies.Response, &shown.Response}} {
		if body.from == nil {
			continue
		}
		var rules []string
		*body.into, rules = redact(body.from)
		shown.Redacted = append(shown.Redacted, rules...)
	}
	if strings.Contains(e.Error, maskedArgument) {
		shown.Error = errorIn(shown.Response, e)
	}
	return shown
}

const (
	// maskedArgument is what stands in the error of an entry for each argument of the
	// call that the server repeated: entries are stored and logged in the clear.
	maskedArgument = "***"
	// maxError bounds an error, and errorFrom the answers of which a list reads it, in bytes.
	maxError, errorFrom = 300, 64 << 10
)

// errorIn returns the error of a call as its answer says it, which readers of the bodies
// may see with the arguments. The answer is without secrets. It returns the masked error if
// the answer does not say it.
func errorIn(answer []byte, e Entry) string {
	text, before := jsonrpc.LookupText(answer, "message"), ""
	if text != "" { // "the server answered with error -32602: …"
		before, _, _ = strings.Cut(e.Error, ": ")
		before += ": "
	}
	_ = jsonrpc.Elements(jsonrpc.Lookup(answer, "content"), func(item []byte) bool {
		text = jsonrpc.LookupText(item, "text")
		return text == ""
	})
	if text = strings.TrimSpace(text); text == "" {
		return e.Error
	}
	text, cut := gateway.Cut(gateway.Printable(text), maxError)
	if cut > 0 {
		text += "…"
	}
	return before + text
}

// Trace returns what workflows did to a call, as it was; nil if that is not kept. It is
// for administrators. Whoever shows it takes secrets out first.
func (a *Archive) Trace(ctx context.Context, id string) ([]byte, error) {
	a.flush(ctx)
	_, bodies, err := a.Reader.Bodies(ctx, id, "")
	return bodies.Trace, err
}

// isAnothers reports whether a call is not the reader's own. Those of the local user's
// clients are, for the local user.
func isAnothers(caller string, who gateway.Identity) bool {
	return caller != who.ClientID && !(who.IsLocal() && gateway.Identity{ClientID: caller, Admin: caller == gateway.AdminClient}.IsLocal())
}

// listsArguments reports whether lists show the arguments of a call. Those of others are
// shown one by one only, because that is logged, and none are while it is not known what in
// them is secret.
func listsArguments(e Entry, who gateway.Identity, unknown error) bool {
	return unknown == nil && !isAnothers(e.Caller, who)
}

// Stats returns the sums of the calls that the reader may see.
func (a *Archive) Stats(ctx context.Context, who gateway.Identity, q Query) (Stats, error) {
	a.flush(ctx)
	q, err := a.limited(ctx, q, who)
	if err != nil {
		return Stats{}, err
	}
	return a.Reader.Stats(ctx, q)
}

// Series returns how the calls that the reader may see went over time.
func (a *Archive) Series(ctx context.Context, who gateway.Identity, q Query, spacing Spacing) (Series, error) {
	a.flush(ctx)
	q, err := a.limited(ctx, q, who)
	if err != nil {
		return Series{}, err
	}
	return a.Reader.Series(ctx, q, spacing)
}

// Status says how the history is.
type Status struct {
	// Problem is why not everything is kept; nil if everything is.
	Problem *Problem
	// Dropped are the calls, and Bodies the bodies of further calls, that were lost
	// since the process started.
	Dropped, Bodies uint64
}

// Status returns how the history of this process is.
func (a *Archive) Status() Status {
	if a.Writer == nil {
		return Status{}
	}
	s := Status{Problem: a.Writer.Problem()}
	s.Dropped, s.Bodies = a.Writer.Dropped()
	return s
}

// The digest of arguments is at most maxDigest bytes of the first digestFrom, without
// the secrets in them.
const maxDigest, digestFrom = 160, 4 << 10

// digest returns the beginning of a call's arguments on one line.
func digest(request []byte, redact func([]byte) []byte) string {
	arguments := jsonrpc.Lookup(request, "arguments")
	if arguments == nil {
		arguments = request // of another kind, or cut
	}
	text := redact(arguments[:min(len(arguments), digestFrom)])
	var compact bytes.Buffer
	if json.Compact(&compact, text) == nil {
		text = compact.Bytes()
	}
	line := strings.Join(strings.Fields(string(jsonrpc.Readable(text))), " ")
	short, cut := gateway.Cut(line, maxDigest)
	if cut > 0 || len(arguments) > digestFrom {
		short += "…"
	}
	return gateway.Printable(short)
}
