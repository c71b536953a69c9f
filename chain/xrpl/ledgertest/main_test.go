package ledgertest

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/clock"
)

// TestMain serves a ledger instead of running tests if -serve gives an address. End-to-end tests
// build this binary and start it as a separate process. It prints its address, runs the commands
// of its input (see command), and ends with the input.
func TestMain(m *testing.M) {
	address := flag.String("serve", "", "address to serve on instead of testing")
	id := flag.Uint("network", 21337, "network_id of the ledger that is served")
	every := flag.Duration("every", 0, "closes a ledger that often; 0: on command only")
	flag.Parse()
	if *address == "" {
		os.Exit(m.Run())
	}
	if err := serveLedger(*address, uint32(*id), *every); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveLedger(address string, id uint32, every time.Duration) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := NewServer(New(id, clock.Real()), 2)
	s.admin = true
	// Where ledgers close on command only, a slow machine doesn't make the server lag.
	s.SetBehaviour(func(b *Behaviour) { b.Fresh = every == 0 })
	down := &atomic.Bool{}
	s.failWhenDown(down)
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with the process
	fmt.Println(listener.Addr())
	if every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		go func() {
			for range ticker.C {
				s.CloseLedgers(1)
			}
		}()
	}
	s.runInput(json.NewDecoder(os.Stdin), os.Stdout, down)
	return server.Close()
}
