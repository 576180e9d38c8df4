//go:build !linux

package bridge

import "net"

// checkPeer leaves it to the folder, which only the user may enter.
func checkPeer(*net.UnixConn) error { return nil }
