// Package embed computes vectors of texts with a model that runs elsewhere: any
// endpoint with OpenAI's embeddings API, or Ollama. It is optional. Without it, the
// search over tools works by words.
//
// Client sends texts to an endpoint. The knowledge base uses its own client (package
// kb/semantic). Shelf holds the vectors of the tools' texts: Vector returns a cell,
// which a background goroutine fills from the Store or the model, a batch at a time.
// Query returns the vector of a query, or nil if there is none within 300 ms; the
// search then uses words only. Package app creates the Shelf if the configuration
// names a model. It outlives reloads that keep the model, and package views passes its
// cells to the search index.
//
// Invariants:
//
//   - No call or search waits for the endpoint longer than Options.Patience.
//   - A key is the hash of model and text, so vectors of different models never
//     mix.
//   - A text that the endpoint refuses gets no vector and blocks no other.
//   - Errors contain neither the endpoint's address nor its messages, which may
//     contain the API key.
package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// These are the kinds of endpoints.
const (
	KindOpenAI = "openai"
	KindOllama = "ollama"
)

// Settings name a model and its endpoint.
type Settings struct {
	// URL is the address of the API, with or without the path of the embeddings endpoint.
	URL   string
	Model string
	Key   gateway.Secret
	// Kind is one of the Kind constants; empty is KindOpenAI.
	Kind string
	// Dimensions is the requested number, if the model supports that; 0 is the model's
	// default.
	Dimensions int
	// At is the place of the settings in the configuration; empty is embeddings.
	At string
}

const (
	// batch is the number of texts in a request.
	batch = 64
	// atOnce is the number of concurrent requests.
	atOnce = 2
	// patience is the time limit of a request: a model may have to be loaded.
	patience = time.Minute
	// longestText is the number of bytes of a text that are sent.
	longestText = 8 << 10
	// longestVector is the limit of a vector's dimensions, more than any model has, and
	// largestVector its limit in an answer, in bytes.
	longestVector, largestVector = 8 << 10, 256 << 10
)

// Client embeds texts. It is safe for concurrent use.
type Client struct {
	set      Settings
	endpoint string
	http     *http.Client
	places   chan struct{}
}

// New returns a client.
func New(set Settings) *Client {
	if set.At == "" {
		set.At = "embeddings"
	}
	path := "/embeddings"
	if set.Kind == KindOllama {
		path = "/api/embed"
	}
	endpoint := strings.TrimRight(set.URL, "/")
	if u, err := url.Parse(endpoint); err == nil && !strings.HasSuffix(u.Path, path) {
		endpoint = u.JoinPath(path).String()
	}
	return &Client{
		set: set, endpoint: endpoint, places: make(chan struct{}, atOnce),
		http: &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: atOnce, IdleConnTimeout: time.Minute},
			// The key must reach only the configured address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Embed returns a vector for each text, in order and all of one length.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	errs := make([]error, (len(texts)+batch-1)/batch)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for i := range errs {
		from, to := i*batch, min((i+1)*batch, len(texts))
		wg.Go(func() {
			vectors, err := c.request(ctx, texts[from:to])
			if err != nil {
				errs[i] = err
				cancel() // the other batches are useless without it
				return
			}
			copy(out[from:], vectors)
		})
	}
	wg.Wait()
	if err := firstCause(errs); err != nil {
		return nil, err
	}
	for _, v := range out {
		if len(v) != len(out[0]) {
			return nil, c.strange(gateway.Textf("it gives vectors of different lengths"))
		}
	}
	return out, nil
}

// firstCause prefers the original error to the cancellations that it caused.
func firstCause(errs []error) error {
	var canceled error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		if canceled == nil {
			canceled = err
		}
	}
	return canceled
}

// request embeds one batch.
func (c *Client) request(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return nil, c.unreachable(ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = strings.ToValidUTF8(text[:min(len(text), longestText)], "")
		if strings.TrimSpace(input[i]) == "" {
			input[i] = "-" // some endpoints refuse an empty text
		}
	}
	body, err := json.Marshal(struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{c.set.Model, input, c.set.Dimensions})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, c.unreachable(errors.New("its address is none"))
	}
	r.Header.Set("Content-Type", "application/json")
	if c.set.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.set.Key.Reveal())
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, int64(len(texts)+1)*largestVector))
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c.refused(resp.StatusCode)
	}
	return c.vectors(raw, len(texts))
}

// vectors decodes an answer of either kind.
func (c *Client) vectors(raw []byte, want int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Embeddings [][]float32 `json:"embeddings"`
	}
	if json.Unmarshal(raw, &answer) != nil {
		return nil, c.strange(gateway.Textf("it does not answer with embeddings"))
	}
	list := answer.Embeddings
	if c.set.Kind != KindOllama {
		list = make([][]float32, len(answer.Data))
		for _, one := range answer.Data {
			if one.Index >= 0 && one.Index < len(list) {
				list[one.Index] = one.Embedding
			}
		}
	}
	if len(list) != want {
		return nil, c.strange(gateway.Textf("it gives another number of vectors than there are texts"))
	}
	for _, v := range list {
		if len(v) > longestVector {
			return nil, c.strange(gateway.Textf("it gives a vector that is longer than any model's"))
		}
		if !unit(v) {
			return nil, c.strange(gateway.Textf("it gives a vector that is empty or no direction"))
		}
	}
	return list, nil
}

// unit normalises a vector to length 1, so that a product measures the similarity of two
// vectors. It returns false if that is impossible.
func unit(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	length := float32(math.Sqrt(sum))
	for i := range v {
		v[i] /= length
	}
	return true
}

// unreachable returns an error without the address, which may contain a key.
func (c *Client) unreachable(err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: err,
		Message: "the embeddings endpoint cannot be reached; see whether it runs, and check %s.url in the configuration",
		Values:  []any{c.set.At},
	}
}

// ErrRefused is in the chain of the error if an endpoint refuses texts. A single one of
// them may be the reason.
var ErrRefused = errors.New("the endpoint does not take what it was sent")

// refused does not pass on the endpoint's message: some endpoints repeat the key.
func (c *Client) refused(status int) error {
	hint := gateway.Textf("check %s.url in the configuration", c.set.At)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		hint = gateway.Textf("check %s.apiKey in the configuration", c.set.At)
	case status == http.StatusNotFound:
		hint = gateway.Textf("check url, kind and model of %s in the configuration; Ollama needs the model pulled", c.set.At)
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		hint = gateway.Textf("check model and dimensions of %s in the configuration", c.set.At)
	case status == http.StatusTooManyRequests:
		hint = gateway.Textf("it has had enough for now; it is tried again later")
	case status >= http.StatusInternalServerError:
		hint = gateway.Textf("it is in trouble; its own log tells why")
	}
	e := gateway.Errorf(gateway.CodeUnavailable, "the embeddings endpoint answers with status %d: %s", status, hint)
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		e.Err = ErrRefused
	}
	return e
}

func (c *Client) strange(what gateway.Text) error {
	return gateway.Errorf(gateway.CodeUnavailable, "the embeddings endpoint is not what was expected: %s; check kind and model of %s in the configuration", what, c.set.At)
}
