package record

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

// Keeping says what the history keeps of a call.
type Keeping struct {
	// History is where calls are kept; nil for nowhere.
	History *history.Writer
	// Bodies reports whether the bodies of a caller's calls are kept.
	Bodies func(gateway.Identity) bool
	// Say returns a text of Genkan's own as clients got it; nil for English.
	Say func(gateway.Text) string
	// Replay is set if what the server received and answered is kept.
	Replay bool
}

// say returns the text of an error as clients got it.
func (k *Keeping) say(e *gateway.Error) string {
	if k.Say == nil {
		return e.Text()
	}
	return k.Say(gateway.Text{Format: e.Message, Values: e.Values})
}

// keeper connects a Recorder with the history and with whoever watches calls.
type keeper struct {
	keeping func() Keeping
	// started and ended announce calls; nil for nobody.
	started, ended func(history.Entry)
	// progressed announces how far a call is; nil for nobody.
	progressed func(e history.Entry, done, total float64)
	// onProgress is the method of the Recorder, made once for all calls; nil for nobody.
	onProgress func(call *gateway.Call, params []byte)

	mu sync.RWMutex
	// clients are the names of programs as they are kept, by their clientInfo or by what
	// a session knows of it.
	clients map[string]string
}

// Keep adds each call to a history, as keeping says for it, and announces it when it
// is resolved and when it ends. It is called before the first call.
func (r *Recorder) Keep(keeping func() Keeping, started, ended func(history.Entry)) {
	r.keeper.keeping, r.keeper.started, r.keeper.ended = keeping, started, ended
	r.keeper.clients = map[string]string{}
}

// Follow sets the function that receives progress. It is called before the first call.
func (r *Recorder) Follow(progressed func(e history.Entry, done, total float64)) {
	r.keeper.progressed, r.keeper.onProgress = progressed, r.onProgress
}

// onProgress announces the progress of a call. Texts of the server are left out: no workflow
// has seen them.
func (r *Recorder) onProgress(call *gateway.Call, params []byte) {
	var told struct{ Progress, Total float64 }
	if json.Unmarshal(params, &told) != nil {
		return
	}
	complete := told.Total > 0 && told.Progress >= told.Total
	if e, ok := r.running.progressed(call.RequestID, complete, time.Now()); ok {
		r.keeper.progressed(e, told.Progress, told.Total)
	}
}

// Run returns the beginning of the IDs that the recorder gives to calls.
func (r *Recorder) Run() string { return r.run }

// Begin announces a call whose tool is known, and lets Cancel end it. It is a step behind
// the one that resolves names. A call that becomes another one is not announced: the
// other is.
func (r *Recorder) Begin(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if r.keeper.keeping == nil || call.Browsing || gateway.IsForwarder(call.Tool.Source) {
			return next.Handle(ctx, call)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		e := r.facts(call, nil, time.Now())
		r.running.begin(e, call, cancel)
		if r.keeper.started != nil {
			r.keeper.started(e)
		}
		call.OnProgress = r.keeper.onProgress
		result, err := next.Handle(ctx, call)
		return result, canceled(ctx, call, err)
	})
}

// keep adds a call that has ended to the history.
func (r *Recorder) keep(call *gateway.Call, asked []byte, result *gateway.Result, err error, began time.Time, took time.Duration) {
	if call.Parent != nil && call.Included {
		call.Parent.Forwarded = true
	}
	if call.Forwarded || call.Browsing || r.keeper.keeping == nil {
		r.running.end(call.RequestID)
		return
	}
	e := r.facts(call, err, began)
	e.Took, e.Timing, e.Attempts = took, call.Timing, call.Attempts
	e.Outcome = outcomeOf(result, err)
	if e.Outcome != "ok" {
		e.Error = r.reason(call, e.Server, result, err)
	}
	k := r.keeper.keeping()
	var answer []byte
	switch {
	case result != nil:
		say := gateway.Text.String
		if k.Say != nil {
			say = k.Say
		}
		answer = jsonrpc.WithNotice(result.Raw, say(result.Notice))
	case err != nil:
		answer = gateway.AsError(err).RPC
	}
	e.BytesIn, e.BytesOut = len(asked), len(answer)
	e.TokensIn, e.TokensOut, e.TokensSaved = tokens.Estimate(asked), answerTokens(answer), call.Saved
	if refused := gateway.AsError(err); refused != nil && answer == nil && isTold(err) {
		said := []byte(k.say(refused))
		e.BytesOut, e.TokensOut = len(said), tokens.Estimate(said)
	}
	if k.History != nil {
		var bodies history.Bodies
		if k.Bodies(call.Identity) {
			bodies = history.Bodies{Request: asked, Response: answer, Sent: call.Sent, Answered: call.Answered}
		}
		k.History.Add(e, bodies, !k.Replay)
	}
	// Whoever is told of the end, or finds that the call does not run, finds it in the
	// history.
	r.running.end(call.RequestID)
	if r.keeper.ended != nil {
		r.keeper.ended(e)
	}
}

// answerTokens estimates how many tokens a model reads of an answer. Images and sounds
// count as what they are for a model, and other binary data does not count, because
// clients do not show it.
func answerTokens(answer []byte) int {
	if !tokens.HasBase64(answer) {
		return tokens.Estimate(answer)
	}
	total := 0
	err := jsonrpc.Members(answer, func(key, value []byte) bool {
		if string(key) != "content" || value[0] != '[' {
			total += tokens.Estimate(value)
			return true
		}
		_ = jsonrpc.Elements(value, func(item []byte) bool { // checked by Members
			total += itemTokens(item)
			return true
		})
		return true
	})
	if err != nil {
		return tokens.Estimate(answer)
	}
	return total
}

func itemTokens(item []byte) int {
	switch jsonrpc.LookupText(item, "type") {
	case "image", "audio":
		return tokens.Media(len(jsonrpc.Lookup(item, "data")))
	case "resource":
		resource := jsonrpc.Lookup(item, "resource")
		if jsonrpc.Lookup(resource, "blob") != nil {
			return tokens.Estimate([]byte(jsonrpc.LookupText(resource, "uri")))
		}
	}
	return tokens.Estimate(item)
}

// facts returns what is known of a call before it is carried out, or of one that failed
// with err.
func (r *Recorder) facts(call *gateway.Call, err error, began time.Time) history.Entry {
	e := history.Entry{
		ID: call.RequestID, Started: began, Caller: call.Identity.ClientID, Client: r.client(call), Edge: call.Via,
		View: call.View.String(), Era: call.Era.String(), Method: call.Method,
	}
	if e.Server, e.Tool = target(call, err); e.Tool == "" && call.Kind == gateway.KindTool {
		e.Tool = r.clean("", cut(call.Name, maxUnknown))
		e.Flags |= history.Unlisted
	}
	if isHidden(err) {
		e.Flags |= history.Hidden
	}
	switch {
	case call.Parent == nil:
	case !call.Included:
		e.Parent = call.Parent.RequestID
	case call.Parent.Tool != nil:
		e.Through = call.Parent.Tool.Name
	}
	return e
}

// maxUnknown is how much of the name of an unknown tool is kept, in bytes.
const maxUnknown = 64

// maxClients bounds the names that are remembered.
const maxClients = 256

// client returns what the program calls itself that a call came from.
func (r *Recorder) client(call *gateway.Call) string {
	k := &r.keeper
	info := call.Params.Get(call.Params.ClientInfo)
	said := "" // in a session
	if call.Session != nil {
		said = call.Session.Client
	}
	if said == "" && len(info) == 0 {
		return ""
	}
	k.mu.RLock()
	name, known := k.clients[said]
	if said == "" {
		name, known = k.clients[string(info)]
	}
	k.mu.RUnlock()
	if known {
		return name
	}
	key := said
	if said == "" {
		said, key = jsonrpc.ClientName(info), string(info)
	}
	name = r.clean("", said)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.clients) >= maxClients {
		clear(k.clients)
	}
	k.clients[key] = name
	return name
}
