package models

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall lacks on some machines.
const tcpUserTimeout = 0x12

// unanswered ends a connection when what was sent stays without a receipt. By
// itself the system would send it again for a quarter of an hour.
func unanswered(network, _ string, c syscall.RawConn) (err error) {
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
