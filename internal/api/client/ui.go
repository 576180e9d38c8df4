package client

import (
	"context"
	"net/http"
	"time"
)

// UILink is an address of the web UI that signs one browser in.
type UILink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// UILink has genkan make an address of its web UI. The route is not part of the REST
// API.
func (c *Client) UILink(ctx context.Context) (UILink, error) {
	var out UILink
	return out, c.do(ctx, http.MethodPost, "/ui/link", nil, &out)
}
