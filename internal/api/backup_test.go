package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/sqlite"
)

func TestABackupIsDownloaded(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"kb": map[string]any{"enabled": true}})
	if got := d.send("POST", "/v1/tokens", `{"name":"editor"}`); got.status != 201 {
		t.Fatal(got.body)
	}
	remote := client.NewOver(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(d.url, "http://"))
	}, gateway.Secret(d.token))
	var copied bytes.Buffer
	size, err := remote.Backup(t.Context(), &copied)
	if err != nil || size != int64(copied.Len()) {
		t.Fatalf("%d of %d bytes, %v", size, copied.Len(), err)
	}
	file := filepath.Join(t.TempDir(), "genkan.db")
	if err := os.WriteFile(file, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if tokens, err := store.Tokens(t.Context()); err != nil || len(tokens) != 1 || tokens[0].Name != "editor" {
		t.Errorf("in the copy: %v, %v", tokens, err)
	}
	if left, _ := filepath.Glob(filepath.Join(d.data, ".backup*")); len(left) > 0 {
		t.Errorf("left in the data directory: %v", left)
	}
	if got := d.send("GET", "/v1/backup", "", "Authorization", "Bearer "+d.newToken()); got.status != 403 {
		t.Errorf("a client: %d", got.status)
	}
}
