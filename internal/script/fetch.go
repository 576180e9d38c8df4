package script

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Limits of Fetch.
const (
	fetchTime = 10 * time.Second
	fetchSize = 1 << 20
)

// fetcher follows no redirects: they could lead to hosts that the script may not
// reach.
var fetcher = &http.Client{ //nolint:gochecknoglobals // it keeps connections
	Timeout:       fetchTime,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Fetch makes an HTTP request, for a Host. It does not check where the request goes.
func Fetch(ctx context.Context, r Request) (Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return Response{}, err
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	response, err := fetcher.Do(request)
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, fetchSize+1))
	if err != nil {
		return Response{}, err
	}
	if len(body) > fetchSize {
		return Response{}, gateway.Errorf(gateway.CodeInvalid, "the answer of %s has more than %d bytes", request.URL.Host, fetchSize)
	}
	out := Response{Status: response.StatusCode, Header: map[string]string{}, Body: string(body)}
	for name := range response.Header {
		out.Header[strings.ToLower(name)] = response.Header.Get(name)
	}
	return out, nil
}
