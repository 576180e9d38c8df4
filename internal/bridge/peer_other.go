//go:build !linux

package bridge

import "net"

// checkPeer accepts every process, because only the user may enter the socket's
// folder.
func checkPeer(*net.UnixConn) error { return nil }
