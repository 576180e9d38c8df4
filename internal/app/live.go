package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/kb"
	"genkan/internal/lang"
	"genkan/internal/registry"
	"genkan/internal/upstream"
)

// startedCall, endedCall and failedCall are the data of events about calls. They are
// converted for the first reader, so that a call does not pay for it.
type (
	startedCall history.Entry
	endedCall   history.Entry
	failedCall  struct {
		p *Process
		e *history.Entry
	}
)

// ForReader returns what the call is.
func (c *startedCall) ForReader(events.Reader) any { return api.CallStarted((*history.Entry)(c)) }

// ForReader returns how the call went.
func (c *endedCall) ForReader(events.Reader) any { return api.CallEnded((*history.Entry)(c)) }

// ForReader returns how the call went, with the error as the history keeps it.
func (c failedCall) ForReader(r events.Reader) any {
	ended := api.CallEnded(c.e)
	ended.Error = api.CallError(languageOf(r), ended.Outcome, c.p.redactText(ended.Error))
	ended.Tool = c.p.redactText(ended.Tool)
	return ended
}

// callStarted publishes that a call begins, for its caller and administrators.
func (p *Process) callStarted(e history.Entry) {
	if !p.callsAreFollowed() {
		return
	}
	kept := e // allocated only for those who follow
	p.live.Publish(events.Event{Topic: events.Calls, Name: client.EventCallStarted, Client: e.Caller, Data: (*startedCall)(&kept)})
}

// callProgressed publishes how far a call is.
func (p *Process) callProgressed(e history.Entry, done, total float64) {
	if p.callsAreFollowed() {
		p.live.Publish(events.Event{
			Topic: events.Calls, Name: client.EventCallProgress, Client: e.Caller,
			Data: client.CallProgress{ID: e.ID, Server: e.Server, Tool: e.Tool, Done: done, Total: total},
		})
	}
}

// callEnded publishes that a call has ended.
func (p *Process) callEnded(e history.Entry) {
	if !p.callsAreFollowed() {
		return
	}
	kept := e
	var data any = (*endedCall)(&kept)
	if e.Error != "" {
		data = failedCall{p, &kept}
	}
	p.live.Publish(events.Event{Topic: events.Calls, Name: client.EventCallEnded, Client: e.Caller, Data: data})
}

// callsAreFollowed reports whether anybody follows calls live. If nobody does, a reader
// who comes back later is told that calls were missed.
func (p *Process) callsAreFollowed() bool {
	followed := p.live.Followed()
	if !followed {
		p.live.Skip(events.Calls)
	}
	return followed
}

// serverState is the data of an event about a server.
type serverState struct {
	p    *Process
	name string
	// config is the configuration that the server is of. It has the secrets that the
	// server may have printed.
	config *config.Config
	upstream.Status
}

// languageOf returns the language that a reader of events reads.
func languageOf(r events.Reader) lang.Language {
	l, _ := lang.Parse(r.Language)
	return l
}

// ForReader returns what GET /v1/servers says to the reader.
func (s serverState) ForReader(r events.Reader) any {
	who := r.Identity
	if !who.Admin {
		who = gateway.Identity{} // all others read the same
	}
	out := client.ServerEvent{
		Name: s.name, State: string(s.State), Cause: s.Cause, SignIn: s.SignIn,
		Problem: languageOf(r).Text(api.ProblemOf(s.Status, who)),
	}
	if who.Admin && out.Problem != "" {
		out.Problem = registry.Redact(s.config, s.name, out.Problem)
	}
	for _, t := range s.p.house.Load().Snapshot().Tools() {
		if t.Source.Name() == s.name {
			out.Tools++
		}
	}
	return out
}

// serverChanged publishes the state of a server. It leaves out servers that are not
// in the current house: a reload publishes the state of a new server, and an old one
// retires.
func (p *Process) serverChanged(s *upstream.Server, st upstream.Status) {
	h := p.house.Load()
	if h == nil || st.State == upstream.StateClosed || !slices.Contains(h.servers, s) {
		return
	}
	p.publishServer(h.config, s.Name(), st)
}

func (p *Process) publishServer(cfg *config.Config, name string, st upstream.Status) {
	p.live.Publish(events.Event{Topic: events.Servers, Name: client.EventServerState, Server: name, Data: serverState{p, name, cfg, st}})
}

// publishServers publishes the states of the servers that a reload has added, changed,
// disabled or removed.
func (p *Process) publishServers(old, fresh *house) {
	kept := map[string]bool{}
	before := idleServers(old)
	for name, st := range idleServers(fresh) {
		kept[name] = true
		if was, ok := before[name]; !ok || was.Problem.String() != st.Problem.String() {
			p.publishServer(fresh.config, name, st)
		}
	}
	for _, s := range fresh.servers {
		kept[s.Name()] = true
		if !slices.Contains(old.servers, s) {
			s.TellState()
		}
	}
	for _, declared := range old.Declared() {
		if !kept[declared.Name] {
			p.publishServer(old.config, declared.Name, upstream.Status{State: client.StateRemoved})
		}
	}
}

// idleServers returns the declared servers of a house that do not run.
func idleServers(h *house) map[string]upstream.Status {
	idle := map[string]upstream.Status{}
	for _, declared := range h.Declared() {
		st := upstream.Status{State: client.StateDisabled}
		if declared.Problem.String() != "" {
			st = upstream.Status{State: upstream.StateDown, Problem: declared.Problem}
		}
		idle[declared.Name] = st
	}
	for _, s := range h.servers {
		delete(idle, s.Name())
	}
	return idle
}

// shownLists is the last snapshot of all tools whose changes were published.
type shownLists struct {
	mu       sync.Mutex
	snapshot *catalog.Snapshot
}

// publishLists publishes which lists have changed since it was called last.
func (p *Process) publishLists() {
	p.shown.mu.Lock()
	defer p.shown.mu.Unlock()
	before, now := p.shown.snapshot, p.house.Load().Snapshot()
	p.shown.snapshot = now
	if before == nil || before == now {
		return
	}
	for _, c := range now.ChangedSince(before) {
		p.live.Publish(events.Event{
			Topic: events.Tools, Name: client.EventToolsChanged, Server: c.Source,
			Data: client.ToolsEvent{Server: c.Source, Kind: c.Kind.String(), Count: c.Count},
		})
	}
}

// configFailed is the data of the event about a configuration that is not used.
type configFailed struct{ err error }

// ForReader tells administrators why. The error may show a part of the file.
func (f configFailed) ForReader(r events.Reader) any {
	if !r.Admin {
		return nil
	}
	return client.ConfigEvent{Error: languageOf(r).Error(gateway.AsError(f.err))}
}

// configReloaded is the data of the event about a configuration that is used now.
type configReloaded struct{ servers int }

// ForReader tells administrators how many servers run. Others may be limited to some.
func (c configReloaded) ForReader(r events.Reader) any {
	if !r.Admin {
		return client.ConfigEvent{}
	}
	return client.ConfigEvent{Servers: c.servers}
}

// publishReload publishes the result of a reload.
func (p *Process) publishReload(err error) {
	if err != nil {
		p.live.Publish(events.Event{Topic: events.Config, Name: client.EventConfigFailed, Data: configFailed{err}})
		return
	}
	p.live.Publish(events.Event{
		Topic: events.Config, Name: client.EventConfigReloaded,
		Data: configReloaded{len(p.house.Load().servers)},
	})
}

// liveItems publishes the progress of imports into the knowledge base.
type liveItems struct {
	*kb.Base
	p *Process
}

// Restore restores items and publishes that.
func (i liveItems) Restore(ctx context.Context, r kb.Restoration) ([]kb.RestoredAs, error) {
	w := i.p.works.Begin("kb.import", int64(len(r.Items)))
	became, err := i.Base.Restore(ctx, r)
	w.End(err)
	return became, err
}

// itemsInterval is the time between two looks for writes to the knowledge base.
const itemsInterval = 500 * time.Millisecond

// watchItems publishes that items were written, by this process or another. It reads the
// store only while somebody follows events.
func (p *Process) watchItems(ctx context.Context) {
	ticks := time.NewTicker(itemsInterval)
	defer ticks.Stop()
	store := p.store.Knowledge()
	seen, _ := store.Sequence(ctx) // on an error the first event is one too many
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		if !p.live.Followed() {
			continue
		}
		now, err := store.Sequence(ctx)
		if err != nil || now == seen {
			continue // whoever reads items reports the error
		}
		seen = now
		p.live.Publish(events.Event{Topic: events.Items, Name: client.EventItemsChanged, Server: config.KnowledgeSource, Data: client.ItemsEvent{Sequence: now}})
	}
}
