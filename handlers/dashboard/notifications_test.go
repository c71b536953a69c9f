package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// note writes a notification about a subject.
func note(s *servertest.Server, sc scope.Scope, kind notification.Kind, subject string) {
	s.T.Helper()
	s.FailOn(s.DB.Write(s.T.Context(), func(tx *models.Tx) error {
		return notification.Note(tx, notification.Fact{BusinessID: sc.BusinessID, Domain: sc.Domain, Kind: kind, Subject: subject,
			Detail: notification.Detail{Amount: "0.5 BTC", Value: "₦" + subject, Name: "Name " + subject}, At: s.Clock.Now()})
	}))
}

// unread is the number at the bell of a page; "" for none.
func unread(t *testing.T, b *servertest.Browser) string {
	t.Helper()
	body := b.Get("/dashboard/account").Body
	_, rest, found := strings.Cut(body, `class="bell-count num" aria-hidden="true">`)
	if !found {
		return ""
	}
	text, _, _ := strings.Cut(rest, "<")
	return strings.TrimSpace(text)
}

// TestNotificationsPage: the bell counts what the member has not read, the page lists it by pages, each leads to its
// record, and one or all are marked as read for that member alone.
func TestNotificationsPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		hire(t, s, sc, "finance@till.example", scope.Finance)
		b, other := s.SignIn(ama), s.SignIn("finance@till.example")
		expect(t, b.Get("/dashboard/notifications"), 200, "No notifications yet")
		s.Clock.Advance(time.Minute)
		for n := range 27 {
			note(s, sc, notification.Paid, fmt.Sprintf("PAY_%02d", n))
		}
		note(s, sc, notification.Declined, "PAY_DECLINED")
		if got := unread(t, b); got != "28" {
			t.Errorf("the bell says %q, want 28", got)
		}
		first := b.Get("/dashboard/notifications")
		expect(t, first, 200, "Payment of ₦PAY_DECLINED declined", "Payment of ₦PAY_26 received", "before=")
		if strings.Contains(first.Body, "₦PAY_02 ") {
			t.Error("the first page lists more than 25 notifications")
		}
		_, before, _ := strings.Cut(first.Body, "before=")
		before, _, _ = strings.Cut(before, `"`)
		expect(t, b.Get("/dashboard/notifications?before="+before), 200, "Payment of ₦PAY_02 received", "Payment of ₦PAY_00 received")
		var row models.Notification
		s.FailOn(s.DB.Read(t.Context()).Where("subject = ?", "PAY_DECLINED").Take(&row).Error)
		at := fmt.Sprintf("/dashboard/notifications/%d", row.ID)
		for name, value := range map[string]string{"Sec-Purpose": "prefetch;prerender", "Purpose": "prefetch",
			"X-Moz": "prefetch"} {
			r := httptest.NewRequest(http.MethodGet, at, nil)
			r.Header.Set(name, value)
			leads(t, b.SendRequest(r), "/dashboard/payments/PAY_DECLINED")
		}
		b.Head(at)
		if got := unread(t, b); got != "28" {
			t.Errorf("after a browser loaded one beforehand the bell says %q, want 28", got)
		}
		leads(t, b.Get(at), "/dashboard/payments/PAY_DECLINED")
		if got := unread(t, b); got != "27" {
			t.Errorf("after one was opened the bell says %q, want 27", got)
		}
		leads(t, b.PostFrom("/dashboard/notifications", fmt.Sprintf("/dashboard/notifications/%d/read", row.ID-1), nil), "/dashboard/notifications")
		if got := unread(t, b); got != "26" {
			t.Errorf("after another was marked the bell says %q, want 26", got)
		}
		note(s, sc, notification.Paid, "PAY_NEWER")
		leads(t, b.PostFrom("/dashboard/notifications", "/dashboard/notifications/read", url.Values{"to": {fmt.Sprint(row.ID)}}), "/dashboard/notifications")
		if got := unread(t, b); got != "1" {
			t.Errorf("after all that the page showed were marked the bell says %q, want 1: the newer one", got)
		}
		if got := unread(t, other); got != "29" {
			t.Errorf("the bell of another member says %q, want 29", got)
		}
		for n := range 100 {
			note(s, sc, notification.Paid, fmt.Sprintf("PAY_1%02d", n))
		}
		if got := unread(t, b); got != "99+" {
			t.Errorf("with 101 unread the bell says %q, want 99+", got)
		}
	})
}

// TestNotificationsAreOfTheirReaders (AP-1, AP-2): a member sees the kinds that their role may see in the domain, of
// their business, and nothing of before they came.
func TestNotificationsAreOfTheirReaders(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc, theirs := s.CreateBusiness("Ama's Shop", ama), s.CreateBusiness("Bayo's Shop", bayo)
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			sc.Domain = domain
			for _, kind := range notification.Kinds() {
				note(s, sc, kind, strings.ToUpper(string(kind)+"_IN_"+string(domain)))
			}
		}
		seen := map[scope.Role]string{scope.Owner: "paid declined unmatched refund_claimed endpoint_failing coin_unavailable",
			scope.Admin:     "paid declined unmatched refund_claimed endpoint_failing coin_unavailable",
			scope.Finance:   "paid declined unmatched refund_claimed coin_unavailable",
			scope.Developer: "endpoint_failing coin_unavailable"}
		b := s.SignIn(ama)
		for _, role := range roles[:4] { // the till role has no notifications
			s.SetRole(sc, role)
			for _, domain := range []scope.Domain{scope.Test, scope.Live} {
				asking(t, b, domain)
				want := strings.Fields(seen[role])
				if role == scope.Developer && domain == scope.Test {
					want = strings.Fields(seen[scope.Owner])
				}
				if got := unread(t, b); got != fmt.Sprint(len(want)) {
					t.Errorf("%s in %s: the bell says %q, want %d", role, domain, got, len(want))
				}
				var rows []models.Notification
				s.FailOn(s.DB.Read(t.Context()).Find(&rows).Error)
				for _, row := range rows {
					status := 404
					if row.Domain == string(domain) && strings.Contains(" "+strings.Join(want, " ")+" ", " "+row.Kind+" ") {
						status = 303
					}
					if got := b.Head(fmt.Sprintf("/dashboard/notifications/%d", row.ID)).Status; got != status {
						t.Errorf("%s in %s: %s in %s answers %d, want %d", role, domain, row.Kind, row.Domain, got, status)
					}
				}
				s.FailOn(s.DB.Exec(t.Context()).Where("1 = 1").Delete(&models.NotificationRead{}).Error)
			}
		}
		stranger := s.SignIn(bayo)
		asking(t, stranger, scope.Live)
		expect(t, stranger.Get("/dashboard/notifications"), 200, "No notifications yet")
		var one models.Notification
		s.FailOn(s.DB.Read(t.Context()).Take(&one).Error)
		expect(t, stranger.Get(fmt.Sprintf("/dashboard/notifications/%d", one.ID)), 404)
		s.SetRole(sc, scope.Owner)
		s.Clock.Advance(time.Hour)
		hire(t, s, sc, "late@till.example", scope.Admin)
		if got := unread(t, s.SignIn("late@till.example")); got != "" {
			t.Errorf("the bell of a member who came later says %q, want nothing", got)
		}
		_ = theirs
	})
}

// TestNotificationChoices: each member chooses by kind and domain how they are mailed, and only for kinds that they may see.
func TestNotificationChoices(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const path = "/dashboard/notifications/settings"
		chosen := func(kind, mode string) string {
			return fmt.Sprintf(`id="f-%s" name="%s"`, kind, kind) + "…" + `<option value="` + mode + `" selected>`
		}
		shows := func(b *servertest.Browser, kind, mode string) bool {
			begin, end, _ := strings.Cut(chosen(kind, mode), "…")
			_, rest, found := strings.Cut(b.Get(path).Body, begin)
			rest, _, _ = strings.Cut(rest, "</select>")
			return found && strings.Contains(rest, end)
		}
		for kind, mode := range map[string]string{"paid": "off", "declined": "instant", "unmatched": "instant", "refund_claimed": "off",
			"endpoint_failing": "instant", "coin_unavailable": "instant"} {
			if !shows(b, kind, mode) {
				t.Errorf("%s isn't %s at first", kind, mode)
			}
		}
		form := url.Values{"paid": {"daily"}, "declined": {"off"}, "unmatched": {"instant"}, "refund_claimed": {"daily"}, "endpoint_failing": {"off"},
			"coin_unavailable": {"daily"}}
		leads(t, b.PostFrom(path, path, form), path)
		for kind, modes := range form {
			if !shows(b, kind, modes[0]) {
				t.Errorf("%s isn't %s after it was chosen", kind, modes[0])
			}
		}
		asking(t, b, scope.Live)
		if !shows(b, "paid", "off") {
			t.Error("a choice of the test domain counts in live")
		}
		form.Set("declined", "always")
		expect(t, b.PostFrom(path, path, form), 422, "Choose one of those that are offered.")
		s.SetRole(sc, scope.Developer)
		if body := b.Get(path).Body; strings.Contains(body, `name="paid"`) || !strings.Contains(body, `name="endpoint_failing"`) {
			t.Error("a developer is offered mails about live payments, or none about webhooks")
		}
	})
}
