package dashboard_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// liveServer is a server with an address, as streams have no end.
type liveServer struct {
	*servertest.Server
	address string
}

func serveLive(t *testing.T, s *servertest.Server) liveServer {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Hub.Run(ctx) }()
	t.Cleanup(func() { s.Hub.Close(); stop(); <-done })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.FailOn(err)
	go func() { _ = s.App.Listener(listener) }()
	return liveServer{s, "http://" + listener.Addr().String()}
}

// stream is an open stream of a page. Its lines are the events, and end with it.
type stream struct {
	t      *testing.T
	status int
	lines  chan string
}

// open opens a stream as a browser.
func (s liveServer) open(t *testing.T, b *servertest.Browser, path string) stream {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, nil)
	s.FailOn(err)
	request.Host = strings.TrimPrefix(servertest.Base, "http://")
	b.AddCookies(request)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(request)
	s.FailOn(err)
	t.Cleanup(func() { stop(); _ = answer.Body.Close() })
	one := stream{t, answer.StatusCode, make(chan string, 100)}
	go func() {
		for scan := bufio.NewScanner(answer.Body); scan.Scan(); {
			if name, ok := strings.CutPrefix(scan.Text(), "event: "); ok {
				one.lines <- name
			}
		}
		close(one.lines)
	}()
	return one
}

// hear waits for an event, and fails when none comes in time.
func (s stream) hear(what string) {
	s.t.Helper()
	select {
	case got, open := <-s.lines:
		if !open || got != "changed" {
			s.t.Fatalf("%s: the stream said %q (open: %v), want changed", what, got, open)
		}
	case <-time.After(20 * time.Second):
		s.t.Fatalf("%s: the stream said nothing, want changed", what)
	}
}

// drainStreams takes the events of streams that are under way, until none has come for a moment.
func drainStreams(streams ...stream) {
	for came := true; came; {
		came = false
		<-time.After(1500 * time.Millisecond)
		for _, s := range streams {
			for ; len(s.lines) > 0; came = true {
				<-s.lines
			}
		}
	}
}

// quiet fails when an event comes.
func (s stream) quiet(what string) {
	s.t.Helper()
	select {
	case got, open := <-s.lines:
		s.t.Fatalf("%s: the stream said %q (open: %v), want nothing", what, got, open)
	case <-time.After(1500 * time.Millisecond):
	}
}

// ended waits until the server ends the stream.
func (s stream) ended(what string) {
	s.t.Helper()
	for deadline := time.After(20 * time.Second); ; {
		select {
		case _, open := <-s.lines:
			if !open {
				return
			}
		case <-deadline:
			s.t.Fatalf("%s: the stream goes on, want its end", what)
		}
	}
}

var liveAddress = regexp.MustCompile(`data-live="([^"]+)"`)

// TestOpenPagesAreTold: Overview, the lists, a payment and a send hear of changes to their content, and of nothing
// that happens in another domain or business.
func TestOpenPagesAreTold(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		sc, theirs := s.CreateBusiness("Ama's Shop", ama), s.CreateBusiness("Bayo's Shop", bayo)
		things := owned(t, s, sc)
		l, b := serveLive(t, s), s.SignIn(ama)
		asking(t, b, scope.Test)
		streams := map[string]stream{}
		for _, path := range []string{"/dashboard", "/dashboard/payments", "/dashboard/unmatched", "/dashboard/sends",
			things["/dashboard/payments/:reference"], things["/dashboard/sends/:reference"]} {
			found := liveAddress.FindStringSubmatch(b.Get(path).Body)
			if found == nil {
				t.Fatalf("%s names no stream", path)
			}
			streams[path] = l.open(t, b, found[1])
			streams[path].hear(path + ": the first one comes at once")
		}
		drainStreams(slices.Collect(maps.Values(streams))...)
		list, sends := streams["/dashboard/payments"], streams["/dashboard/sends"]
		s.InitiatePayment(theirs, servertest.NewRequest(money.CryptoRipple))
		s.Hub.Signal()
		list.quiet("a payment of another business")
		s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple))
		s.Hub.Signal()
		for _, path := range []string{"/dashboard", "/dashboard/payments", "/dashboard/unmatched", "/dashboard/sends"} {
			streams[path].hear(path + ": a payment was initiated")
		}
		drainStreams(slices.Collect(maps.Values(streams))...)
		one, a := streams[things["/dashboard/payments/:reference"]], streams[things["/dashboard/sends/:reference"]]
		one.quiet("another payment was initiated")
		s.UpdatePayment(last(things["/dashboard/payments/:reference"])[1:], map[string]any{"steps": 77})
		s.Hub.Signal()
		one.hear("a step of the payment")
		a.quiet("a step of a payment")
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("reference = ?", last(things["/dashboard/sends/:reference"])[1:]).
			Update("steps", 77).Error)
		s.Hub.Signal()
		a.hear("a step of the send")
		sends.hear("a step of a send in the queue")
		drainStreams(list)
		add(s, &models.Transfer{Network: "sandbox-xrpl", TxID: "another", Asset: "XRP", Address: "r", BusinessID: sc.BusinessID,
			Domain: "live", Unmatched: "missing_tag", FirstSeenAt: s.Clock.Now()})
		s.Hub.Signal()
		streams["/dashboard/unmatched"].quiet("a transfer in the other domain")
		add(s, &models.Transfer{Network: "sandbox-xrpl", TxID: "one more", Asset: "XRP", Address: "r", BusinessID: sc.BusinessID,
			Domain: "test", Unmatched: "missing_tag", FirstSeenAt: s.Clock.Now()})
		s.Hub.Signal()
		streams["/dashboard/unmatched"].hear("a transfer that belongs to no payment")
	})
}

// TestStreamsEndWithTheirRights (AP-2): a stream ends when its browser is signed out, when its member's role changes
// and when they leave the business.
func TestStreamsEndWithTheirRights(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		l := serveLive(t, s)
		signedOut, otherRole, stays := s.SignIn(ama), s.SignIn(ama), s.SignIn(ama)
		finance := hire(t, s, sc, "finance@till.example", scope.Finance)
		left := s.SignIn("finance@till.example")
		streams := map[*servertest.Browser]stream{}
		for _, b := range []*servertest.Browser{signedOut, otherRole, stays, left} {
			asking(t, b, scope.Test)
			streams[b] = l.open(t, b, "/dashboard/live")
			streams[b].hear("the first one comes at once")
		}
		drainStreams(slices.Collect(maps.Values(streams))...)
		leads(t, signedOut.PostFrom("/dashboard/account", "/sign-out", url.Values{}), "/sign-in?signed_out=1")
		streams[signedOut].ended("signed out")
		leads(t, stays.PostFrom("/dashboard/team", fmt.Sprintf("/dashboard/team/members/%d/remove", finance.ID), url.Values{}), "/dashboard/team")
		streams[left].ended("removed from the business")
		s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple))
		s.Hub.Signal()
		streams[stays].hear("still signed in")
		s.SetRole(sc, scope.Admin)
		streams[otherRole].ended("the role changed")
		if got := l.open(t, s.NewBrowser(), "/dashboard/live").status; got != http.StatusSeeOther {
			t.Errorf("a browser that isn't signed in gets %d, want 303", got)
		}
	})
}

// TestStreamsAreBounded (AP-18): a browser has at most eight streams, of which the oldest ends for one more, so that a
// person who opens many pages quickly has a stream on the last of them; a business has at most sixty-four.
func TestStreamsAreBounded(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		l := serveLive(t, s)
		for n := range 8 {
			b := s.SignIn(ama)
			asking(t, b, scope.Test)
			streams := make([]stream, 9)
			for m := range streams {
				if streams[m] = l.open(t, b, "/dashboard/live"); streams[m].status != http.StatusOK {
					t.Fatalf("stream %d of browser %d answers %d, want 200", m+1, n+1, streams[m].status)
				}
			}
			streams[0].ended("a ninth page of one browser was opened")
			if got := s.Hub.CountPages(); got != 8*(n+1) {
				t.Fatalf("with nine pages of each of %d browsers opened %d streams are open, want %d", n+1, got, 8*(n+1))
			}
		}
		b := s.SignIn(ama)
		asking(t, b, scope.Test)
		if got := l.open(t, b, "/dashboard/live").status; got != http.StatusNoContent {
			t.Errorf("a 65th stream of the business answers %d, want 204", got)
		}
	})
}

// TestListsSayHowManyAreNew: the script of an open list is notified how many rows of its filter are newer, and the page of
// a person isn't; the rest stays for the person's next page.
func TestListsSayHowManyAreNew(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		again := func(path, since string) servertest.Answer {
			t.Helper()
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("X-Live-Since", since)
			return b.SendRequest(r)
		}
		s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		expect(t, again("/dashboard/payments", "0"), 200, "1 new payment – show")
		first := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
		s.Clock.Advance(time.Minute)
		const path = "/dashboard/payments?currency=NGN"
		expect(t, b.Get(path), 200, `data-live-list="`+first)
		other := servertest.NewRequest(money.CryptoRipple)
		other.Currency = "KES"
		s.InitiatePayment(sc, other)
		s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple))
		expect(t, again(path, first), 200, "1 new payment – show")
		s.Clock.Advance(time.Minute)
		s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple))
		expect(t, again(path+"&older="+first, first), 200, "2 new payments – show")
		if body := b.Get(path).Body; strings.Contains(body, "– show</a>") {
			t.Errorf("a page that a person opens says that there are new payments")
		}
		for n, tx := range []string{"one", "two"} {
			row := models.Transfer{Network: "sandbox-xrpl", TxID: tx, Asset: "XRP", Address: "r", BusinessID: sc.BusinessID,
				Domain: "test", Unmatched: "missing_tag", FirstSeenAt: s.Clock.Now()}
			add(s, &row)
			if n == 0 {
				expect(t, again("/dashboard/unmatched", "0"), 200, "1 new transfer – show")
				expect(t, b.Get("/dashboard/unmatched"), 200, fmt.Sprintf(`data-live-list="%d"`, row.ID))
			} else {
				expect(t, again("/dashboard/unmatched", fmt.Sprint(row.ID-1)), 200, "1 new transfer – show")
				expect(t, again("/dashboard/unmatched", "0"), 200, "2 new transfers – show")
			}
		}
		leads(t, b.PostFrom("/dashboard/account", "/dashboard/account", url.Values{"name": {"Ama M"}}), "/dashboard/account")
		if body := again("/dashboard/payments", "0").Body; strings.Contains(body, "Your name was saved") {
			t.Error("the script of another page took the sentence that was left for the person")
		}
		expect(t, b.Get("/dashboard/account"), 200, "Your name was saved")
	})
}
