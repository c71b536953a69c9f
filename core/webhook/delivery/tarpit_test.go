package delivery_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// tarpits are servers that would have a delivery never end, each at an address of its own.
type tarpits struct {
	port    int
	held    atomic.Int64 // requests that hang or drip
	flooded atomic.Int64 // requests that were answered without end, and given up by the client
	most    atomic.Int64 // what one of these took, in bytes
}

const chunk = 64 << 10

// mire answers one request as the kind of its address does.
func (p *tarpits) mire(c net.Conn) {
	defer func() { _ = c.Close() }()
	if _, err := c.Read(make([]byte, chunk)); err != nil {
		return
	}
	host := c.LocalAddr().(*net.TCPAddr).IP.To4()
	begin, more := "", ""
	switch host[3] % 5 {
	case 0: // hangs
		p.held.Add(1)
		_, _ = c.Read(make([]byte, 1)) // until the client goes
		return
	case 1: // drips
		p.held.Add(1)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for drop := "HTTP/1.1 200 OK\r\nX-Drop: "; ; drop = "x" {
			if _, err := c.Write([]byte(drop)); err != nil {
				return
			}
			<-tick.C
		}
	case 2: // headers
		begin, more = "HTTP/1.1 200 OK\r\n", strings.Repeat("X-More: "+strings.Repeat("x", 100)+"\r\n", chunk/110)
	case 3: // a bomb: 64 KiB of zeros are some 80 bytes of it
		begin, more = "HTTP/1.1 500 Oh\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", string(bytes.Repeat([]byte{0xec, 0xc1, 0x01, 0x01, 0, 0, 0, 0x80, 0x90, 0xfe, 0xaf, 0xee, 0x08, 0x0a}, chunk/14))
	case 4: // 10 GB
		begin, more = fmt.Sprintf("HTTP/1.1 500 Oh\r\nContent-Length: %d\r\n\r\n", int64(10)<<30), strings.Repeat("x", chunk)
	}
	sent := int64(0)
	for next := begin; ; next = more {
		n, err := c.Write([]byte(next))
		sent += int64(n)
		if err != nil {
			break
		}
	}
	for most := p.most.Load(); sent > most && !p.most.CompareAndSwap(most, sent); most = p.most.Load() {
	}
	p.flooded.Add(1)
}

func newTarpits(t testing.TB) *tarpits {
	t.Helper()
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tarpits{port: listener.Addr().(*net.TCPAddr).Port}
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.mire(c) })
		}
	})
	return p
}

// TestTarpits (WH-7, WH-8) delivers to ten good servers beside 200 that hang, drip, send
// headers or a body without end, or what unpacks to very much: every good one has all of
// its deliveries while all that hang or drip are held, and no flood is read beyond what
// sockets buffer.
func TestTarpits(t *testing.T) {
	t.Parallel()
	b := setup(t, modelstest.Open(t, false, time.Now))
	businesses, pits, events := speed.Pick(2, 5), speed.Pick(10, 40), speed.Pick(1, 4)
	const good = 2
	p, shop := newTarpits(t), newMerchant(t, nil)
	b.sender.Clients[scope.Test].Timeout = time.Hour // nothing hangs for less than the test
	for business := range int64(businesses) {
		sc := owner
		sc.BusinessID += business
		for i := range pits {
			b.create(sc, fmt.Sprintf("http://127.1.%d.%d:%d/", business, i+1, p.port))
		}
		for range good {
			b.create(sc, shop.URL)
		}
	}
	for range events {
		if err := b.DB.Write(t.Context(), func(tx *models.Tx) error {
			for business := range int64(businesses) {
				if err := b.Emit(tx, webhook.Event{BusinessID: owner.BusinessID + business, Domain: scope.Test, Type: webhook.PaymentSuccessful, At: b.clock.Now()}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	worker := b.sender.Worker(outbox.Options{Log: slog.New(slog.DiscardHandler), Poll: 10 * time.Millisecond, Grace: time.Millisecond})
	go func() { ran <- worker.Run(ctx) }()
	await(t, "every good delivery", func() bool {
		var done int64
		err := b.DB.Read(t.Context()).Model(&models.Delivery{}).Where("outcome = 'delivered'").Count(&done).Error
		return err == nil && int(done) == businesses*good*events && len(shop.requests()) == businesses*good*events
	})
	await(t, "every pit that holds", func() bool { return p.held.Load() >= int64(businesses*pits*2/5) })
	await(t, "every flood", func() bool { return p.flooded.Load() >= int64(businesses*pits*3/5) })
	if most := p.most.Load(); most > 16<<20 {
		t.Errorf("%d bytes of an answer were taken", most)
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	var kept int64
	if err := b.DB.Read(t.Context()).Model(&models.DeliveryAttempt{}).Select("COALESCE(MAX(length(answer)), 0)").Scan(&kept).Error; err != nil || kept > 4<<10 {
		t.Errorf("%d bytes of an answer are kept, %v", kept, err)
	}
}

// await waits for a condition that the test's time limit bounds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ask, late := time.NewTicker(5*time.Millisecond), time.After(30*time.Second)
	defer ask.Stop()
	for !condition() {
		select {
		case <-ask.C:
		case <-late:
			t.Fatal("no end of the wait for " + what)
		}
	}
}
