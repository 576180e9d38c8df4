package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/sqlite"
	"genkan/internal/testkit"
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
	// While one is downloaded, there is no second copy, and no file of the first.
	slow, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/v1/backup", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	slow.Header.Set("Authorization", "Bearer "+d.token)
	answer, err := http.DefaultClient.Do(slow)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(d.data, ".backup*")); len(left) > 0 && runtime.GOOS != "windows" {
		t.Errorf("during a download the data directory has %v", left)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	testkit.Eventually(t, func() bool { return d.send("GET", "/v1/backup", "").status == 200 }, "the next backup can be made")
	if got := d.send("GET", "/v1/backup", "", "Authorization", "Bearer "+d.newToken()); got.status != 403 {
		t.Errorf("a client: %d", got.status)
	}
}
