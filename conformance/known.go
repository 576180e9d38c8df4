package main

// known is a difference that cannot be helped: the wire behind genkan has no
// way to carry what the one before it asks for.
type known struct {
	pairing  string // "" for all
	scenario string
	check    string // "" for all checks of the scenario
	why      string
}

const (
	noWayBack = "The fixture keeps no events: it closes the stream of this call without having told an event id, so nobody can have the answer. " +
		"Directly the suite has no id to come back with and looks no further; through Genkan it has one, and finds an error there."
	asksInside = "The fixture's tool sends its client a request during the call, which the modern wire does not have; " +
		"without sessions it fails directly too."
	noKey         = "A request of the legacy era has no key. Genkan gives it one of its own, and the scenario insists on the fixture's."
	oneRound      = "On the legacy wire the fixture's SDK asks its client once, and answers with the second question as if that were the result."
	perConnection = "In the legacy era a client's capabilities are agreed on for a connection, not for a call, and many callers share one: " +
		"the fixture cannot know which of them lacks one, and asks for more than some can answer."
)

// knownDifferences may only grow with a reason that lies in the protocol or in
// the fixture, never with one that lies in genkan.
var knownDifferences = []known{
	{"legacy-legacy", "server-sse-polling", "", noWayBack},

	{"legacy-modern", "tools-call-elicitation", "", asksInside},
	{"legacy-modern", "tools-call-sampling", "", asksInside},
	{"legacy-modern", "elicitation-sep1034-defaults", "", asksInside},
	{"legacy-modern", "elicitation-sep1330-enums", "", asksInside},

	{"modern-legacy", "input-required-result-basic-elicitation", "", noKey},
	{"modern-legacy", "input-required-result-multi-round", "", oneRound},
	{"modern-legacy", "input-required-result-capability-check", "", perConnection},
	{"modern-legacy", "server-stateless", "sep-2575-server-rejects-undeclared-capability", perConnection},
	{"modern-legacy", "server-stateless", "sep-2575-missing-capability-http-400", perConnection},
}
