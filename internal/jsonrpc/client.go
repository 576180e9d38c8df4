package jsonrpc

import (
	"strings"

	"genkan/internal/gateway"
)

// ClientName returns the name and the version that a client gives itself in its
// clientInfo, shortened; empty if it gives none.
func ClientName(info []byte) string {
	if len(info) == 0 || info[0] != '{' {
		return ""
	}
	return gateway.Short(strings.TrimSpace(LookupText(info, "name") + " " + LookupText(info, "version")))
}
