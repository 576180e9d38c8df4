package config

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"genkan/internal/gateway"
)

// Approvals says who is told of calls that wait for a person. It prints and encodes
// without what may be a key.
type Approvals struct {
	// Webhook is the URL that is told; empty for none. It often is a key.
	Webhook gateway.Secret
	// Link is the URL at which people reach genkan; empty for the address that it listens
	// on.
	Link string
	// Unresolved describes references to variables and secrets that are not there. The
	// webhook is not used before they are.
	Unresolved gateway.Texts
}

type shownApprovals struct {
	Webhook string `json:"webhook,omitempty"`
	Link    string `json:"link,omitempty"`
}

func (a Approvals) shown() shownApprovals { return shownApprovals{maskURL(a.Webhook.Reveal()), a.Link} }

// Format keeps secrets out of every verb.
func (a Approvals) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "%v", a.shown()) }

// MarshalJSON keeps secrets out of JSON.
func (a Approvals) MarshalJSON() ([]byte, error) { return json.Marshal(a.shown()) }

// LogValue keeps secrets out of structured logs.
func (a Approvals) LogValue() slog.Value { return slog.AnyValue(a.shown()) }

func (d *decoder) approvals(n *node, at string) (a Approvals) {
	d.unresolved, d.missing = nil, nil
	d.object(n, at, d.approvalFields(&a))
	if len(d.unresolved) > 0 {
		a.Unresolved = gateway.Texts{Between: gateway.Apart, Each: d.unresolved}
	}
	d.unresolved, d.missing = nil, nil
	return a
}

func (d *decoder) approvalFields(a *Approvals) []field {
	return []field{
		{"webhook", func(n *node, at string) {
			v, _ := d.expanded(n, at, checkURL)
			a.Webhook = gateway.Secret(v)
		}},
		{"link", func(n *node, at string) { a.Link, _ = d.expanded(n, at, checkURL) }},
	}
}
