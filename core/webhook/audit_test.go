package webhook_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/webhook"
	"cointill/models"
)

// TestAuditNamesWhatChanged: an entry holds the fields that a change gives, as they were
// and as they are, and names of headers; a form that is sent again makes no entry.
func TestAuditNamesWhatChanged(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/")
		name, url, off, types := "invoices", "https://other.example/", false, []string{webhook.PaymentExpired}
		headers := []webhook.Header{{Name: "X-Key", Value: "hidden"}}
		for _, c := range []struct {
			name   string
			change webhook.Change
			want   string // "" for no entry
		}{
			{"nothing", webhook.Change{}, ""},
			{"its name", webhook.Change{Name: &name}, `{"after":{"type":"invoices"},"before":{"type":"orders"}}`},
			{"the same name", webhook.Change{Name: &name}, ""},
			{"its URL", webhook.Change{URL: &url},
				`{"after":{"url":"https://other.example/"},"before":{"url":"https://shop.example/"}}`},
			{"whether it is active", webhook.Change{Active: &off}, `{"after":{"active":false},"before":{"active":true}}`},
			{"its types", webhook.Change{Types: &types}, `{"after":{"events":["payment.expired"]},"before":{"events":null}}`},
			{"its headers", webhook.Change{Headers: &headers}, `{"after":{"headers":["X-Key"]},"before":{"headers":[]}}`},
			{"a header's value, which is not shown", webhook.Change{Headers: &headers},
				`{"after":{"headers":["X-Key"]},"before":{"headers":["X-Key"]}}`},
			{"the same form", webhook.Change{Name: &name, URL: &url, Active: &off, Types: &types}, ""},
		} {
			b.clock.Advance(time.Minute)
			var last int64
			b.must(b.DB.Read(t.Context()).Model(&models.Audit{}).Select("coalesce(max(id), 0)").Scan(&last).Error)
			_, err := b.Update(t.Context(), owner, e.ID, c.change)
			b.must(err)
			var rows []models.Audit
			b.must(b.DB.Read(t.Context()).Where("id > ?", last).Find(&rows).Error)
			got := ""
			for _, row := range rows {
				got += row.Detail
			}
			if got != c.want {
				t.Errorf("changing %s notes %s, want %s", c.name, got, c.want)
			}
		}
	})
}

// TestEmptyChangeChangesNothing: a change without a field leaves the time of the last change.
func TestEmptyChangeChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/")
		before := b.rowsOf(e.ID)
		b.clock.Advance(time.Hour)
		_, err := b.Update(t.Context(), owner, e.ID, webhook.Change{})
		b.must(err)
		if after := b.rowsOf(e.ID); after != before {
			t.Errorf("an empty change makes of the rows\n%s\nwant\n%s", after, before)
		}
	})
}

// TestAudit: who changed what of a webhook can be read afterwards, without what is secret.
func TestAudit(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/hook")
		url, headers := "https://other.example/hook", []webhook.Header{{Name: "X-Key", Value: "hidden"}}
		if _, err := b.Update(t.Context(), owner, e.ID, webhook.Change{URL: &url, Headers: &headers}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.RotateSecret(t.Context(), owner, e.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.Delete(t.Context(), owner, e.ID); err != nil {
			t.Fatal(err)
		}
		var rows []models.Audit
		if err := b.DB.Read(t.Context()).Where("subject = ?", e.ID).Order("id").Find(&rows).Error; err != nil || len(rows) != 4 {
			t.Fatalf("rows = %v, err = %v", rows, err)
		}
		for i, want := range []string{"webhook.created", "webhook.changed", "webhook.secret_rotated", "webhook.deleted"} {
			if rows[i].Action != want || rows[i].Actor != owner.Actor || strings.Contains(rows[i].Detail, "hidden") {
				t.Errorf("%+v", rows[i])
			}
		}
		if !strings.Contains(rows[1].Detail, "other.example") || !strings.Contains(rows[1].Detail, "X-Key") {
			t.Errorf("%+v", rows[1])
		}
	})
}
