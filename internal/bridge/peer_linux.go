package bridge

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// checkPeer refuses another user's process. The folder's mode already keeps others
// out; this check holds even if the mode was changed.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var peerErr error
	err = raw.Control(func(fd uintptr) {
		peer, peerErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err != nil {
		return err
	}
	if peerErr != nil {
		return peerErr
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("the process at the other end of the socket is of user %d", peer.Uid)
	}
	return nil
}
