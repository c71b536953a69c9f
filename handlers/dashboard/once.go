package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"cointill/core/idempotency"
	"cointill/handlers/page"
)

// once carries out a form that makes something (act), and leads to where that is
// (place). A form that is sent twice, by a second click or by going back, makes
// nothing twice: it leads to what it made the first time. Forms carry the hidden
// field once for it (ui.SentOnce), anew each time they are shown.
func once[T any](h *Handlers, c *page.Ctx, act func(ctx context.Context) (T, error), place func(T) string) error {
	claim, before, err := h.claim(c)
	if err != nil {
		return err
	}
	if before != nil {
		return c.Redirect(string(before.Body))
	}
	render := func(result any) (idempotency.Answer, error) {
		made, ok := result.(T)
		if !ok {
			return idempotency.Answer{}, fmt.Errorf("dashboard: a form made a %T", result)
		}
		return idempotency.Answer{Status: http.StatusSeeOther, Body: []byte(place(made))}, nil
	}
	made, err := act(idempotency.With(c.UserContext(), claim, render))
	var twin *idempotency.Answered
	if errors.As(err, &twin) {
		return c.Redirect(string(twin.Answer.Body))
	}
	if err != nil {
		return err
	}
	return c.Redirect(place(made))
}

// claim is the form's claim to be the first, and what the first made; neither
// for a form without the field.
func (h *Handlers) claim(c *page.Ctx) (*idempotency.Claim, *idempotency.Answer, error) {
	nonce := c.Text("once")
	if nonce == "" {
		return nil, nil, nil
	}
	claim, err := h.Answers.Claim(c.Scope, "form "+nonce, http.MethodPost, c.Path(), c.Body())
	if err != nil {
		return nil, nil, err
	}
	before, err := h.Answers.Replay(c.UserContext(), claim)
	return claim, before, err
}
