package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"cointill/core/idempotency"
	"cointill/core/webhook"
	"cointill/handlers/page"
)

// once carries out a form that makes something (act), and leads to where that is
// (place). A form that is sent twice, by a second click or by going back, makes
// nothing twice: it leads to what it made the first time. Forms carry the hidden
// field once for it (ui.SentOnce), anew each time they are shown; with other
// values it is another form.
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

// nonces are what pages give out; anything else is as good as none.
var nonces = regexp.MustCompile(`^once_[0-9A-Z]{1,40}$`)

// claim is the form's claim to be the first, and what the first made; neither
// for a form without the field.
func (h *Handlers) claim(c *page.Ctx) (*idempotency.Claim, *idempotency.Answer, error) {
	nonce := c.Text("once")
	if !nonces.MatchString(nonce) {
		return nil, nil, nil
	}
	// The form's token is masked anew for each page, and says nothing of what is asked.
	fields := url.Values{}
	for name, value := range c.Context().PostArgs().All() {
		if string(name) != "csrf" {
			fields.Add(string(name), string(value))
		}
	}
	sum := sha256.Sum256([]byte(c.Path() + "\n" + fields.Encode()))
	claim, err := h.Answers.Claim(c.Scope, "form "+nonce+" "+hex.EncodeToString(sum[:]), http.MethodPost, c.Path(), nil)
	if err != nil {
		return nil, nil, err
	}
	before, err := h.Answers.Replay(c.UserContext(), claim)
	return claim, before, err
}

// secretOnce is once for what answers with an endpoint's new secret: sent twice,
// the form shows the same one. As in the API's answers it is kept for that, sealed.
func (h *Handlers) secretOnce(c *page.Ctx, act func(ctx context.Context) (webhook.Endpoint, string, error)) (webhook.Endpoint, string, error) {
	type kept struct{ ID, Secret string }
	again := func(a idempotency.Answer) (e webhook.Endpoint, secret string, err error) {
		var k kept
		if err := json.Unmarshal(a.Body, &k); err != nil {
			return e, "", err
		}
		e, err = h.Webhooks.Find(c.UserContext(), c.Scope, k.ID)
		return e, k.Secret, err
	}
	claim, before, err := h.claim(c)
	if err != nil {
		return webhook.Endpoint{}, "", err
	}
	if before != nil {
		return again(*before)
	}
	render := func(result any) (idempotency.Answer, error) {
		made, ok := result.(webhook.WithSecret)
		if !ok {
			return idempotency.Answer{}, fmt.Errorf("dashboard: a form made a %T", result)
		}
		body, err := json.Marshal(kept{made.Endpoint.ID, made.Secret})
		return idempotency.Answer{Status: http.StatusOK, Body: body}, err
	}
	e, secret, err := act(idempotency.With(c.UserContext(), claim, render))
	var twin *idempotency.Answered
	if errors.As(err, &twin) {
		return again(twin.Answer)
	}
	return e, secret, err
}
