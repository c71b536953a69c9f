package web

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"cointill/core/fault"
	"cointill/handlers/page"
)

const (
	// TurnedAway is the part of all connections that as many more may have while they get the
	// answer that there is no room, at most maxTurnedAway. Those beyond are closed without a word.
	TurnedAway    = 8
	maxTurnedAway = 256
	turningAway   = time.Second
)

var noRoom = fault.Retry("unavailable", "Too many connections are open. Try again in a few seconds.", 5*time.Second)

var noMemory = fault.Retry("unavailable",
	"The server has no memory for long requests now. Try again in a few seconds.", 5*time.Second)

// newRefusals counts requests that reach no route, by status. Each status begins at 0,
// so that the first request of a kind is a rise.
func newRefusals() *prometheus.CounterVec {
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "cointill_http_refused_total",
		Help: "Requests refused before they were read, by status. " +
			"503: there was no room for the connection, or for the body."}, []string{"status"})
	for _, status := range []int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge,
		http.StatusRequestHeaderFieldsTooLarge, http.StatusServiceUnavailable} {
		refusals.WithLabelValues(strconv.Itoa(status))
	}
	return refusals
}

// refuse answers a request that reaches no route: it can't be read, or there is no room.
func (s *Server) refuse(c *fiber.Ctx, err error) error {
	if conn, ok := c.Context().Conn().(*conn); ok && conn.hold.short() {
		err = noMemory
	}
	if errors.Is(err, fiber.ErrBadGateway) { // so fiber calls a connection that broke while a request was read
		err = fiber.ErrBadRequest
	}
	lastWord(c)
	status := strconv.Itoa(page.ExplainError(err).Status)
	s.refusals.WithLabelValues(status).Inc()
	s.Log.Info("refused before it was read", "request_id", s.prepare(c), "status", status, "peer", c.Context().
		RemoteAddr().String())
	return s.fail(c, err)
}

// lastWord closes the connection after the answer, and not before it was read.
func lastWord(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	if conn, ok := c.Context().Conn().(*conn); ok {
		conn.refused.Store(true)
	}
}

// turnAway answers 503 to a client that there is no room for, after its request: some
// clients ignore an answer that arrives before the request was sent.
func (s *Server) turnAway(c net.Conn) {
	select {
	case s.turned <- struct{}{}:
	default:
		s.refusals.WithLabelValues(strconv.Itoa(http.StatusServiceUnavailable)).Inc()
		_ = c.Close() // nothing was asked
		return
	}
	go func() {
		defer func() { <-s.turned }()
		defer time.AfterFunc(turningAway, func() { _ = c.Close() }).Stop()
		var r fasthttp.RequestCtx
		r.Init2(c, nil, false)
		_ = r.Request.Header.Read(bufio.NewReaderSize(c, headerLimit)) // whatever it was
		answer := s.app.AcquireCtx(&r)
		defer s.app.ReleaseCtx(answer)
		_ = s.refuse(answer, noRoom) // a few words can be written
		_, _ = r.Response.WriteTo(c) // the client may have disconnected
		_ = c.Close()                // likewise
	}()
}
