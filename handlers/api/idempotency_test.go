package api_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/models"
)

// TestIdempotency (AP-16): the same body gets the same bytes again, another one a
// conflict, and what was refused isn't kept.
func TestIdempotency(t *testing.T) {
	each(t, func(b *bench) {
		post := func(path, body, key string) answer { return b.call("POST", path, body, "Idempotency-Key", key) }
		webhook := `{"type":"orders","url":"https://shop.example/hook","active":true}`
		for path, text := range map[string]string{"/v1/payment/initiate": body(), "/v1/webhooks": webhook, "/v1/payment-links": `{"title":"A","currency":"USD"}`,
			"/v1/sandbox/mine": `{"payment_method":"crypto_bitcoin","blocks":1}`} {
			for _, key := range []string{strings.Repeat("k", 256), "clé"} {
				if a := post(path, text, key); a.Status != 422 || len(a.Body.Errors["Idempotency-Key"]) != 1 {
					b.Errorf("the key %q: %s", key, a.Raw)
				}
			}
			key := strings.ReplaceAll(path, "/", "-") + strings.Repeat("k", 200)
			first := post(path, text, key)
			again := post(path, text, key)
			if first.Status >= 300 || first.Header.Get("Idempotency-Replayed") != "" || again.Status != first.Status || again.Raw != first.Raw || again.Header.Get("Idempotency-Replayed") != "true" {
				b.Errorf("%s: %s then %s", path, first.Raw, again.Raw)
			}
			b.expect(post(path, text+" ", key), 409, "idempotency_key_reused")
			b.expect(post(path, "{", key), 409, "idempotency_key_reused")
		}
		b.expect(post("/v1/payment/initiate", "{", "second"), 400, "unreadable_json")
		b.expect(post("/v1/payment/initiate", body("amount", "0"), "second"), 422, "validation_failed")
		b.expect(post("/v1/payment/initiate", body(), "second"), 201, "")
		b.expect(b.callAs(b.liveKey, "POST", "/v1/webhooks", webhook, "Idempotency-Key", "second"), 201, "")
		b.clock.Advance(24*time.Hour + time.Second)
		if a := post("/v1/payment/initiate", body(), "second"); a.Header.Get("Idempotency-Replayed") != "" {
			b.Error("an answer was kept longer than a day")
		}
	})
}

func TestTwinsWithOneKey(t *testing.T) {
	each(t, func(b *bench) {
		var group sync.WaitGroup
		answers := make([]answer, 40)
		for i := range answers {
			group.Go(func() { answers[i] = b.call("POST", "/v1/payment/initiate", body(), "Idempotency-Key", "k") })
		}
		group.Wait()
		for _, a := range answers {
			if a.Status != 201 || a.Raw != answers[0].Raw {
				b.Errorf("%d %s", a.Status, a.Raw)
			}
		}
		var stored int64
		b.must(b.db.Read(b.Context()).Model(&models.Payment{}).Count(&stored).Error)
		if stored != 1 {
			b.Errorf("%d payments", stored)
		}
	})
}

// TestTwinsOfAWebhook: twenty at once make one endpoint and get one secret.
func TestTwinsOfAWebhook(t *testing.T) {
	each(t, func(b *bench) {
		const text = `{"type":"orders","url":"https://shop.example/hook","active":true}`
		var group sync.WaitGroup
		answers := make([]answer, 20)
		for i := range answers {
			group.Go(func() { answers[i] = b.call("POST", "/v1/webhooks", text, "Idempotency-Key", "k") })
		}
		group.Wait()
		firsts := 0
		for _, a := range answers {
			if a.Status != 201 || a.Raw != answers[0].Raw || !strings.Contains(a.Raw, `"secret":"whsec_`) {
				b.Errorf("%d %s", a.Status, a.Raw)
			}
			if a.Header.Get("Idempotency-Replayed") == "" {
				firsts++
			}
		}
		var stored int64
		b.must(b.db.Read(b.Context()).Model(&models.Endpoint{}).Count(&stored).Error)
		if stored != 1 || firsts != 1 {
			b.Errorf("%d endpoints, %d first answers", stored, firsts)
		}
	})
}

// TestEveryPostHappensOnce (AP-16) repeats each POST of the document: the same bytes
// come back.
func TestEveryPostHappensOnce(t *testing.T) {
	each(t, func(b *bench) {
		s, h := b.initiate("business_reference", `"order-1"`), b.hook("https://shop.example/hook")
		var test struct {
			EventID string `json:"event_id"`
		}
		b.into(b.expect(b.call("POST", "/v1/webhooks/"+h.ID+"/test", ""), 200, ""), &test)
		posts := map[string][2]string{ // by the path of the document: the path, the body
			"/v1/payment/initiate":                      {"", body()},
			"/v1/payment-links":                         {"", `{"title":"A","currency":"USD"}`},
			"/v1/webhooks":                              {"", `{"type":"a","url":"https://shop.example/","active":false}`},
			"/v1/webhooks/{id}/rotate-secret":           {"/v1/webhooks/" + h.ID + "/rotate-secret", ""},
			"/v1/webhooks/{id}/test":                    {"/v1/webhooks/" + h.ID + "/test", ""},
			"/v1/events/{id}/redeliver":                 {"/v1/events/" + test.EventID + "/redeliver", ""},
			"/v1/events/resend":                         {"", `{"created_after":"2026-03-01T00:00:00Z"}`},
			"/v1/webhooks/{id}/resend":                  {"/v1/webhooks/" + h.ID + "/resend", `{"created_after":"2026-03-01T00:00:00Z"}`},
			"/v1/sandbox/payments/{reference}/simulate": {"/v1/sandbox/payments/" + s.Reference + "/simulate", `{"scenario":"exact"}`},
			"/v1/sandbox/advance":                       {"", `{"reference":"order-1","seconds":5}`},
			"/v1/sandbox/mine":                          {"", `{"payment_method":"crypto_dogecoin","blocks":1}`},
			"/v1/sends":                                 {"", payoutBody},
			"/v1/sends/{id}/cancel":                     {"/v1/sends/" + b.payout(false) + "/cancel", ""},
			"/v1/sandbox/sends/{id}/approve":            {"/v1/sandbox/sends/" + b.payout(false) + "/approve", ""},
			"/v1/sandbox/sends/{id}/simulate":           {"/v1/sandbox/sends/" + b.payout(true) + "/simulate", `{"scenario":"exact"}`},
		}
		b.addDecisions(posts)
		var document struct{ Paths map[string]map[string]any }
		b.must(json.Unmarshal(b.document().JSON, &document))
		for path, operations := range document.Paths {
			if operations["post"] == nil {
				continue
			}
			post, known := posts[path]
			if !known {
				b.Errorf("%s is not tried", path)
				continue
			}
			at := post[0]
			if at == "" {
				at = path
			}
			first, again := b.call("POST", at, post[1], "Idempotency-Key", path), b.call("POST", at, post[1], "Idempotency-Key", path)
			if first.Status >= 300 || first.Header.Get("Idempotency-Replayed") != "" || again.Header.Get("Idempotency-Replayed") != "true" || again.Raw != first.Raw {
				b.Errorf("%s: %s then %s", path, first.Raw, again.Raw)
			}
		}
		var row models.Payment
		b.must(b.db.Read(b.Context()).Where("reference = ?", s.Reference).Take(&row).Error)
		if row.Advanced != 5 {
			b.Errorf("the clock moved by %d s, not once by 5", row.Advanced)
		}
	})
}
