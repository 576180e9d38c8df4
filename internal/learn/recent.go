package learn

import (
	"slices"
	"time"
)

// What is remembered of searches until a call follows.
const (
	// mostSearches are remembered of a client: agents put a query in other words
	// a few times before they call.
	mostSearches = 5
	// patience is how long after a search a call can still be because of it.
	patience = 10 * time.Minute
	// mostClients are remembered; the one that has not searched for longest goes.
	mostClients = 256
	// mostHits are remembered of a search.
	mostHits = 20
)

// searched is a search that was answered.
type searched struct {
	at    time.Time
	terms []string
	hits  []Tool
}

// recent are the last searches of each client.
type recent map[string][]searched

// add remembers a search, the latest last.
func (r recent) add(client string, s searched) {
	s.hits = s.hits[:min(len(s.hits), mostHits)]
	list := append(r[client], s)
	r[client] = slices.Clone(list[max(0, len(list)-mostSearches):])
	if len(r) <= mostClients {
		return
	}
	oldest := ""
	for name, list := range r {
		if oldest == "" || list[len(list)-1].at.Before(r[oldest][len(r[oldest])-1].at) {
			oldest = name
		}
	}
	delete(r, oldest)
}

// take finds the latest search that a call of a tool may be because of. It is
// found once: a tool that is called in a loop was looked for one time.
func (r recent) take(client string, tool Tool, now time.Time) (terms []string, found bool) {
	list := r[client]
	for i := len(list) - 1; i >= 0 && now.Sub(list[i].at) <= patience; i-- {
		if at := slices.Index(list[i].hits, tool); at >= 0 {
			list[i].hits = slices.Delete(slices.Clone(list[i].hits), at, at+1)
			return list[i].terms, true
		}
	}
	return nil, false
}

// forget drops what would become lessons of a selection.
func (r recent) forget(which Selection) {
	for client, list := range r {
		if which.Client != "" && which.Client != client {
			continue
		}
		if which.Tool == (Tool{}) {
			delete(r, client)
			continue
		}
		for i := range list {
			list[i].hits = slices.DeleteFunc(slices.Clone(list[i].hits), func(t Tool) bool { return t == which.Tool })
		}
	}
}
