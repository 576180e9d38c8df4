package signin

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Challenge is the content of the WWW-Authenticate header of a refusal.
type Challenge struct {
	// ResourceMetadata is the address of the server's metadata.
	ResourceMetadata string
	// Scopes are those that the refused request needs.
	Scopes []string
	// Error is the reason: invalid_token or insufficient_scope.
	Error string
}

// ParseChallenge parses the header of a 401 or 403. Unreadable parts are ignored,
// because there are other ways to find the metadata.
func ParseChallenge(header http.Header) Challenge {
	var c Challenge
	// Parse each header alone: a malformed one must not hide the others.
	for _, line := range header.Values("WWW-Authenticate") {
		challenges, err := oauthex.ParseWWWAuthenticate([]string{line})
		if err != nil {
			continue
		}
		for _, said := range challenges {
			if said.Scheme != "bearer" {
				continue
			}
			c.ResourceMetadata = orElse(c.ResourceMetadata, said.Params["resource_metadata"])
			c.Error = orElse(c.Error, said.Params["error"])
			if c.Scopes == nil {
				c.Scopes = strings.Fields(said.Params["scope"])
			}
		}
	}
	return c
}

func orElse(first, second string) string {
	if first != "" {
		return first
	}
	return second
}
