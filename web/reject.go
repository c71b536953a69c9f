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
	// rejectionShare is how many connections over the limit are answered 503 at once, as 1/8 of
	// the limit, at most maxRejections. Those beyond are closed without an answer.
	rejectionShare = 8
	maxRejections  = 256
	rejectTimeout  = time.Second
)

var overCapacity = fault.Retry("unavailable", 5*time.Second,
	"Too many connections are open. Try again in a few seconds.")

var noMemory = fault.Retry("unavailable", 5*time.Second,
	"The server has no memory for long requests now. Try again in a few seconds.")

// newRefusals counts requests that reach no route, by status. Each status begins at 0,
// so that the first request with it shows as an increase.
func newRefusals() *prometheus.CounterVec {
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "cointill_http_refused_total",
		Help: "Requests refused before they were read, by status. " +
			"503: the connection limit was reached, or there was no memory for the body."}, []string{"status"})
	for _, status := range []int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge,
		http.StatusRequestHeaderFieldsTooLarge, http.StatusServiceUnavailable} {
		refusals.WithLabelValues(strconv.Itoa(status))
	}
	return refusals
}

// rejectUnrouted answers a request that reaches no route: it can't be read, or the server is full.
func (s *Server) rejectUnrouted(c *fiber.Ctx, err error) error {
	if conn, ok := c.Context().Conn().(*conn); ok && conn.hold.short() {
		err = noMemory
	}
	if errors.Is(err, fiber.ErrBadGateway) { // so fiber calls a connection that broke while a request was read
		err = fiber.ErrBadRequest
	}
	closeAfterResponse(c)
	status := strconv.Itoa(page.ExplainError(err).Status)
	s.refusals.WithLabelValues(status).Inc()
	s.Log.Info("refused before it was read", "request_id", s.prepare(c), "status", status, "peer", c.Context().
		RemoteAddr().String())
	return s.fail(c, err)
}

// closeAfterResponse closes the connection once the client had time to read the answer.
func closeAfterResponse(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	if conn, ok := c.Context().Conn().(*conn); ok {
		conn.refused.Store(true)
	}
}

// rejectOverCapacity answers 503 on a connection over the limit, after its request: some
// clients ignore an answer that arrives before the request was sent.
func (s *Server) rejectOverCapacity(c net.Conn) {
	select {
	case s.rejections <- struct{}{}:
	default:
		s.refusals.WithLabelValues(strconv.Itoa(http.StatusServiceUnavailable)).Inc()
		_ = c.Close() // no request was read
		return
	}
	go func() {
		defer func() { <-s.rejections }()
		defer time.AfterFunc(rejectTimeout, func() { _ = c.Close() }).Stop()
		var r fasthttp.RequestCtx
		r.Init2(c, nil, false)
		_ = r.Request.Header.Read(bufio.NewReaderSize(c, headerLimit)) // whatever it was
		answer := s.app.AcquireCtx(&r)
		defer s.app.ReleaseCtx(answer)
		_ = s.rejectUnrouted(answer, overCapacity) // the answer is short enough to write
		_, _ = r.Response.WriteTo(c)               // the client may have disconnected
		_ = c.Close()                              // likewise
	}()
}
