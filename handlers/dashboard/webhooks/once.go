package webhooks

import (
	"context"
	"encoding/json"
	"fmt"

	"cointill/core/webhook"
	"cointill/handlers/page"
)

// createSecretOnce is once for what answers with an endpoint's new secret: sent twice, the
// form shows the same one.
func (h *Handlers) createSecretOnce(c *page.Ctx, act func(ctx context.Context) (webhook.Endpoint, string,
	error)) (e webhook.Endpoint, secret string, err error) {
	type shownOnce struct{ ID, Secret string }
	before, err := page.RunOnce(h.Answers, c, func(ctx context.Context) (err error) {
		e, secret, err = act(ctx)
		return err
	}, func(result any) ([]byte, error) {
		made, ok := result.(webhook.WithSecret)
		if !ok {
			return nil, fmt.Errorf("dashboard: a form made a %T", result)
		}
		return json.Marshal(shownOnce{made.Endpoint.ID, made.Secret})
	})
	if err != nil || before == nil {
		return e, secret, err
	}
	var k shownOnce
	if err := json.Unmarshal(before, &k); err != nil {
		return e, "", err
	}
	e, err = h.Webhooks.Find(c.UserContext(), c.Scope, k.ID)
	return e, k.Secret, err
}
