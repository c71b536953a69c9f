package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Ports of programs under test lie below those that Linux gives to outgoing connections:
// such a connection could otherwise take a port before the program listens on it.
const (
	firstPort = 10000
	endOfPort = 32768
)

// FreeAddress returns an address of this machine on which nothing listens. No other test
// gets it while this one runs, in this process or in another.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := firstPort + rand.IntN(endOfPort-firstPort)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		reservation, err := net.Listen("unix", fmt.Sprintf("@cointill-test-port-%d", port))
		if err != nil {
			continue // another test has it
		}
		listener, err := net.Listen("tcp", address)
		if err != nil { // another program has it
			_ = reservation.Close()
			continue
		}
		_ = listener.Close()
		t.Cleanup(func() { _ = reservation.Close() })
		return address
	}
	t.Fatal("no port is free")
	return ""
}
