// Package web is the HTTP server: the route table, what surrounds every
// handler, login sessions, and the one place where errors become answers.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/apilog"
	"cointill/core/clock"
	"cointill/core/limit"
	"cointill/core/memory"
	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/sse"
)

const (
	bodyLimit   = 64 << 10
	handleTime  = 15 * time.Second // of one request in core and database
	stopTime    = 10 * time.Second // for open requests when the server stops
	headerLimit = 8 << 10
)

// Config is what the operator decides about the server.
type Config struct {
	// BaseURL is where browsers and merchants reach the server: https, or http
	// on a loopback address. Every link is built from it, never from a request.
	BaseURL string
	// TrustedProxies are addresses or CIDR ranges whose X-Forwarded-For and
	// X-Forwarded-Proto are believed. Without any, loopback is believed about
	// X-Forwarded-Proto.
	TrustedProxies []string
	// Connections is how many clients may be connected at once; 0 for 4,096.
	Connections int
	// Bodies is the memory for what clients send beyond some KiB each; nil has no bound.
	Bodies *memory.Part
}

// Deps is what the server is wired to.
type Deps struct {
	Clock   clock.Clock
	Account *account.Service
	// Sessions is the login sessions of browsers.
	Sessions *auth.Sessions
	// Keys finds whose an API key is, for requests that are longer than others; nil allows none.
	Keys    *apikey.Service
	Secret  *secret.Box
	Limiter *limit.Limiter
	Hub     *sse.Hub
	// Notifications counts what members have not read; nil counts none.
	Notifications *notification.Service
	// Calls is where requests of API keys are noted; nil notes none.
	Calls   *apilog.Log
	Log     *slog.Logger
	Metrics *prometheus.Registry
	// Checks are what /readyz asks, by name; an error means not ready.
	Checks map[string]func(ctx context.Context) error
	Routes Routes
}

// Server serves the whole product. Make one with New.
type Server struct {
	Deps
	app     *fiber.App
	base    string // without a slash at its end
	origins []string
	https   bool
	proxies []netip.Prefix
	store   *store
	assets  assets
	actions map[string]scope.Action // of members' pages, by their route
	silent  silent
	conns   connLimiter
	bodies  *memory.Part
	// acceptErrorLogged is when the log last said that no connection can be accepted.
	acceptErrorLogged time.Time
	// rejections bounds the clients that are answered 503 at the same time.
	rejections chan struct{}
	unread     time.Duration // that an answer may be
	timings    *prometheus.HistogramVec
	refusals   *prometheus.CounterVec
	metrics    *http.Server
}

// New builds the server; it refuses a base address that would send login
// cookies over an open network.
func New(config Config, deps Deps) (*Server, error) {
	s := &Server{Deps: deps, silent: silent{conns: map[*conn]struct{}{}}, bodies: config.Bodies,
		conns: connLimiter{max: cmp.Or(config.Connections, maxConns), byClient: map[netip.Prefix]int{}}, unread: unread,
		refusals: newRefusals(), actions: map[string]scope.Action{}}
	s.rejections = make(chan struct{}, min(max(s.conns.max/rejectionShare, 1), maxRejections))
	base, err := ParseBase(config.BaseURL)
	if err != nil {
		return nil, err
	}
	s.base, s.https, s.origins = base.URL, base.HTTPS, base.origins()
	for _, text := range config.TrustedProxies {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, failed := netip.ParseAddr(text)
			if failed != nil {
				return nil, fmt.Errorf("trusted proxy %q is neither an address nor a range like 10.0.0.0/8", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		s.proxies = append(s.proxies, prefix)
	}
	s.store = newStore(deps.Sessions, s.https)
	s.timings = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "cointill_http_request_seconds",
		Help: "Time to answer a request, by route.", Buckets: prometheus.DefBuckets},
		[]string{"method", "route", "status"})
	pages := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "cointill_open_streams",
		Help: "Pages that wait for server-sent events."}, func() float64 { return float64(deps.Hub.CountPages()) })
	for _, metric := range []prometheus.Collector{s.timings, s.refusals, pages} {
		if err := deps.Metrics.Register(metric); err != nil {
			return nil, err
		}
	}
	s.metrics = &http.Server{Handler: promhttp.HandlerFor(deps.Metrics, promhttp.HandlerOpts{}),
		ReadHeaderTimeout: 5 * time.Second}
	s.build()
	return s, nil
}

// build makes the fiber app with its middleware and routes.
func (s *Server) build() {
	s.app = fiber.New(fiber.Config{
		Immutable: true, // strings of a request would be reused by the next one
		// /v1/Payments and /v1/payments/ are other addresses than /v1/payments.
		StrictRouting: true, CaseSensitive: true,
		// the listener has its own bound
		BodyLimit: bodyLimit, ReadBufferSize: headerLimit, Concurrency: 2 * s.conns.max,
		// no WriteTimeout, which would cut streams: see conn
		ReadTimeout: 10 * time.Second, IdleTimeout: 30 * time.Second,
		ReduceMemoryUsage:     true, // connections that wait hold no buffers
		DisableStartupMessage: true, DisablePreParseMultipartForm: true,
		ErrorHandler: s.rejectUnrouted,
	})
	s.app.Server().CloseOnShutdown = true
	s.app.Server().HeaderReceived = s.allowLongBody
	known := s.app.Server().Handler
	s.app.Server().Handler = func(r *fasthttp.RequestCtx) {
		defer r.Request.ReleaseBody(bodyLimit) // fasthttp would keep a longer one for other requests
		if slices.Contains(fiber.DefaultMethods, string(r.Method())) {
			known(r)
			return
		}
		c := s.app.AcquireCtx(r) // fiber would answer a method it doesn't know with a text of its own
		defer s.app.ReleaseCtx(c)
		// it only fails when the page can't be built, and then answers plainly
		_ = s.rejectUnrouted(c, fiber.ErrMethodNotAllowed)
	}
	s.app.Use(s.observe, s.guard, compress)
	s.routes(s.Routes)
}

// Listen serves on the listener until Shutdown.
func (s *Server) Listen(ln net.Listener) error {
	return s.app.Listener(listener{ln, s})
}

// ListenMetrics serves /metrics on a listener of its own until Shutdown.
func (s *Server) ListenMetrics(ln net.Listener) error {
	if err := s.metrics.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown ends the streams first, then waits for requests under way, at most
// ten seconds or as long as ctx lasts.
func (s *Server) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	s.Hub.Close()
	s.silent.stop()
	return errors.Join(s.app.ShutdownWithContext(ctx), s.metrics.Shutdown(ctx))
}

// App is the fiber app, for tests that need no socket.
func (s *Server) App() *fiber.App { return s.app }
