//go:build unix

package identity

import (
	"path/filepath"
	"syscall"
	"testing"

	"genkan/internal/gateway"
)

func TestAdminTokenIsNoFIFO(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "admin-token")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := LoadAdminToken(path) // must not wait for a writer
	wantCode(t, err, gateway.CodeDenied)
}
