package webhook_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
)

// TestURLProblemIsNamed (WH-13): a URL that is refused is refused for what is wrong with it.
func TestURLProblemIsNamed(t *testing.T) {
	t.Parallel()
	const full, scheme = "full URL with a host", "Must begin with https:// or http://."
	long := func(n int) string {
		return "https://shop.example/" + strings.Repeat("x", n-len("https://shop.example/"))
	}
	host := func(n int) string { // of so many characters
		return "https://" + strings.Repeat("x.", (n-1)/2) + strings.Repeat("y", 2-n%2) + "/"
	}
	for address, want := range map[string]struct{ live, test string }{
		"":               {"Is required.", "Is required."},
		long(2048):       {},
		long(2049):       {"at most 2048 characters", "at most 2048 characters"},
		"https:opaque":   {full, full},
		"https:///hook":  {full, full},
		"https://:8443/": {full, full},
		"shop.example":   {full, full},
		"http://a.de/":   {"Must begin with https:// in the live domain.", ""},
		"ftp://a.de/":    {"Must begin with https:// in the live domain.", scheme},
		host(253):        {},
		host(254):        {"at most 253 characters", "at most 253 characters"},
		// The last label is a number only when all of it is.
		"https://shop.de/":     {},
		"https://shop.cafe/":   {},
		"https://shop.0xyz/":   {},
		"https://shop.0x/":     {"four decimal numbers", "four decimal numbers"},
		"https://shop.0xcafe/": {"four decimal numbers", "four decimal numbers"},
	} {
		for domain, sentence := range map[scope.Domain]string{scope.Live: want.live, scope.Test: want.test} {
			got := webhook.Create{Name: "orders", URL: address}.Check(domain)["url"]
			if sentence == "" && len(got) != 0 || sentence != "" && (len(got) != 1 || !strings.Contains(got[0].String(), sentence)) {
				t.Errorf("%.80q in %s is refused with %q, want %q", address, domain, got, sentence)
			}
		}
	}
}

// TestUnknownTypesAreNamed: of the types of events that are unknown the first five are named.
func TestUnknownTypesAreNamed(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 1: 1, 5: 5, 6: 5, 1000: 5} {
		types := []string{webhook.PaymentSuccessful}
		for i := range n {
			types = append(types, fmt.Sprint("unknown.", i))
		}
		got := webhook.Create{Name: "orders", URL: "https://shop.example/", Types: types}.Check(scope.Test)["events"]
		if len(got) != want || want > 0 && !strings.Contains(got[0].String(), "unknown.0") {
			t.Errorf("%d unknown types are refused with %q, want %d sentences that begin with the first", n, got, want)
		}
	}
}

// TestMaskWithoutValueIsRefused: a header's mask keeps a value only where there is one.
func TestMaskWithoutValueIsRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		masked := []webhook.Header{{Name: "X-Key", Value: webhook.Mask}}
		c := webhook.Create{Name: "orders", URL: "https://shop.example/", Headers: masked}
		if _, _, err := b.Create(t.Context(), owner, c); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Create = %v, want Invalid", err)
		}
		if list, _, err := b.List(t.Context(), owner, "", 0); err != nil || len(list) != 0 {
			t.Errorf("stored are %+v, %v, want none", list, err)
		}
		e, _ := b.create(owner, "https://shop.example/")
		_, err := b.Update(t.Context(), owner, e.ID, webhook.Change{Headers: &masked})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("Update = %v, want Invalid", err)
		}
	})
}

// TestMalformedIDIsUnknown: what can't be an id is unknown before the database is asked;
// one that can be is looked up.
func TestMalformedIDIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ended, end := context.WithCancel(t.Context())
		end()
		for _, id := range []string{"", "whk_\x00", "x' OR 1=1 --", strings.Repeat("x", 65)} {
			if _, err := b.Find(ended, owner, id); fault.KindOf(err) != fault.NotFound {
				t.Errorf("Find(%q) = %v, want NotFound", id, err)
			}
		}
		if _, err := b.Find(ended, owner, strings.Repeat("x", 64)); err == nil || fault.KindOf(err) == fault.NotFound {
			t.Errorf("Find of an id, without time for it = %v, want another error", err)
		}
	})
}

// TestListLimit: a page has 1 to 100 endpoints.
func TestListLimit(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		for limit, ok := range map[int]bool{-1: false, 1: true, 100: true, 101: false} {
			_, _, err := b.List(t.Context(), owner, "", limit)
			if (err == nil) != ok || !ok && fault.KindOf(err) != fault.Invalid {
				t.Errorf("List with limit %d = %v, want it accepted: %v", limit, err, ok)
			}
		}
	})
}

// TestStatusFollowsActive: the interface names an endpoint active or inactive.
func TestStatusFollowsActive(t *testing.T) {
	t.Parallel()
	got := []string{webhook.Endpoint{Active: true}.Status(), webhook.Endpoint{}.Status()}
	if want := []string{"active", "inactive"}; !slices.Equal(got, want) {
		t.Errorf("endpoints that are on and off have the status %q, want %q", got, want)
	}
}
