package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// report is all that was found out.
type report struct {
	pairings []pairingResult
	clients  []clientResult
}

// pairingResult is one pairing, measured.
type pairingResult struct {
	pairing
	direct, through results
	optional        map[string]bool
	differences     []difference
	stale           []known
}

// examine runs what the options ask for.
func examine(ctx context.Context, opt options, progress io.Writer) (*report, error) {
	chosen, withClients, err := choose(opt)
	if err != nil {
		return nil, err
	}
	l, err := openLab(ctx, opt, progress)
	if err != nil {
		return nil, err
	}
	defer l.close()
	if l.node, err = l.install("suite"); err != nil {
		return nil, err
	}
	l.say("building the fixture")
	if l.fixture, err = l.build("fixture", "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"); err != nil {
		return nil, err
	}
	r := &report{}
	direct := map[string]results{}
	for _, p := range chosen {
		if direct[p.client] == nil {
			if direct[p.client], err = l.askDirect(p.client); err != nil {
				return r, fmt.Errorf("%s, direct: %w", p.client, err)
			}
		}
		result, err := l.measure(p, direct[p.client])
		if err != nil {
			return r, fmt.Errorf("%s: %w", p.name, err)
		}
		r.pairings = append(r.pairings, result)
	}
	if withClients {
		if r.clients, err = l.askClients(); err != nil {
			return r, fmt.Errorf("%s: %w", clientPart, err)
		}
	}
	return r, nil
}

func (l *lab) measure(p pairing, direct results) (pairingResult, error) {
	result := pairingResult{pairing: p, direct: direct}
	set, err := l.requirementsOf(p.client)
	if err != nil {
		return result, err
	}
	result.optional = set.optional("server")
	if result.through, err = l.askThrough(p); err != nil {
		return result, err
	}
	result.differences = compare(direct, result.through, result.optional)
	result.stale = explain(p.name, result.differences)
	return result, nil
}

func choose(opt options) (chosen []pairing, withClients bool, err error) {
	chosen = pairings()
	if opt.only == "" {
		if opt.quick {
			chosen = slices.DeleteFunc(chosen, func(p pairing) bool { return p.name != "modern-modern" && p.name != "legacy-legacy" })
		}
		return chosen, !opt.quick, nil
	}
	names := strings.Split(opt.only, ",")
	chosen = slices.DeleteFunc(chosen, func(p pairing) bool { return !slices.Contains(names, p.name) })
	found := len(chosen)
	if withClients = slices.Contains(names, clientPart); withClients {
		found++
	}
	if found != len(names) {
		return nil, false, fmt.Errorf("-only takes %s", partNames())
	}
	return chosen, withClients, nil
}
