package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/seal"
)

// A modern client cannot be sent a request. It gets the answer that more input is
// required, and sends the input with its next request. A legacy server waits for
// the answer to its question meanwhile. So the whole call is parked: the corridor
// keeps waiting in its own goroutine, the client gets a handle, and the retry that
// brings the handle back continues the call.

const (
	statePrefix  = "genkan."
	statePurpose = "park"
	// longestState bounds the state strings that genkan may have made, in bytes.
	longestState = 128
	// mostParks is how many calls one caller may have parked.
	mostParks = 64
	// gathering is how long a call waits for more questions after its first one. A
	// server that asks several at once should cost the client one round trip.
	gathering = 20 * time.Millisecond
)

// parks are the calls that wait for their clients to come back.
type parks struct {
	sign seal.Sealer
	seed maphash.Seed
	mu   sync.Mutex
	byID map[parkID]*park
	// perCaller is the number of parked calls of each caller.
	perCaller map[string]int
}

type parkID [16]byte

func (ps *parks) init(sign seal.Sealer) {
	ps.sign, ps.seed = sign, maphash.MakeSeed()
	ps.byID = map[parkID]*park{}
	ps.perCaller = map[string]int{}
}

func (ps *parks) count() int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return len(ps.byID)
}

// park is a modern call whose client may be asked questions.
type park struct {
	server *Server
	id     parkID
	call   *gateway.Call
	// params are the params of the first request. A middleware in the corridor may
	// change those of the call.
	params gateway.Params
	digest uint64
	cancel context.CancelCauseFunc
	// finished is closed when the corridor has returned.
	finished chan struct{}
	result   *gateway.Result
	err      error

	mu sync.Mutex
	// out receives notifications for the client; nil while parked.
	out notifier
	// questions are the open questions, in order; asked is signaled when one is
	// added.
	questions []*question
	asked     chan struct{}
	lastKey   int
	// round is the current round. Only its state is valid.
	round  uint16
	listed bool
	// away is set while the call is parked. expiry ends it if the client does not come back
	// in time: with the input, or for the result. It does not run while the call needs no
	// input, and an approved call may be under way at its server.
	away   bool
	expiry *time.Timer
	// source is the server that asked.
	source gateway.Source
}

// notifier takes notifications for a client.
type notifier interface {
	Notify(method string, params []byte)
}

type question struct {
	key, method string
	params      []byte
	answer      chan []byte
}

// handle executes a call. The call can be parked if its client may be asked
// questions and can answer only with its next request. Call release when the answer
// has been sent.
func (s *Server) handle(ctx context.Context, call *gateway.Call, out gateway.Peer) (_ *gateway.Result, release func(), _ error) {
	if call.Era == gateway.EraModern && call.Params.RequestState.Present() {
		k, ours, err := s.parks.take(call)
		if err != nil {
			return nil, call.Release, err
		}
		if ours {
			k.call.SetProgressToken(call.Params.Get(call.Params.ProgressToken))
			k.welcome(out) // before the server gets the answer and continues
			k.answer(call.Params.Get(call.Params.InputResponses))
			result, release, err := k.attend(ctx, out)
			return result, func() { call.Release(); release() }, err
		}
	}
	if call.Era != gateway.EraModern || !mayBeAsked(call.Capabilities()) {
		call.Peer = out
		result, err := s.opt.House().Handle(ctx, call)
		return result, call.Release, err
	}
	k := &park{
		server: s, call: call, params: call.Params,
		finished: make(chan struct{}), asked: make(chan struct{}, 1), out: out,
	}
	// The call outlives the request that began it.
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.life, func() { cancel(errGoingDown()) })
	k.cancel = cancel
	call.Peer = k
	go func() {
		defer stop()
		defer k.finish()
		k.result, k.err = s.opt.House().Handle(life, call)
	}()
	return k.attend(ctx, out)
}

// mayBeAsked reports whether a client announces a capability to answer questions.
func mayBeAsked(capabilities []byte) bool {
	for _, word := range []string{"elicitation", "sampling", "roots"} {
		if jsonrpc.Lookup(capabilities, word) != nil {
			return true
		}
	}
	return false
}

// attend waits for the end of the call or for a question. A question parks the call
// and becomes the answer to the request.
func (k *park) attend(ctx context.Context, out notifier) (_ *gateway.Result, release func(), _ error) {
	k.welcome(out)
	for {
		select {
		case <-k.finished:
			return k.end()
		case <-k.asked:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			// A modern client cancels by closing the connection.
			k.cancel(context.Cause(ctx))
			<-k.finished
			return k.end()
		}
		more := time.NewTimer(gathering)
		select {
		case <-k.finished:
		case <-more.C:
		}
		more.Stop()
		result, parked, err := k.leave()
		if err != nil {
			k.cancel(err)
			<-k.finished
			return k.end()
		}
		if parked {
			return result, func() {}, nil
		}
	}
}

// finish is called when the corridor has returned. The result of a parked call is kept
// until its time is over.
func (k *park) finish() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.finished)
	k.restart()
}

// restart restarts the time that the client of a parked call has. Called with mu held.
func (k *park) restart() {
	if k.away {
		k.expiry.Reset(k.server.opt.AskPatience)
	}
}

// isFinished reports whether the corridor has returned.
func (k *park) isFinished() bool {
	select {
	case <-k.finished:
		return true
	default:
		return false
	}
}

// expire ends a parked call whose client did not come back in time.
func (k *park) expire() {
	k.mu.Lock()
	late := k.away && (len(k.questions) > 0 || k.isFinished())
	k.away = k.away && !late
	k.mu.Unlock()
	if !late { // the client came back, or the question was withdrawn, at this moment
		return
	}
	// The server is not at fault if the client does not answer.
	err := gateway.Errorf(gateway.CodeTimeout, "the client did not come back with the input within %s", k.server.opt.AskPatience)
	err.Answered = true
	k.cancel(err)
	<-k.finished
	k.server.parks.remove(k)
	k.call.Release()
}

// welcome sends notifications to the connection that waits now.
func (k *park) welcome(out notifier) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.out = out
}

// end returns the outcome of the call, and removes the park from the list.
func (k *park) end() (_ *gateway.Result, release func(), _ error) {
	k.cancel(nil)
	k.server.parks.remove(k)
	return k.result, k.call.Release, k.err
}

// leave parks the call and returns the answer to the request.
func (k *park) leave() (*gateway.Result, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.questions) == 0 {
		return nil, false, nil // the question was withdrawn meanwhile
	}
	requests := []byte{'{'}
	for i, q := range k.questions {
		if i > 0 {
			requests = append(requests, ',')
		}
		requests = append(jsonrpc.AppendQuoted(requests, q.key), `:{"method":`...)
		requests = append(jsonrpc.AppendQuoted(requests, q.method), `,"params":`...)
		requests = append(append(requests, q.params...), '}')
	}
	// The bytes that the request has counted are released with it, but the call
	// stays.
	if size := len(k.params.Raw) + len(requests); k.call.Reserved() < size {
		if err := k.call.Reserve(size - k.call.Reserved()); err != nil {
			return nil, false, err
		}
	}
	state, err := k.server.parks.add(k)
	if err != nil {
		return nil, false, err
	}
	k.out, k.source = nil, k.call.Tool.Source
	raw := append([]byte(`{"resultType":"input_required","inputRequests":`), requests...)
	raw = append(append(raw, `},"requestState":"`...), state...)
	return &gateway.Result{Raw: append(raw, `"}`...), Type: gateway.ResultInputRequired}, true, nil
}

// Notify notifies the client unless the call is parked.
func (k *park) Notify(method string, params []byte) {
	k.mu.Lock()
	out := k.out
	k.mu.Unlock()
	if out != nil {
		out.Notify(method, params)
	}
}

// Ask puts a question to the client and waits until a retry brings the answer.
func (k *park) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	k.mu.Lock()
	k.lastKey++
	q := &question{
		key: "genkan-" + strconv.Itoa(k.lastKey), method: method,
		params: bytes.Clone(params), answer: make(chan []byte, 1),
	}
	if len(k.questions) == 0 {
		k.restart()
	}
	k.questions = append(k.questions, q)
	k.mu.Unlock()
	signal(k.asked)
	select {
	case result := <-q.answer:
		return result, nil
	case <-ctx.Done():
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, open := range k.questions {
		if open == q {
			k.questions = append(k.questions[:i:i], k.questions[i+1:]...)
		}
	}
	if k.away && len(k.questions) == 0 && !k.isFinished() {
		k.expiry.Stop()
	}
	return nil, context.Cause(ctx)
}

// answer passes the client's answers to their questions. Questions without an
// answer are asked again.
func (k *park) answer(responses []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var open []*question
	for _, q := range k.questions {
		if response := jsonrpc.Lookup(responses, q.key); response != nil && response[0] == '{' {
			q.answer <- response
		} else {
			open = append(open, q)
		}
	}
	k.questions = open
	if len(open) > 0 {
		signal(k.asked)
	}
}

// add puts a park into the list, or back into it, and returns the state that opens
// it once. Called with the park's mu held.
func (ps *parks) add(k *park) (string, error) {
	if !k.listed {
		k.digest = ps.digest(k.call, &k.params)
		_, _ = rand.Read(k.id[:]) // it never fails
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	caller := k.call.Identity.ClientID
	if !k.listed {
		if ps.perCaller[caller] >= mostParks {
			return "", gateway.Errorf(gateway.CodeLimited,
				"%d calls of this client wait for more input already; answer some of them first", mostParks)
		}
		ps.perCaller[caller]++
		ps.byID[k.id] = k
		k.listed = true
	}
	k.round++
	k.away, k.expiry = true, time.AfterFunc(k.server.opt.AskPatience, k.expire)
	payload := binary.BigEndian.AppendUint16(append([]byte(nil), k.id[:]...), k.round)
	return statePrefix + ps.sign.Seal(statePurpose, payload, []byte(caller)), nil
}

// take returns the park that a retry continues. A state that genkan did not make is
// forwarded to the server that made it.
func (ps *parks) take(call *gateway.Call) (k *park, ours bool, err error) {
	raw := call.Params.Get(call.Params.RequestState)
	if len(raw) > longestState {
		return nil, false, nil
	}
	text, _ := jsonrpc.Unquote(raw)
	sealed, found := strings.CutPrefix(string(text), statePrefix)
	if !found {
		return nil, false, nil
	}
	payload, ok := ps.sign.Open(statePurpose, sealed, []byte(call.Identity.ClientID))
	if !ok || len(payload) != len(parkID{})+2 {
		return nil, false, nil
	}
	gone := gateway.Errorf(gateway.CodeInvalid,
		"this requestState is not good any more: it was used already, or the call that waited for it has ended. Call again without it")
	ps.mu.Lock()
	k = ps.byID[parkID(payload[:16])]
	ps.mu.Unlock()
	if k == nil {
		return nil, true, gone
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.round != binary.BigEndian.Uint16(payload[16:]) || k.out != nil {
		return nil, true, gone
	}
	if k.digest != ps.digest(call, &call.Params) {
		return nil, true, gateway.Errorf(gateway.CodeInvalid,
			"this requestState belongs to another call: a retry has the same method, name and arguments. Call again without it")
	}
	// A retry does not pass the corridor, which resolves the tool of other calls.
	call.Tool = k.call.Tool
	if err := catalog.Compare(call); err != nil {
		return nil, true, err
	}
	k.round++ // each state works once
	k.away = false
	k.expiry.Stop()
	return k, true, nil
}

// EndParked ends the parked calls of a source that was removed, because it can no
// longer receive the answers.
func (s *Server) EndParked(source gateway.Source) {
	ps := &s.parks
	ps.mu.Lock()
	all := slices.Collect(maps.Values(ps.byID))
	ps.mu.Unlock()
	for _, k := range all {
		k.mu.Lock()
		removed := k.out == nil && k.source == source
		k.mu.Unlock()
		if removed {
			k.cancel(gateway.Errorf(gateway.CodeUnavailable, "server %s was removed from the configuration", source.Name()))
		}
	}
}

func (ps *parks) remove(k *park) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.byID[k.id] != k {
		return
	}
	delete(ps.byID, k.id)
	caller := k.call.Identity.ClientID
	if ps.perCaller[caller]--; ps.perCaller[caller] <= 0 {
		delete(ps.perCaller, caller)
	}
}

// digest returns a hash of a call's request, because a retry must repeat the
// request. Clients may encode the arguments differently. The digest stays in this
// process, and the call continues with its first arguments, not with those of the
// retry.
func (ps *parks) digest(call *gateway.Call, params *gateway.Params) uint64 {
	var h maphash.Hash
	h.SetSeed(ps.seed)
	for _, part := range []string{call.Method, call.View.String(), call.Name} {
		maphash.WriteComparable(&h, part)
	}
	maphash.WriteComparable(&h, jsonrpc.Digest(ps.seed, params.Get(params.Arguments)))
	return h.Sum64()
}
