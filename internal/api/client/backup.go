package client

import (
	"context"
	"io"
	"net/http"

	"genkan/internal/gateway"
)

// Backup copies the database of genkan into w, and returns how many bytes it has.
func (c *Client) Backup(ctx context.Context, w io.Writer) (int64, error) {
	resp, err := c.send(ctx, http.MethodGet, "/v1/backup", nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return 0, c.read(resp, &struct{}{})
	}
	n, err := io.Copy(w, resp.Body)
	if err != nil {
		return n, &gateway.Error{Code: gateway.CodeUnavailable, Err: err, Message: "the backup broke off; look into genkan's log, and try again"}
	}
	return n, nil
}
