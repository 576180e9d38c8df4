package learn

import (
	"slices"
	"time"
)

// These are the limits of remembered searches.
const (
	// mostSearches is the number of searches that are remembered for a client: agents
	// rephrase a query a few times before they call.
	mostSearches = 5
	// patience is the time after a search in which a call is attributed to it.
	patience = 10 * time.Minute
	// mostClients is the number of remembered clients. The client with the oldest search is
	// dropped first.
	mostClients = 256
	// mostHits is the number of remembered hits of a search.
	mostHits = 20
)

// searched is a search with its hits.
type searched struct {
	at    time.Time
	terms []string
	hits  []Tool
}

// recent holds the last searches of each client.
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

// take returns the latest search that may have led to a call of a tool. It returns a
// search once for a tool: a tool that is called in a loop was searched for once.
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

// forget drops searches that would become lessons of a selection.
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
