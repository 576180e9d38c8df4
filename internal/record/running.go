package record

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/tokens"
)

// running are the calls that have not ended, by their IDs. The memory of a call is used
// again, so that calls allocate nothing for it.
type running struct {
	mu    sync.Mutex
	calls map[string]*runningCall
	spare []*runningCall
}

// runningCall is a call that has not ended.
type runningCall struct {
	entry history.Entry
	who   gateway.Identity
	asked []byte
	// cancel ends the call.
	cancel context.CancelCauseFunc
	// quiet is until when its progress is not announced again.
	quiet time.Time
	// complete is set when complete progress was announced.
	complete bool
}

func (r *running) begin(e history.Entry, call *gateway.Call, cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var one *runningCall
	if n := len(r.spare); n > 0 {
		one, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		one = &runningCall{}
	}
	one.entry, one.who, one.asked, one.cancel = e, call.Identity, call.Params.Raw, cancel
	if r.calls == nil {
		r.calls = map[string]*runningCall{}
	}
	r.calls[e.ID] = one
}

func (r *running) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.calls[id]; one != nil {
		delete(r.calls, id)
		*one = runningCall{}
		r.spare = append(r.spare, one)
	}
}

// progressPause is how long the progress of a call is not announced again.
const progressPause = 200 * time.Millisecond

// progressed returns the entry of a call whose progress is announced now. It reports false
// if the call has ended, or its progress was announced less than a progressPause ago. The
// first complete progress is announced without a pause, because often none follows it.
func (r *running) progressed(id string, complete bool, now time.Time) (e history.Entry, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.calls[id]
	if one == nil || now.Before(one.quiet) && (!complete || one.complete) {
		return e, false
	}
	one.quiet, one.complete = now.Add(progressPause), one.complete || complete
	return one.entry, true
}

// Running returns a call that has not ended, and what its client sent, if the history
// keeps that of this client.
func (r *Recorder) Running(id string) (e history.Entry, request []byte, ok bool) {
	r.running.mu.Lock()
	one := r.running.calls[id]
	if one == nil {
		r.running.mu.Unlock()
		return e, nil, false
	}
	found := *one
	r.running.mu.Unlock()
	e = found.seen()
	if k := r.keeper.keeping(); k.History != nil && k.Bodies(found.who) {
		request = found.asked
	}
	return e, request, true
}

// AllRunning returns the calls that have not ended, in no order.
func (r *Recorder) AllRunning() []history.Entry {
	r.running.mu.Lock()
	defer r.running.mu.Unlock()
	all := make([]history.Entry, 0, len(r.running.calls))
	for _, one := range r.running.calls {
		all = append(all, one.seen())
	}
	return all
}

// errCanceledByPerson is the cause of the end of a call that Cancel ends.
var errCanceledByPerson = &gateway.Error{Code: gateway.CodeCanceled, Err: errors.New("a person canceled the call")}

// Cancel ends a call that has not ended, and with it the calls that it made. It reports
// false if there is no such call.
func (r *Recorder) Cancel(id string) bool {
	r.running.mu.Lock()
	defer r.running.mu.Unlock()
	one := r.running.calls[id]
	if one != nil {
		one.cancel(errCanceledByPerson)
	}
	return one != nil
}

// errRevoked is the cause of the end of a call whose client's token was revoked.
var errRevoked = &gateway.Error{Code: gateway.CodeCanceled, Err: errors.New("the token of the call's client was revoked")}

// CancelOf ends the calls of a client whose token was revoked.
func (r *Recorder) CancelOf(client string) {
	r.running.mu.Lock()
	defer r.running.mu.Unlock()
	for _, one := range r.running.calls {
		if one.who.ClientID == client {
			one.cancel(errRevoked)
		}
	}
}

// canceled returns the error of a call that Cancel or CancelOf has ended, and err for others. A
// call that a canceled call made has the same error.
func canceled(ctx context.Context, call *gateway.Call, err error) error {
	switch cause := context.Cause(ctx); {
	case err != nil && errors.Is(cause, errRevoked):
		return told(errRevoked, gateway.Textf("the token of this client was revoked, which canceled its calls"))
	case err == nil || !errors.Is(cause, errCanceledByPerson):
		return err
	}
	if call.Attempts == 0 || gateway.AsError(err).Unsent {
		return told(errCanceledByPerson, gateway.Textf("a person canceled this call in Genkan before it was sent; ask the user before you call again"))
	}
	return told(errCanceledByPerson, gateway.Textf("a person canceled this call in Genkan; the server was told to stop, but the call may have been carried out. Ask the user before you call again"))
}

// told returns the error of a call that was canceled by somebody else than its client, which is
// still there to be told so.
func told(cause *gateway.Error, text gateway.Text) error {
	return &gateway.Error{Code: gateway.CodeCanceled, Message: text.Format, Err: cause}
}

// isTold reports whether a client was told of an error that no server made. A client that cancels
// a call itself is not.
func isTold(err error) bool {
	return gateway.AsError(err).Code != gateway.CodeCanceled || errors.Is(err, errCanceledByPerson) || errors.Is(err, errRevoked)
}

// seen returns the entry of the call as it is now.
func (c *runningCall) seen() history.Entry {
	e := c.entry
	e.Outcome, e.Took = history.OutcomeRunning, time.Since(e.Started)
	e.BytesIn, e.TokensIn = len(c.asked), tokens.Estimate(c.asked)
	return e
}
