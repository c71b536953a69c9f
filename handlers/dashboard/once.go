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

	"cointill/core/account"
	"cointill/core/idempotency"
	"cointill/core/webhook"
	"cointill/handlers/page"
)

// only carries out a form that makes something (act), unless it was sent before: by
// a second click, or by going back. What render makes of the core's result is kept,
// sealed, and is what a twin gets as before; nil for the first. Forms carry the
// hidden field once for it (ui.SentOnce), anew each time they are shown; with other
// values it is another form.
func only(answers *idempotency.Store, c *page.Ctx, act func(ctx context.Context) error, render func(result any) ([]byte, error)) (before []byte, err error) {
	claim, first, err := claimForm(answers, c)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return first.Body, nil
	}
	err = act(idempotency.With(c.UserContext(), claim, func(result any) (idempotency.Answer, error) {
		body, err := render(result)
		return idempotency.Answer{Status: http.StatusOK, Body: body}, err
	}))
	var twin *idempotency.Answered
	if errors.As(err, &twin) {
		return twin.Answer.Body, nil
	}
	return nil, err
}

// once carries out a form that makes something, once, and leads to where that is
// (place), each time that it is sent.
func once[T any](answers *idempotency.Store, c *page.Ctx, act func(ctx context.Context) (T, error), place func(T) string) error {
	var made T
	before, err := only(answers, c, func(ctx context.Context) (err error) {
		made, err = act(ctx)
		return err
	}, func(result any) ([]byte, error) {
		made, ok := result.(T)
		if !ok {
			return nil, fmt.Errorf("dashboard: a form made a %T", result)
		}
		return []byte(place(made)), nil
	})
	if err != nil {
		return err
	}
	if before != nil {
		return c.Redirect(string(before))
	}
	return c.Redirect(place(made))
}

// secretOnce is once for what answers with an endpoint's new secret: sent twice, the
// form shows the same one.
func (h *Handlers) secretOnce(c *page.Ctx, act func(ctx context.Context) (webhook.Endpoint, string, error)) (e webhook.Endpoint, secret string, err error) {
	type kept struct{ ID, Secret string }
	before, err := only(h.Answers, c, func(ctx context.Context) (err error) {
		e, secret, err = act(ctx)
		return err
	}, func(result any) ([]byte, error) {
		made, ok := result.(webhook.WithSecret)
		if !ok {
			return nil, fmt.Errorf("dashboard: a form made a %T", result)
		}
		return json.Marshal(kept{made.Endpoint.ID, made.Secret})
	})
	if err != nil || before == nil {
		return e, secret, err
	}
	var k kept
	if err := json.Unmarshal(before, &k); err != nil {
		return e, "", err
	}
	e, err = h.Webhooks.Find(c.UserContext(), c.Scope, k.ID)
	return e, k.Secret, err
}

// keyOnce is once for what answers with a new API key: sent twice, the form shows
// the same one.
func (h *Handlers) keyOnce(c *page.Ctx, act func(ctx context.Context) (account.Key, string, error)) (k account.Key, secret string, err error) {
	type kept struct{ Name, Secret string }
	before, err := only(h.Answers, c, func(ctx context.Context) (err error) {
		k, secret, err = act(ctx)
		return err
	}, func(result any) ([]byte, error) {
		made, ok := result.(account.NewKey)
		if !ok {
			return nil, fmt.Errorf("dashboard: a form made a %T", result)
		}
		return json.Marshal(kept{made.Key.Name, made.Secret})
	})
	if err != nil || before == nil {
		return k, secret, err
	}
	var twin kept
	err = json.Unmarshal(before, &twin)
	return account.Key{Name: twin.Name}, twin.Secret, err
}

// nonces are what pages give out; anything else is as good as none.
var nonces = regexp.MustCompile(`^once_[0-9A-Z]{1,40}$`)

// claimForm is the form's claim to be the first, and what the first made; neither
// for a form without the field.
func claimForm(answers *idempotency.Store, c *page.Ctx) (*idempotency.Claim, *idempotency.Answer, error) {
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
	claim, err := answers.Claim(c.Scope, "form "+nonce+" "+hex.EncodeToString(sum[:]), http.MethodPost, c.Path(), nil)
	if err != nil {
		return nil, nil, err
	}
	before, err := answers.Replay(c.UserContext(), claim)
	return claim, before, err
}
