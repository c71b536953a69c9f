package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"cointill/core/clock"
	"cointill/core/demo"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/models"
)

// MakePast gives a new business the sample payments of some days until now, in the test domain, and
// returns their number. It wires the product once more, with a clock that goes through these days.
// Where there are payments already it makes none: their deadlines would go by that clock, too.
func (p *Product) MakePast(ctx context.Context, s *Settings, listening net.Addr, owner scope.Scope, days int,
	report func(done, all int)) (payments int, err error) {
	var ids []int64
	err = p.DB.Read(ctx).Model(&models.Payment{}).Limit(1).Pluck("id", &ids).Error
	if err != nil || len(ids) > 0 {
		return 0, err
	}
	until := p.Clock()
	now := clock.NewFake(until.Add(-time.Duration(days) * 24 * time.Hour))
	past, err := newAt(ctx, s, now.Now, listening)
	if err != nil {
		return 0, err
	}
	if err := past.DB.RelaxSync(ctx); err != nil {
		return 0, errors.Join(err, past.DB.Close())
	}
	accepted, err := networks.Accepted(past.DB.Read(ctx), owner, past.Networks)
	if err != nil {
		return 0, errors.Join(err, past.DB.Close())
	}
	past.Mails.SMTP = nil // no mail goes to sample customers
	past.Quotes.Sources[scope.Test] = demo.NewMarket(now.Now, until)
	past.Sender.Clients[scope.Test] = &http.Client{Transport: &shopServer{clock: now}}
	services := demo.Services{Clock: now, Payments: past.Payments, Resolver: past.Resolver,
		Sends: past.Sends, Sandbox: past.Sandbox, Links: past.Links, Webhooks: past.Webhooks, Figures: past.Figures,
		Networks: map[money.Chain]demo.Network{}, Accepted: accepted, Report: report, Owner: owner,
		TestScope: scope.Scope{BusinessID: owner.BusinessID, Domain: scope.Test, Actor: "system", Role: scope.System},
		Deliver: func(ctx context.Context) error {
			_, err := past.DeliveryWorker.Step(ctx)
			return err
		}}
	for _, one := range past.chains {
		services.Networks[one.Network().Code()] = one
	}
	payments, err = demo.Fill(ctx, services, days, until)
	return payments, errors.Join(err, past.Close())
}

// SwitchOnNetworks lets a demo's customers choose among the networks of each coin. The last one stays off, so that
// money there can be seen.
func (p *Product) SwitchOnNetworks(ctx context.Context, owner scope.Scope) error {
	for _, coin := range money.Coins() {
		served := p.Networks.Served(owner.Domain, coin)
		for _, one := range served[:max(len(served)-1, 0)] {
			if err := p.Accounts.SetNetwork(ctx, owner, coin.Method, one.Code, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// shopServer answers the webhooks of the sample payments in place of a shop's server: nearly
// always with success, and after a time in which the clock goes on.
type shopServer struct {
	clock *clock.Fake
	asked atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (s *shopServer) RoundTrip(r *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, r.Body)
	status, answer := http.StatusOK, `{"received":true}`
	asked := s.asked.Add(1)
	s.clock.Advance(time.Duration(60+asked*53%190) * time.Millisecond)
	if asked%23 == 0 {
		status, answer = http.StatusServiceUnavailable, "Down for maintenance."
	}
	header := http.Header{"Content-Type": {"application/json"}, "Date": {s.clock.Now().Format(http.TimeFormat)}}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, err
}
