package signin

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Challenge is what a server says about signing in when it refuses a request.
type Challenge struct {
	// ResourceMetadata is where it describes itself.
	ResourceMetadata string
	// Scopes are what the refused request needs.
	Scopes []string
	// Error is its reason: invalid_token, insufficient_scope.
	Error string
}

// ParseChallenge reads the header of a 401 or 403. What cannot be read counts
// as not said, since there are other ways to find out.
func ParseChallenge(header http.Header) Challenge {
	var c Challenge
	// Header by header: one that is malformed must not hide the others.
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
