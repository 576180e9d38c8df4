package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Token is what may be known of a client's token.
type Token struct {
	Name       string     `json:"name" doc:"The client's name in the log and the metrics."`
	Admin      bool       `json:"admin" doc:"Whether it may change what this API changes."`
	CreatedAt  time.Time  `json:"createdAt"`
	LastSeen   *time.Time `json:"lastSeen,omitempty" doc:"When somebody last came with it, to the minute; nothing for never."`
	LastClient string     `json:"lastClient,omitempty" doc:"The program that came, by its own word."`

	Limit   *TokenLimit `json:"limit,omitempty" doc:"What it may use; nothing for everything."`
	Profile string      `json:"profile,omitempty" doc:"The profile that clients in the configuration shows it. It is no limit: the client may ask for more."`
}

// TokenLimit says what a token may use. The zero value allows everything.
type TokenLimit struct {
	Servers  []string `json:"servers,omitempty" doc:"Only these servers; all unless said."`
	ReadOnly bool     `json:"readOnly,omitempty" doc:"Only tools that their servers mark as read-only."`
}

// TokenLimited is the limit that a token has now.
type TokenLimited struct {
	Name  string      `json:"name"`
	Limit *TokenLimit `json:"limit,omitempty" doc:"Nothing for everything."`
}

// TokenList lists the tokens by name.
type TokenList struct {
	Tokens []Token `json:"tokens"`
}

// NewToken asks for a token.
type NewToken struct {
	Name string `json:"name" doc:"1 to 64 of a-z, 0-9, '.', '_' and '-', of which the first is a letter or digit."`

	Limit TokenLimit `json:"limit,omitzero" doc:"What it may use; everything unless said."`
}

// MadeToken is a token that was made. No other answer has it.
type MadeToken struct {
	Name  string `json:"name"`
	Token string `json:"token" doc:"Clients send it as \"Authorization: Bearer TOKEN\". It is shown once."`
}

// Tokens lists the tokens.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	var out TokenList
	return out.Tokens, c.do(ctx, http.MethodGet, "/v1/tokens", nil, &out)
}

// AddToken makes a token.
func (c *Client) AddToken(ctx context.Context, name string) (MadeToken, error) {
	var out MadeToken
	return out, c.do(ctx, http.MethodPost, "/v1/tokens", NewToken{Name: name}, &out)
}

// RevokeToken takes a token back.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, "/v1/tokens/"+url.PathEscape(name), nil, &Done{})
}
