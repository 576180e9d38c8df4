package main

import "strings"

// The eras, and the revisions whose requirements stand for them.
const (
	modern = "modern"
	legacy = "legacy"
)

func revision(era string) string {
	if era == modern {
		return "2026-07-28"
	}
	return "2025-11-25"
}

// pairing is a client of one era before genkan, and a server behind it.
type pairing struct {
	name string
	// client is the era that the suite speaks.
	client string
	// server is the era that genkan speaks with the fixture. It is checked: a
	// fixture that speaks another one would prove nothing.
	server string
	// behind puts the fixture behind genkan.
	behind func(*lab) (server, error)
	what   string
}

func pairings() []pairing {
	return []pairing{
		{"modern-modern", modern, modern, statelessFixture, "2026-07-28 to a stateless HTTP server"},
		{"legacy-legacy", legacy, legacy, sessionFixture, "2025-11-25 to an HTTP server with sessions"},
		{"modern-stdio", modern, modern, stdioFixture, "2026-07-28 to a stdio child that speaks both eras"},
		{"legacy-stdio", legacy, legacy, legacyStdioFixture, "2025-11-25 to a stdio child that does not know `server/discover`"},
		{"legacy-both", legacy, legacy, stdioFixture, "2025-11-25 to a stdio child that speaks both eras"},
		{"legacy-modern", legacy, modern, statelessFixture, "2025-11-25 to a stateless HTTP server"},
		{"modern-legacy", modern, legacy, sessionFixture, "2026-07-28 to an HTTP server with sessions"},
	}
}

// clientPart is a part that is no pairing: the suite's client scenarios.
const clientPart = "clients"

func partNames() string {
	var names []string
	for _, p := range pairings() {
		names = append(names, p.name)
	}
	return strings.Join(append(names, clientPart, signInPart), ", ")
}

// Of the Go SDK's fixture, -stateless speaks 2026-07-28 as well as the older
// versions without sessions, and -stateless=false only the older ones.

func statelessFixture(l *lab) (server, error) { return l.httpFixture(true) }
func sessionFixture(l *lab) (server, error)   { return l.httpFixture(false) }

func stdioFixture(l *lab) (server, error) { return server{Command: l.fixture}, nil }

func legacyStdioFixture(l *lab) (server, error) {
	return server{Command: l.self, Args: []string{roleCommand, roleLegacyStdio, l.fixture}}, nil
}

// httpFixture starts the fixture on a port of its own.
func (l *lab) httpFixture(stateless bool) (server, error) {
	address, err := freeAddress()
	if err != nil {
		return server{}, err
	}
	mode := "-stateless=false"
	if stateless {
		mode = "-stateless=true"
	}
	p, err := l.start("fixture", l.fixture, "-http", address, mode)
	if err != nil {
		return server{}, err
	}
	return server{URL: "http://" + address + "/mcp"}, p.untilListening(l.ctx, address)
}
