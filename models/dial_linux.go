package models

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall lacks on some machines.
const tcpUserTimeout = 0x12

// setUserTimeout ends a connection whose sent data stays unacknowledged. By default the system
// sends it again for a quarter of an hour.
func setUserTimeout(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") { // a socket's other end is on this machine
		return nil
	}
	failed := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silentTime.Milliseconds()))
	})
	if failed != nil {
		return failed
	}
	return err
}
