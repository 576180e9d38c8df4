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
	signIns  []clientResult
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
	chosen, parts, err := choose(opt)
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
	if slices.Contains(parts, clientPart) {
		if r.clients, err = l.askClients(); err != nil {
			return r, fmt.Errorf("%s: %w", clientPart, err)
		}
	}
	if slices.Contains(parts, signInPart) {
		if r.signIns, err = l.askSignIns(); err != nil {
			return r, fmt.Errorf("%s: %w", signInPart, err)
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

// choose finds the pairings that the options ask for, and the other parts.
func choose(opt options) (chosen []pairing, parts []string, err error) {
	chosen = pairings()
	if opt.only == "" {
		if opt.quick {
			chosen = slices.DeleteFunc(chosen, func(p pairing) bool { return p.name != "modern-modern" && p.name != "legacy-legacy" })
			return chosen, nil, nil
		}
		return chosen, []string{clientPart, signInPart}, nil
	}
	names := strings.Split(opt.only, ",")
	chosen = slices.DeleteFunc(chosen, func(p pairing) bool { return !slices.Contains(names, p.name) })
	for _, part := range []string{clientPart, signInPart} {
		if slices.Contains(names, part) {
			parts = append(parts, part)
		}
	}
	if len(chosen)+len(parts) != len(names) {
		return nil, nil, fmt.Errorf("-only takes %s", partNames())
	}
	return chosen, parts, nil
}
