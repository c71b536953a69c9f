package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"
)

// question asks for a payment with one select, and gives what is to be answered.
type question func(ctx context.Context, pool *pgxpool.Pool, reference string) (any, error)

// handler is a bare fiber handler that asks a question by pgx, and a client of it.
func (s *served) handler(b *testing.B, asks question) (ask func() error, stop func()) {
	pool, err := pgxpool.New(b.Context(), s.address)
	if err != nil {
		b.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/:reference", func(c *fiber.Ctx) error {
		answer, err := asks(c.Context(), pool, c.Params("reference"))
		if err != nil {
			return err
		}
		return c.JSON(answer)
	})
	listener := listen(b)
	var running sync.WaitGroup
	running.Go(func() { _ = app.Listener(listener) })
	at := "http://" + listener.Addr().String() + "/"
	ask = func() error {
		request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(request)
		defer fasthttp.ReleaseResponse(answer)
		request.SetRequestURI(at + s.refs[int(s.next.Add(1))%len(s.refs)])
		err := s.client.Do(request, answer)
		if err == nil && answer.StatusCode() != 200 {
			err = fmt.Errorf("the bare handler answered %d: %s", answer.StatusCode(), answer.Body())
		}
		return err
	}
	return ask, func() { _ = app.Shutdown(); running.Wait(); pool.Close() }
}

// wholePayment is what a verification answers, in one select and as it is stored.
func (s *served) wholePayment(ctx context.Context, pool *pgxpool.Pool, reference string) (any, error) {
	type transfer struct {
		Hash, Amount *string
		Height       *int64
		Gone         *bool
		FirstSeenAt  *time.Time
	}
	var p struct {
		Domain, Reference, BusinessReference, AuthorizationCode, Status, Reason, Remark string
		Reversed                                                                        bool
		Business, BusinessCode, CustomerName, CustomerEmail, CustomerCode               string
		Amount                                                                          int64
		Currency, Method, Coin, Due, Paid, Price                                        string
		Metadata                                                                        *string
		CreatedAt, ExpiresAt                                                            time.Time
		Transfers                                                                       []transfer
	}
	rows, err := pool.Query(ctx, `SELECT p.domain, p.reference, p.business_reference, p.authorization_code, p.status, p.reason, p.remark, p.reversed,
			b.name, b.code, p.customer_name, p.customer_email, c.code, p.amount, p.currency, p.method, p.coin, p.due::text, p.paid::text, p.price,
			p.metadata, p.created_at, p.expires_at, t.tx_id, t.amount::text, t.height, t.gone, t.first_seen_at
		FROM payments p JOIN businesses b ON b.id = p.business_id JOIN customers c ON c.id = p.customer_id
			LEFT JOIN transfers t ON t.payment_id = p.id AND t.unmatched = ''
		WHERE p.business_id = $1 AND p.domain = 'test' AND p.reference = $2`, s.scope.BusinessID, reference)
	if err != nil {
		return nil, err
	}
	var t transfer
	_, err = pgx.ForEachRow(rows, []any{&p.Domain, &p.Reference, &p.BusinessReference, &p.AuthorizationCode, &p.Status, &p.Reason, &p.Remark, &p.Reversed,
		&p.Business, &p.BusinessCode, &p.CustomerName, &p.CustomerEmail, &p.CustomerCode, &p.Amount, &p.Currency, &p.Method, &p.Coin, &p.Due, &p.Paid, &p.Price,
		&p.Metadata, &p.CreatedAt, &p.ExpiresAt, &t.Hash, &t.Amount, &t.Height, &t.Gone, &t.FirstSeenAt}, func() error {
		if t.Hash != nil {
			p.Transfers = append(p.Transfers, t)
		}
		return nil
	})
	return p, err
}

// leastOfPayment is how a payment stands, and no more.
func (s *served) leastOfPayment(ctx context.Context, pool *pgxpool.Pool, reference string) (any, error) {
	var p struct {
		Status, Due string
		Amount      int64
	}
	err := pool.QueryRow(ctx, "SELECT status, amount, due::text FROM payments WHERE business_id = $1 AND domain = 'test' AND reference = $2",
		s.scope.BusinessID, reference).Scan(&p.Status, &p.Amount, &p.Due)
	return p, err
}
