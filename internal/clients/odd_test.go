//go:build unix

package clients

import (
	"path/filepath"
	"syscall"
	"testing"

	"genkan/internal/gateway"
)

// TestFIFO: nobody waits for a file that never ends.
func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, _, err := Contents(path)
	refusedWith(t, err, gateway.CodeInvalid, "not a regular file")
}

// An envFile that never ends is not read either.
func TestEnvFileFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".env")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := loadEnvFile(path)
	refusedWith(t, err, gateway.CodeInvalid, "not a regular file")
}
