package authserver

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Visit is a browser that goes to an address of the authorization server, as a
// person who signs in does, and returns where it is sent.
func (s *Server) Visit(ctx context.Context, address string) (string, error) {
	// The issuer's own client trusts its certificate.
	browser := &http.Client{
		Transport:     s.issuer.Client().Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	response, err := browser.Do(req)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusFound {
		return "", errors.New(response.Status)
	}
	return response.Header.Get("Location"), nil
}

// Browse goes on to where Visit was sent, and returns the page there.
func (s *Server) Browse(ctx context.Context, address string) (page string, err error) {
	back, err := s.Visit(ctx, address)
	if err != nil {
		return "", err
	}
	return Open(ctx, back)
}

// Open reads a page without keeping the connection.
func Open(ctx context.Context, address string) (page string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	req.Close = true
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
