package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cointill/models"
)

// placeholder is what stands for a name in a path of the document.
var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// TestEveryOperationOfStrangers (AP-1, AP-2, AP-3) asks for every operation of the
// document, about things of one business: without a key, with one that nobody has,
// with the key of another business and with its own of the other domain. Nobody
// finds any of it or changes anything, and what isn't theirs looks as if it weren't.
func TestEveryOperationOfStrangers(t *testing.T) {
	each(t, func(b *bench) {
		own := b.belongings()
		_, other, otherLive := b.merchant("Abena Fabrics", "abena@fabrics.example")
		strangers := map[string]string{"nobody": "", "an unknown key": "sk_test_" + strings.Repeat("A", 38), "another business": other,
			"another business in live": otherLive, "its own in live": b.liveKey}
		before := b.traces()
		asked := 0
		for path, operations := range b.paths() {
			if path == "/v1/openapi.json" { // for everybody
				continue
			}
			for method := range operations {
				method = strings.ToUpper(method)
				at, named := own.fill(path)
				for who, key := range strangers {
					a := b.callAs(key, method, at, own.bodies[method+" "+path])
					asked++
					switch {
					case key == "" || who == "an unknown key":
						if a.Status != http.StatusUnauthorized {
							b.Errorf("%s %s by %s answers %d", method, path, who, a.Status)
						}
					case named && a.Status != http.StatusNotFound:
						b.Errorf("%s %s by %s answers %d: %s", method, path, who, a.Status, a.Raw)
					case slices.ContainsFunc(own.names, func(name string) bool { return strings.Contains(a.Raw, name) }):
						b.Errorf("%s %s by %s tells of what isn't theirs: %s", method, path, who, a.Raw)
					}
				}
			}
		}
		if after := b.traces(); after != before || asked < 100 {
			b.Errorf("%d questions changed %s to %s", asked, before, after)
		}
	})
}

// belongings are things of the bench's business, by the place of their names in paths.
type belongings struct {
	places map[string]string // by the path's beginning
	names  []string
	bodies map[string]string // what operations take that would do something
}

func (b *bench) belongings() belongings {
	b.Helper()
	s, h := b.initiate("business_reference", `"order-1"`), b.hook("https://shop.example/hook")
	var link, order struct {
		ID string `json:"id"`
	}
	b.into(b.expect(b.call("POST", "/v1/payment-links", `{"title":"Class","currency":"USD"}`), 201, ""), &link)
	var sent struct {
		EventID string `json:"event_id"`
	}
	b.into(b.expect(b.call("POST", "/v1/webhooks/"+h.ID+"/test", ""), 200, ""), &sent)
	b.into(b.expect(b.call("POST", "/v1/events/resend", `{"created_after":"2026-03-01T00:00:00Z"}`), 201, ""), &order)
	return belongings{
		places: map[string]string{"/v1/payment/": s.Reference, "/v1/payments/": s.Reference, "/v1/sandbox/payments/": s.Reference, "/v1/payment-links/": link.ID,
			"/v1/webhooks/": h.ID, "/v1/events/": sent.EventID, "/v1/resends/": order.ID},
		names: []string{s.Reference, s.AccessToken, link.ID, h.ID, h.Secret, sent.EventID, order.ID, "order-1", "shop.example", "ada@example.com"},
		bodies: map[string]string{
			"POST /v1/sandbox/payments/{reference}/simulate": `{"scenario":"exact"}`,
			"POST /v1/sandbox/advance":                       fmt.Sprintf(`{"reference":%q,"seconds":5}`, s.Reference),
			"POST /v1/webhooks/{id}/resend":                  `{"created_after":"2026-03-01T00:00:00Z"}`,
			"PATCH /v1/webhooks/{id}":                        `{"active":false}`,
			"PATCH /v1/payment-links/{id}":                   `{"title":"Taken"}`,
		},
	}
}

// fill writes a path with names, the second of which is an event's.
func (o belongings) fill(path string) (at string, named bool) {
	for beginning, name := range o.places {
		if strings.HasPrefix(path, beginning) && strings.Contains(path, "{") {
			at = strings.Replace(path, placeholder.FindString(path), name, 1)
			return placeholder.ReplaceAllString(at, o.places["/v1/events/"]), true
		}
	}
	return path, false
}

// paths are the document's operations, by path and method.
func (b *bench) paths() map[string]map[string]any {
	b.Helper()
	var document struct{ Paths map[string]map[string]any }
	b.must(json.Unmarshal(b.document.JSON, &document))
	return document.Paths
}

// traces is what would be different if one of the business's things had changed.
func (b *bench) traces() string {
	b.Helper()
	counts := map[string]int64{}
	for name, model := range map[string]any{"payments": &models.Payment{}, "links": &models.Link{}, "endpoints": &models.Endpoint{},
		"events": &models.Event{}, "deliveries": &models.Delivery{}, "audits": &models.Audit{}} {
		var n int64
		b.must(b.db.Read(b.Context()).Model(model).Where("business_id = ?", b.business.ID).Count(&n).Error)
		counts[name] = n
	}
	var p models.Payment
	b.must(b.db.Read(b.Context()).Where("business_id = ?", b.business.ID).Take(&p).Error)
	var e models.Endpoint
	b.must(b.db.Read(b.Context()).Where("business_id = ?", b.business.ID).Take(&e).Error)
	return fmt.Sprint(counts, p.Status, p.Advanced, e.Active, e.URL)
}
