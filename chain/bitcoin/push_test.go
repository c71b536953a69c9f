package bitcoin

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"cointill/core/money"
)

// runSource runs a source until the test ends, and returns a channel of its wakes.
func runSource(t *testing.T, s *Source) <-chan struct{} {
	woken := make(chan struct{}, 1)
	t.Cleanup(s.Notify(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return woken
}

// newPublisher binds a publisher of the common ZeroMQ library.
func newPublisher(t *testing.T, address string) zmq4.Socket {
	t.Helper()
	p := zmq4.NewPub(t.Context())
	if err := p.Listen("tcp://" + address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// repeatUntil calls a function repeatedly until a signal comes.
func repeatUntil(t *testing.T, signal <-chan struct{}, do func()) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-signal:
			return
		case <-ticker.C:
			do()
		case <-t.Context().Done():
			t.Fatal("no wake")
		}
	}
}

// drainWakes waits until there was no wake for a while.
func drainWakes(t *testing.T, woken <-chan struct{}) {
	for {
		select {
		case <-woken:
		case <-time.After(50 * time.Millisecond):
			return
		case <-t.Context().Done():
			return
		}
	}
}

// TestZMQWakesForBlocksAndWatchedTransactions: blocks and transactions that pay us wake the
// followers, and a lost publisher is connected again.
func TestZMQWakesForBlocksAndWatchedTransactions(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	n := newFakeNode(t, c, "core")
	pub := newPublisher(t, "127.0.0.1:0")
	address := pub.Addr().String()
	s := openURLs(t, c, n.URL+"?zmq=tcp://"+address)
	b := newFixture(t, c, s)
	b.mustStep()
	woken := runSource(t, s)
	send := func(pub zmq4.Socket, topic string, body []byte) {
		if err := pub.SendMulti(zmq4.NewMsgFrom([]byte(topic), body, make([]byte, 4))); err != nil {
			t.Error(err)
		}
	}
	<-woken // the connection is up
	repeatUntil(t, woken, func() { send(pub, "hashblock", make([]byte, 32)) })
	drainWakes(t, woken)
	_, other := b.payUnwatched()
	ours := b.payNewAddress()
	foreign, own := txBytes(t, c.txs[other]), txBytes(t, c.txs[ours])
	for range 20 {
		send(pub, "rawtx", foreign)
	}
	send(pub, "unheard", own)
	select {
	case <-woken:
		t.Error("woken by a transaction that concerns nobody")
	case <-time.After(100 * time.Millisecond):
	}
	send(pub, "rawtx", own)
	<-woken
	send(pub, "rawtx", []byte("garbage"))
	<-woken
	send(pub, "rawblock", make([]byte, 1<<20))
	<-woken
	if err := pub.Close(); err != nil {
		t.Fatal(err)
	}
	again := newPublisher(t, address)
	<-woken
	repeatUntil(t, woken, func() { send(again, "hashtx", make([]byte, 32)) })
}

// TestBtcdNotificationsWake: btcd's notifications wake the followers, and a lost connection is
// opened again.
func TestBtcdNotificationsWake(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	n := newFakeNode(t, c, "btcd")
	n.password = canary
	s := openURLs(t, c, "btcd+ws://u:p%25w0rd-canary@"+n.Listener.Addr().String())
	newFixture(t, c, s).mustStep()
	woken := runSource(t, s)
	<-woken // the connection is up
	n.pushed <- `{"jsonrpc":"1.0","method":"txaccepted","params":["00",0.1],"id":null}`
	<-woken
	n.pushed <- `{"result":null,"error":null,"id":1}`
	n.pushed <- "close"
	<-woken // it is up again
	n.pushed <- `{"jsonrpc":"1.0","method":"blockconnected","params":["00",1,2],"id":null}`
	<-woken
	n.pushed <- "not JSON"
	<-woken // it is up again
}

// TestRefusedSubscriptionIsNotUp: if btcd refuses the subscriptions, the log says so, and the
// connection doesn't count as up.
func TestRefusedSubscriptionIsNotUp(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")), "btcd")
	n.refused = true
	s := n.openSource(t)
	stood := false
	err := listenNotifications(t.Context(), "ws://"+n.Listener.Addr().String()+"/ws",
		s.nodes.Members[0].backend.(*core).client, func() { stood = true }, func([]byte) {})
	if err == nil || !strings.Contains(err.Error(), "refuses notifications") || stood {
		t.Errorf("error %v, stood %v", err, stood)
	}
}
