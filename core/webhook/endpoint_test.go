package webhook_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// TestURLRules (WH-13) enters addresses of every form: what a delivery can't or mustn't
// go to is refused, at its field, and not stored.
func TestURLRules(t *testing.T) {
	live := scope.Scope{BusinessID: 1, Domain: scope.Live, Role: scope.Owner}
	good := []string{"https://example.com", "https://example.com/hook?a=b&c", "https://example.com:443/", "https://example.com:8443/x",
		"https://münchen.example/ö", "https://[2606:4700::1111]/", "https://example.com:80/", "https://example.com:1024", "https://example.com:65535"}
	testOnly := []string{"http://example.com", "http://127.0.0.1:9999/hook", "HTTP://example.com:80"}
	bad := []string{"", " ", "example.com", "/hook", "https://", "https:///hook", "https:example.com", "ftp://example.com", "file:///etc/passwd",
		"javascript:alert(1)", "https://user@example.com", "https://user:pw@example.com", "https://@example.com", "https://example.com/#top",
		"https://example.com#", "https://example.com:22", "https://example.com:25/", "https://example.com:0", "https://example.com:1023",
		"https://example.com:65536", "https://example.com:99999999999", "https://example.com:x", "https://exa mple.com", "https://example.com/a b",
		"https://example.com/\r\nX-Evil: 1", "https://example.com/\t", "https://example.com/\x00", "https://example.com/\u202e",
		"https://example.com/\u200b", "https://example.com\n", " https://example.com", "https://%zz", "https://example.com/\xff",
		"https://example.com/" + strings.Repeat("x", 2048), "https://[::1", "//example.com", "https://.example/", "https://shop..example/",
		"https://" + strings.Repeat("x.", 125) + "example/"}
	for _, port := range []int{25, 110, 143, 465, 587, 993, // mail, which is below 1024, and what listens above: databases, caches, queues, nodes
		1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 5060, 5061, 5432, 5672, 5900, 5984, 6000, 6379, 6665, 6666, 6667, 6668, 6669,
		6697, 8332, 8333, 9042, 9092, 9200, 9300, 10250, 11211, 18332, 27017} {
		bad = append(bad, fmt.Sprintf("https://shop.example:%d/", port))
	}
	each(t, func(t *testing.T, b *bundle) {
		try := func(sc scope.Scope, url string) error {
			e, _, err := b.Create(t.Context(), sc, webhook.Create{Name: "orders", URL: url})
			if err == nil {
				if e.URL != url || e.Active {
					t.Errorf("%q became %+v", url, e)
				}
				err = b.Delete(t.Context(), sc, e.ID)
			}
			return err
		}
		for _, url := range good {
			if err := errors.Join(try(owner, url), try(live, url)); err != nil {
				t.Errorf("%q: %v", url, err)
			}
		}
		for _, url := range testOnly {
			if err := try(owner, url); err != nil {
				t.Errorf("%q in test: %v", url, err)
			}
			if fault.KindOf(try(live, url)) != fault.Invalid {
				t.Errorf("%q is accepted in live", url)
			}
		}
		for _, url := range bad {
			for _, sc := range []scope.Scope{owner, live} {
				var f *fault.Fault
				if err := try(sc, url); !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields["url"]) != 1 || len(f.Fields) != 1 {
					t.Errorf("%q in %s: %v", url, sc.Domain, err)
				}
			}
		}
		var f *fault.Fault
		_, _, err := b.Create(t.Context(), owner, webhook.Create{Name: "a\u202eb", URL: "nothing"})
		if !errors.As(err, &f) || len(f.Fields["type"]) != 1 || len(f.Fields["url"]) != 1 {
			t.Errorf("not all fields at once: %v", err)
		}
		for _, name := range []string{"", "  ", strings.Repeat("x", 101), "a\nb", "a\x00b", "\xff"} {
			if _, _, err := b.Create(t.Context(), owner, webhook.Create{Name: name, URL: good[0]}); fault.KindOf(err) != fault.Invalid {
				t.Errorf("name %q is accepted", name)
			}
		}
		if list, _, _ := b.List(t.Context(), owner, "", 0); len(list) != 0 {
			t.Errorf("%d refused endpoints were stored", len(list))
		}
	})
}

// TestPages reads the list three at a time, as many share one moment of creation.
func TestPages(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		var made []string
		for i := range 10 {
			if i%4 == 3 {
				b.clock.Advance(time.Second)
			}
			e, _ := b.create(owner, "https://example.com/")
			made = append(made, e.ID)
		}
		var seen []string
		pages := 0
		for cursor := ""; ; pages++ {
			list, next, err := b.List(t.Context(), owner, cursor, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				seen = append(seen, e.ID)
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		slices.Sort(made)
		slices.Sort(seen)
		if pages != 3 || !slices.Equal(made, seen) {
			t.Errorf("%d pages gave %d of %d", pages+1, len(seen), len(made))
		}
		for i := range 7 {
			b.emit(owner, i+1)
		}
		var sequences []int
		for cursor := ""; ; {
			list, next, err := b.Events(t.Context(), owner, webhook.Filter{Type: webhook.PaymentSuccessful}, cursor, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				sequences = append(sequences, e.Sequence)
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		if !slices.Equal(sequences, []int{7, 6, 5, 4, 3, 2, 1}) { // all of one moment
			t.Errorf("sequences = %v", sequences)
		}
		for _, bad := range []string{"x", "!!", "MSAn", "MSAwICc", strings.Repeat("A", 500), "LTEgMCBh", "MSAtMSBh"} {
			if _, _, err := b.List(t.Context(), owner, bad, 3); fault.KindOf(err) != fault.Invalid {
				t.Errorf("cursor %q: %v", bad, err)
			}
		}
		for _, limit := range []int{-1, 101} {
			if _, _, err := b.Events(t.Context(), owner, webhook.Filter{}, "", limit); fault.KindOf(err) != fault.Invalid {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
	})
}

func TestFifty(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		for range webhook.MaxEndpoints {
			b.create(owner, "https://example.com/")
		}
		_, _, err := b.Create(t.Context(), owner, webhook.Create{Name: "one more", URL: "https://example.com/"})
		if fault.KindOf(err) != fault.Conflict {
			t.Error(err)
		}
		live := owner
		live.Domain = scope.Live
		b.create(live, "https://example.com/")
	})
}

// TestUpdate changes only what is named, and keeps false as false.
func TestUpdate(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		e, plain := b.create(owner, "https://example.com/")
		if !strings.HasPrefix(plain, "whsec_") || len(plain) != len("whsec_")+44 {
			t.Error("secret", plain)
		}
		var row models.Endpoint
		if err := b.DB.Read(ctx).Where("id = ?", e.ID).Take(&row).Error; err != nil || strings.Contains(string(row.Secret), plain[6:]) {
			t.Error("the secret stands readable in the database", err)
		}
		b.clock.Advance(time.Minute)
		off, name := false, "invoices"
		got, err := b.Update(ctx, owner, e.ID, webhook.Change{Name: &name, Active: &off})
		if err != nil || got.Name != name || got.Active || got.URL != e.URL || !got.UpdatedAt.Equal(b.clock.Now()) || !got.CreatedAt.Equal(e.CreatedAt) {
			t.Errorf("%+v %v", got, err)
		}
		url := "https://user@example.com"
		if _, err := b.Update(ctx, owner, e.ID, webhook.Change{URL: &url}); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		if again, _ := b.Find(ctx, owner, e.ID); again.URL != e.URL {
			t.Error("a refused change was stored")
		}
		for _, id := range []string{"", "x' OR 1=1 --", "whk_\x00", strings.Repeat("x", 500)} {
			if _, err := b.Find(ctx, owner, id); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}

func TestEmitRefuses(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		for i, e := range []webhook.Event{
			{BusinessID: 1, Domain: scope.Test, Type: "payment.paid"},
			{BusinessID: 1, Domain: "both", Type: webhook.PaymentExpired},
			{Domain: scope.Test, Type: webhook.PaymentExpired},
			{BusinessID: 1, Domain: scope.Test, Type: webhook.PaymentExpired, Data: func() {}},
		} {
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Emit(tx, e) }); err == nil {
				t.Error(fmt.Sprint("event ", i, " was accepted"))
			}
		}
	})
}
