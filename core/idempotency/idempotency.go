// Package idempotency keeps the first answer to a request that carried an
// Idempotency-Key, sealed, in the same transaction as the request's effect.
//
// The edge makes a Claim of the request, asks Replay for an earlier answer, and otherwise
// hands the claim down in the context (With). The core operation runs its one transaction
// through Do, which takes the key first, lets the edge's renderer write the answer before the
// commit, and stores it. A request with the same key that comes meanwhile waits for the first one's
// commit and then finds its answer as an *Answered error. A call that was rolled back left no answer:
// the request may be made again. An operation that is no single transaction runs through Around.
package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
)

const (
	// Keep is how long an answer is kept.
	Keep   = 24 * time.Hour
	maxKey = 255
	batch  = 1000 // rows that one sweep statement deletes
)

// Store keeps answers.
type Store struct {
	db     *models.DB
	now    clock.Clock
	secret *secret.Box
}

// New makes a store.
func New(db *models.DB, now clock.Clock, box *secret.Box) *Store {
	return &Store{db: db, now: now, secret: box}
}

// Answer is an HTTP answer, byte for byte.
type Answer struct {
	Status int
	Body   []byte
}

// Answered is the error that ends a transaction whose request was answered
// before: the edge sends the answer again with Idempotency-Replayed: true.
type Answered struct{ Answer Answer }

// Error is for logs; the answer itself may hold secrets.
func (a *Answered) Error() string {
	return fmt.Sprintf("idempotency: answered before with status %d", a.Answer.Status)
}

// Claim is one request's claim to be the first with its key. A nil claim
// belongs to a request without a key: nothing is stored for it.
type Claim struct {
	store   *Store
	scope   scope.Scope
	key     string // keyed hash
	request string // keyed hash of method, path and body
	answer  *Answer
}

// Claim makes the claim of a request in the scope of its API key. Invalid for
// a key that is not 1–255 printable ASCII characters.
func (s *Store) Claim(sc scope.Scope, key, method, path string, body []byte) (*Claim, error) {
	if err := sc.Check(); err != nil {
		return nil, err
	}
	ok := len(key) > 0 && len(key) <= maxKey
	for i := range len(key) {
		ok = ok && key[i] >= ' ' && key[i] < 0x7f
	}
	if !ok {
		return nil, fault.RefuseField("Idempotency-Key", "Must have 1 to 255 printable ASCII characters.")
	}
	return &Claim{store: s, scope: sc, key: s.secret.Hash("idempotency key", key),
		request: s.secret.Hash("idempotency request", fmt.Sprintf("%s %s\n%s", method, path, body))}, nil
}

// Replay is the answer that was given before; nil when there is none. Conflict
// when the key belongs to another request.
func (s *Store) Replay(ctx context.Context, c *Claim) (*Answer, error) {
	answer, err := c.find(s.db.Read(ctx).Where("created_at > ?", s.now().Add(-Keep)))
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	return answer, err
}

// find reads the stored answer of the claim's key.
func (c *Claim) find(tx *models.Tx) (*Answer, error) {
	var row models.Idempotency
	if err := c.scope.Rows(tx).Where("key_hash = ?", c.key).Take(&row).Error; err != nil {
		return nil, err
	}
	if row.RequestHash != c.request {
		return nil, fault.New(fault.Conflict, "idempotency_key_reused",
			"This Idempotency-Key came with another request before. Use a new key for each request, and the same "+
				"key only to repeat one.")
	}
	if row.Status == 0 { // only Around commits a key without its answer
		return nil, underWay()
	}
	body, err := c.store.secret.Open(c.place(), row.Answer)
	return &Answer{Status: row.Status, Body: body}, err
}

// lock takes the key, or fails with *Answered or Conflict. It must be the first
// statement of the transaction: a request with the same key waits at it until this one is over.
func (c *Claim) lock(tx *models.Tx) error {
	now := c.store.now()
	// An answer older than Keep gives its place to the new request.
	taken := tx.Exec(`INSERT INTO idempotencies (business_id, domain, key_hash, request_hash, status, answer, created_at)
		VALUES (?, ?, ?, ?, 0, ?, ?)
		ON CONFLICT (business_id, domain, key_hash) DO UPDATE
		SET request_hash = excluded.request_hash, status = 0, answer = excluded.answer, created_at = excluded.created_at
		WHERE idempotencies.created_at <= ?`,
		c.scope.BusinessID, string(c.scope.Domain), c.key, c.request, []byte{}, now, now.Add(-Keep))
	if taken.Error != nil || taken.RowsAffected == 1 {
		return taken.Error
	}
	answer, err := c.find(tx)
	if errors.Is(err, gorm.ErrRecordNotFound) { // given back at this very moment
		return underWay()
	}
	if err != nil {
		return err
	}
	return &Answered{Answer: *answer}
}

func underWay() error {
	return fault.New(fault.Conflict, "request_in_progress",
		"The request with this Idempotency-Key is still under way, or was cut off. Repeat it in a moment; if this "+
			"stays, look what became of it and use a new key.")
}

// finish stores the answer in the transaction that lock began.
func (c *Claim) finish(tx *models.Tx, a Answer) error {
	stored := c.scope.Rows(tx.Model(&models.Idempotency{})).Where("key_hash = ? AND status = 0", c.key).
		Updates(map[string]any{"status": a.Status, "answer": c.store.secret.Seal(c.place(), a.Body)})
	if stored.Error == nil && stored.RowsAffected != 1 {
		return errors.New("idempotency: the claimed key is gone")
	}
	return stored.Error
}

// place binds a sealed answer to its row.
func (c *Claim) place() string {
	return fmt.Sprintf("idempotencies/%d/%s/%s", c.scope.BusinessID, c.scope.Domain, c.key)
}

// Answer is the answer that this very request stored, or nil. The
// edge sends these bytes, so that a replay can't differ.
func (c *Claim) Answer() *Answer {
	if c == nil {
		return nil
	}
	return c.answer
}

// Render writes the answer to a result of a core operation.
type Render func(result any) (Answer, error)

type carried struct {
	claim  *Claim
	render Render
}

type contextKey struct{}

// With hands a claim down to the core operation that the request asks for.
func With(ctx context.Context, c *Claim, render Render) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, carried{claim: c, render: render})
}

// From is the claim that the context carries, nil when it has none.
func From(ctx context.Context) *Claim {
	found, _ := ctx.Value(contextKey{}).(carried)
	return found.claim
}

// Do runs fn in one transaction and, when the context carries a claim, makes it
// happen at most once for its key. fn may run again when the database asks for
// it. Every operation that a POST of /v1 can reach writes through Do or Around.
func Do[T any](ctx context.Context, db *models.DB, fn func(tx *models.Tx) (T, error)) (T, error) {
	found, _ := ctx.Value(contextKey{}).(carried)
	claim := found.claim
	if claim != nil && claim.answer != nil { // a further step of a request that is answered
		claim = nil
	}
	var result T
	var answer Answer
	err := db.Write(ctx, func(tx *models.Tx) (err error) {
		if claim != nil {
			if err := claim.lock(tx); err != nil {
				return err
			}
		}
		if result, err = fn(tx); err != nil || claim == nil {
			return err
		}
		if answer, err = found.render(result); err != nil {
			return err
		}
		return claim.finish(tx, answer)
	})
	if err != nil {
		var none T
		return none, err
	}
	if claim != nil {
		claim.answer = &answer
	}
	return result, nil
}

// Around is Do for an operation that is no single transaction, as those on the
// simulated chains: the key is taken and committed first, then fn runs, then the
// answer is stored. A call with the same key in between gets a Conflict. When fn fails
// the key is given back. A crash in between leaves the key taken without an
// answer: its outcome is unknown, so repetitions are a Conflict for as long as
// answers are kept, and nothing happens twice.
func Around[T any](ctx context.Context, fn func(ctx context.Context) (T, error)) (T, error) {
	found, _ := ctx.Value(contextKey{}).(carried)
	claim := found.claim
	if claim == nil || claim.answer != nil {
		return fn(ctx)
	}
	var none T
	db := claim.store.db
	if err := claim.lock(db.Exec(ctx)); err != nil {
		return none, err
	}
	settle := context.WithoutCancel(ctx) // the client may have disconnected
	result, err := fn(context.WithValue(ctx, contextKey{}, carried{}))
	if err != nil {
		return none, errors.Join(err, claim.release(db.Exec(settle)))
	}
	answer, err := found.render(result)
	if err != nil {
		return none, err
	}
	if err := claim.finish(db.Exec(settle), answer); err != nil {
		return none, err
	}
	claim.answer = &answer
	return result, nil
}

// release gives a key back that was taken without an answer.
func (c *Claim) release(tx *models.Tx) error {
	return c.scope.Rows(tx).Where("key_hash = ? AND status = 0", c.key).Delete(&models.Idempotency{}).Error
}

// RewriteAnswers rewrites the stored answers to the scope's requests, in batches.
func (s *Store) RewriteAnswers(ctx context.Context, sc scope.Scope, rewrite func(text string) string) error {
	for after := int64(0); ; {
		var rows []models.Idempotency
		if err := sc.Rows(s.db.Read(ctx)).Where("id > ? AND status > 0", after).Order("id").Limit(batch).
			Find(&rows).Error; err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			place := (&Claim{scope: sc, key: row.KeyHash}).place()
			body, err := s.secret.Open(place, row.Answer)
			if err != nil {
				continue // sealed with another key: it can't be read
			}
			if text := rewrite(string(body)); text != string(body) {
				if err := s.db.Exec(ctx).Model(&row).Where("request_hash = ?", row.RequestHash).
					UpdateColumn("answer", s.secret.Seal(place, []byte(text))).Error; err != nil {
					return err
				}
			}
		}
		after = rows[len(rows)-1].ID
	}
}

// Sweep deletes answers that are older than Keep.
func (s *Store) Sweep(ctx context.Context) error {
	for {
		done := s.db.Exec(ctx).Exec(`DELETE FROM idempotencies WHERE id IN
			(SELECT id FROM idempotencies WHERE created_at <= ? ORDER BY created_at LIMIT ?)`, s.now().Add(-Keep), batch)
		if done.Error != nil || done.RowsAffected < batch {
			return done.Error
		}
	}
}
