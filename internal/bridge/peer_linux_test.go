package bridge

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Another user's process gets no answer, even if it reaches the socket.
func TestAnotherUserIsNotHeard(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	dir, err := os.MkdirTemp("", "g")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	for _, p := range []string{dir, path} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	connectAs := func(uid uintptr) error {
		dialed := make(chan net.Conn, 1)
		go func() {
			// One thread becomes somebody else, and ends with its goroutine.
			runtime.LockOSThread()
			const keep = ^uintptr(0)
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uid, keep); errno != 0 {
				t.Error(errno)
			}
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Error(err)
			}
			dialed <- conn
		}()
		conn, err := listener.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = conn.Close()
			_ = (<-dialed).Close()
		}()
		return checkPeer(conn)
	}
	if err := connectAs(0); err != nil {
		t.Errorf("the user's own process: %v", err)
	}
	if err := connectAs(65534); err == nil || !strings.Contains(err.Error(), "user 65534") {
		t.Errorf("another user's process: %v", err)
	}
}
