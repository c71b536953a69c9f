package delivery_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/models"
)

// strangers are another business and the other domain of the same one.
var strangers = []scope.Scope{
	{BusinessID: 2, Domain: scope.Test, Actor: "user:2", Role: scope.Owner}, {BusinessID: 1, Domain: scope.Live, Actor: "user:1", Role: scope.Owner},
}

// TestAttemptsOfOthersAreUnknown: attempts are told of deliveries of the scope alone,
// whatever deliveries are asked for.
func TestAttemptsOfOthersAreUnknown(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		got, own := shop.requests()[0], []delivery.Delivery{b.only(e.ID)}
		// The timestamp is another than the attempt's, which is recalled to say so.
		pasted := diagnose.Pasted{ID: got.header.Get("webhook-id"), Timestamp: fmt.Sprint(b.clock.Now().Unix() + 1),
			Signature: got.header.Get("webhook-signature"), Body: got.body}
		check := func(sc scope.Scope, found int, reason string) {
			t.Helper()
			if last, err := b.deliveries.LastAttempts(ctx, sc, own); err != nil || len(last) != found {
				t.Errorf("%+v sees %+v %v", sc, last, err)
			}
			if v, err := b.signatures.ExplainSignature(ctx, owner, e.ID, pasted); err != nil || v.Reason != reason {
				t.Errorf("%+v %v, want %s", v, err, reason)
			}
		}
		check(owner, 1, diagnose.TimestampChanged)
		for _, sc := range strangers {
			check(sc, 0, diagnose.TimestampChanged)
		}
		for _, sc := range strangers { // the row itself is theirs
			set := map[string]any{"business_id": sc.BusinessID, "domain": string(sc.Domain)}
			b.must(b.DB.Exec(ctx).Model(&models.Delivery{}).Where("endpoint_id = ?", e.ID).Updates(set).Error)
			check(owner, 0, diagnose.UnknownSignature)
		}
	})
}

// TestOthersAddNothing: endpoints, events and orders of another business or domain
// count nowhere in what one is told of one's own.
func TestOthersAddNothing(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		e, _ := b.create(owner, "https://example.com/")
		b.toggle(e.ID, false)
		b.clock.Advance(time.Minute)
		own := b.emit(1)
		for _, sc := range strangers {
			theirs, secret := b.create(sc, "https://example.com/")
			stamp := fmt.Sprint(b.clock.Now().Unix())
			p := diagnose.Pasted{ID: own, Timestamp: stamp, Signature: signed(secret, own+"."+stamp+".{}"), Body: "{}"}
			if v, err := b.signatures.ExplainSignature(ctx, owner, e.ID, p); err != nil || v.Reason != diagnose.UnknownSignature {
				t.Errorf("signed with a secret of %+v: %+v %v", sc, v, err)
			}
			b.must(b.DB.Write(ctx, func(tx *models.Tx) error {
				return b.Emit(tx, webhook.Event{BusinessID: sc.BusinessID, Domain: sc.Domain, Type: webhook.PaymentSuccessful, Data: "theirs"})
			}))
			for range delivery.MaxResends {
				_, err := b.resends.Create(ctx, sc, delivery.Order{From: start})
				b.must(err)
			}
			b.must(b.DB.Exec(ctx).Create(&models.EndpointPause{EndpointID: theirs.ID, Since: start}).Error)
		}
		list, err := b.deliveries.DeliveriesOfEvent(ctx, owner, own)
		if err != nil || len(list) != 1 || list[0].EndpointID != e.ID {
			t.Errorf("who missed it: %+v %v", list, err)
		}
		if m, err := b.deliveries.Missed(ctx, owner, e.ID); err != nil || m.Count != 1 {
			t.Errorf("%+v %v", m, err)
		}
		b.toggle(e.ID, true)
		if order, err := b.resends.Create(ctx, owner, delivery.Order{From: start}); err != nil || order.Total != 1 {
			t.Errorf("%+v %v", order, err)
		}
		b.must(b.Delete(ctx, owner, e.ID))
		var left int64
		b.must(b.DB.Read(ctx).Model(&models.EndpointPause{}).Where("endpoint_id = ?", e.ID).Count(&left).Error)
		if left != 0 {
			t.Errorf("%d pauses of an endpoint that is gone", left)
		}
	})
}

// mac signs a text with a key.
func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signed is the header over a content by a secret.
func signed(secret, text string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, text))
}
