package mcpserver

import (
	"context"
	"slices"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// modernVersion is the version of the stateless era.
const modernVersion = "2026-07-28"

// legacyVersions are the versions with sessions, best first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// negotiate picks the version of a legacy session: the client's, if we speak
// it, and otherwise our best.
func negotiate(params []byte) string {
	if asked := jsonrpc.LookupText(params, "protocolVersion"); slices.Contains(legacyVersions, asked) {
		return asked
	}
	return legacyVersions[0]
}

// initializeResult answers initialize.
func (s *Server) initializeResult(version string) []byte {
	b := append([]byte(`{"protocolVersion":"`), version...)
	b = append(b, `","capabilities":{"tools":{"listChanged":true}},"serverInfo":`...)
	return append(append(b, s.info...), '}')
}

// legacyResult answers the requests of the legacy era that are no calls.
func (s *Server) legacyResult(ctx context.Context, msg *jsonrpc.Message) ([]byte, error) {
	switch msg.Method {
	case "ping":
		return []byte("{}"), nil
	case "tools/list":
		return s.listResult(ctx, msg, gateway.EraLegacy)
	default:
		return nil, methodNotFound(msg.Method)
	}
}

func methodNotFound(method string) error {
	const most = 128
	if len(method) > most {
		method = method[:most] + "…"
	}
	return &refusal{gateway.Errorf(gateway.CodeNotFound, "Method not found: %s", method), jsonrpc.CodeMethodNotFound, nil}
}
