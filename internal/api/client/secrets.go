package client

import (
	"context"
	"net/http"
	"net/url"
)

// Secret is a secret that the configuration may refer to, without its value.
type Secret struct {
	Name    string   `json:"name" doc:"Servers refer to it with ${secret:NAME}."`
	Servers []string `json:"servers" doc:"The servers that refer to it."`
}

// SecretList lists the secrets by name.
type SecretList struct {
	Secrets []Secret `json:"secrets"`
}

// NewSecret is the value of a secret.
type NewSecret struct {
	Value string `json:"value" doc:"At most 65,536 bytes, and not empty. No answer ever has it."`
}

// SecretChanged is a secret that was set or removed.
type SecretChanged struct {
	Secret
	Problem string `json:"problem,omitempty" doc:"Why the configuration could not be read again with the change; servers keep what they had until it can."`
}

// Secrets lists the secrets.
func (c *Client) Secrets(ctx context.Context) ([]Secret, error) {
	var out SecretList
	return out.Secrets, c.do(ctx, http.MethodGet, "/v1/secrets", nil, &out)
}

// SetSecret keeps a secret, in place of the former value if there is one.
func (c *Client) SetSecret(ctx context.Context, name, value string) (SecretChanged, error) {
	var out SecretChanged
	return out, c.do(ctx, http.MethodPut, "/v1/secrets/"+url.PathEscape(name), NewSecret{Value: value}, &out)
}

// RemoveSecret forgets a secret.
func (c *Client) RemoveSecret(ctx context.Context, name string) (SecretChanged, error) {
	var out SecretChanged
	return out, c.do(ctx, http.MethodDelete, "/v1/secrets/"+url.PathEscape(name), nil, &out)
}
