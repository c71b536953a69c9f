package developers

import (
	"context"
	"encoding/json"
	"fmt"

	"cointill/core/account/apikey"
	"cointill/handlers/page"
)

// createKeyOnce is once for what answers with a new API key: sent twice, the form shows
// the same one.
func (h *Handlers) createKeyOnce(c *page.Ctx, act func(ctx context.Context) (apikey.Key, string,
	error)) (k apikey.Key, secret string, err error) {
	type shownOnce struct{ Name, Secret string }
	before, err := page.RunOnce(h.Answers, c, func(ctx context.Context) (err error) {
		k, secret, err = act(ctx)
		return err
	}, func(result any) ([]byte, error) {
		made, ok := result.(apikey.Made)
		if !ok {
			return nil, fmt.Errorf("dashboard: a form made a %T", result)
		}
		return json.Marshal(shownOnce{made.Key.Name, made.Secret})
	})
	if err != nil || before == nil {
		return k, secret, err
	}
	var twin shownOnce
	err = json.Unmarshal(before, &twin)
	return apikey.Key{Name: twin.Name}, twin.Secret, err
}
