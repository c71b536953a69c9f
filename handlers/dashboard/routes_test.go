package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/apilog"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/notification"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/settings"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// matrix is contract section 9 a second time, by address: who gets through to a
// handler, in the order owner, admin, finance, developer, till. ✓ in both domains, t
// in test only, – nowhere. Every address of the dashboard has a row; those of the
// rest of the server are in elsewhere.
const matrix = `
GET  /dashboard                                       ✓✓✓✓✓
POST /dashboard/domain                                ✓✓✓✓–
GET  /dashboard/live                                  ✓✓✓t–
POST /dashboard/steps                                 ✓✓✓t–
GET  /dashboard/notifications                         ✓✓✓✓–
POST /dashboard/notifications/read                    ✓✓✓✓–
GET  /dashboard/notifications/browsers                ✓✓✓✓–
POST /dashboard/notifications/browsers                ✓✓✓✓–
GET  /dashboard/notifications/browsers/key            ✓✓✓✓–
POST /dashboard/notifications/browsers/kinds          ✓✓✓✓–
POST /dashboard/notifications/browsers/:id            ✓✓✓✓–
POST /dashboard/notifications/browsers/:id/remove     ✓✓✓✓–
GET  /dashboard/notifications/settings                ✓✓✓✓–
POST /dashboard/notifications/settings                ✓✓✓✓–
GET  /dashboard/notifications/:id                     ✓✓✓✓–
POST /dashboard/notifications/:id/read                ✓✓✓✓–
GET  /dashboard/payments                              ✓✓✓t–
GET  /dashboard/payments/export                       ✓✓✓t–
GET  /dashboard/payments/resend                       ✓✓–t–
POST /dashboard/payments/resend                       ✓✓–t–
GET  /dashboard/payments/export.csv                   ✓✓✓t–
GET  /dashboard/payments/export.xlsx                  ✓✓✓t–
POST /dashboard/payments/views                        ✓✓✓t–
POST /dashboard/payments/views/:id/remove             ✓✓✓t–
GET  /dashboard/payments/:reference                   ✓✓✓t–
POST /dashboard/payments/:reference/simulate          tt–t–
POST /dashboard/payments/:reference/accept            ✓✓–––
POST /dashboard/payments/:reference/close             ✓✓–––
POST /dashboard/payments/:reference/notes             ✓✓✓t–
GET  /dashboard/payments/:reference/receipt           ✓✓✓t–
GET  /dashboard/payments/:reference/refund            ✓✓–––
POST /dashboard/payments/:reference/refund            ✓✓–––
GET  /dashboard/payments/:reference/refund/review     ✓✓–––
POST /dashboard/payments/:reference/refund/review     ✓✓–––
GET  /dashboard/sends                                 ✓✓✓t–
GET  /dashboard/sends/new                             ✓✓✓t–
POST /dashboard/sends                                 ✓✓✓t–
GET  /dashboard/sends/addresses                       ✓✓✓t–
POST /dashboard/sends/addresses                       ✓✓–––
POST /dashboard/sends/addresses/:id/remove            ✓✓–––
GET  /dashboard/sends/file                            ✓✓✓t–
POST /dashboard/sends/file                            ✓✓✓t–
GET  /dashboard/sends/rules                           ✓✓✓t–
POST /dashboard/sends/rules                           ✓✓–––
GET  /dashboard/sends/wallets                         ✓✓✓t–
POST /dashboard/sends/wallets                         ✓✓–––
POST /dashboard/sends/wallets/:id/remove              ✓✓–––
GET  /dashboard/sends/safe                            ✓✓–––
POST /dashboard/sends/safe                            ✓✓–––
POST /dashboard/sends/parts                           ✓✓–––
GET  /dashboard/sends/approve                         ✓✓–––
POST /dashboard/sends/approve                         ✓✓–––
GET  /dashboard/sends/together                        ✓✓–––
POST /dashboard/sends/together                        ✓✓–––
GET  /dashboard/sends/together/:id                    ✓✓–––
POST /dashboard/sends/together/:id                    ✓✓–––
POST /dashboard/sends/together/:id/check              ✓✓–––
GET  /dashboard/sends/:reference                      ✓✓✓t–
GET  /dashboard/sends/:reference/sign                 ✓✓–––
POST /dashboard/sends/:reference/sign                 ✓✓–––
POST /dashboard/sends/:reference/sign/check           ✓✓–––
POST /dashboard/sends/:reference/sign/sent            ✓✓–––
POST /dashboard/sends/:reference/transaction          ✓✓–––
POST /dashboard/sends/:reference/approve              ✓✓–––
POST /dashboard/sends/:reference/approve/simulate     tt–t–
POST /dashboard/sends/:reference/reject               ✓✓–––
POST /dashboard/sends/:reference/cancel               ✓✓✓t–
POST /dashboard/sends/:reference/retry                ✓✓–––
GET  /dashboard/sends/:reference/another-way          ✓✓–––
POST /dashboard/sends/:reference/another-way          ✓✓–––
POST /dashboard/sends/:reference/another-way/back     ✓✓–––
POST /dashboard/sends/:reference/simulate             tt–t–
GET  /dashboard/unmatched                             ✓✓✓t–
GET  /dashboard/unmatched/:id                         ✓✓✓t–
POST /dashboard/unmatched/:id/attach                  ✓✓–––
GET  /dashboard/unmatched/:id/attach/review           ✓✓✓t–
POST /dashboard/unmatched/:id/attach/review           ✓✓–––
POST /dashboard/unmatched/:id/refund                  ✓✓–––
POST /dashboard/unmatched/:id/refund/review           ✓✓–––
GET  /dashboard/customers                             ✓✓✓t–
GET  /dashboard/customers/:id                         ✓✓✓t–
GET  /dashboard/customers/:id/erase                   ✓––––
POST /dashboard/customers/:id/erase                   ✓––––
GET  /dashboard/methods                               ✓✓✓✓–
POST /dashboard/methods/:code                         ✓✓–––
POST /dashboard/methods/:code/networks/:network       ✓✓–––
POST /dashboard/methods/:code/networks/:network/preselect ✓✓–––
GET  /dashboard/methods/:code/wallet                  ✓✓✓✓–
POST /dashboard/methods/:code/wallet                  ✓––––
GET  /dashboard/methods/:code/wallet/sweep            ✓✓✓t–
GET  /dashboard/methods/:code/wallet/sweep.csv        ✓✓✓t–
GET  /dashboard/methods/:code/wallet/prove            ✓✓✓✓–
POST /dashboard/methods/:code/wallet/prove            ✓––––
GET  /dashboard/methods/:code/wallet/collect          ✓✓–––
POST /dashboard/methods/:code/wallet/collect          ✓✓–––
GET  /dashboard/methods/:code/wallet/review           ✓✓✓✓–
POST /dashboard/methods/:code/wallet/review           ✓––––
GET  /dashboard/going-live                            ✓✓✓✓–
GET  /dashboard/going-live/nodes                      ✓✓✓✓–
POST /dashboard/going-live/nodes                      ✓✓–––
GET  /dashboard/going-live/payment                    ✓✓✓✓–
POST /dashboard/going-live/payment                    ✓✓–t–
GET  /dashboard/rates                                 ✓✓✓✓–
GET  /dashboard/rates/:currency                       ✓✓✓✓–
POST /dashboard/rates/:currency                       ✓✓–––
GET  /dashboard/webhooks                              ✓✓–✓–
GET  /dashboard/webhooks/new                          ✓✓–t–
POST /dashboard/webhooks                              ✓✓–t–
GET  /dashboard/webhooks/check                        ✓✓–✓–
POST /dashboard/webhooks/check                        ✓✓–✓–
GET  /dashboard/webhooks/resends                      ✓✓–✓–
GET  /dashboard/webhooks/resends/review               ✓✓–t–
POST /dashboard/webhooks/resends                      ✓✓–t–
GET  /dashboard/webhooks/resends/:id                  ✓✓–✓–
GET  /dashboard/webhooks/:id                          ✓✓–✓–
GET  /dashboard/webhooks/:id/edit                     ✓✓–t–
GET  /dashboard/webhooks/:id/deliveries/:event        ✓✓–✓–
POST /dashboard/webhooks/:id/deliveries/:event/resend ✓✓–t–
POST /dashboard/webhooks/:id                          ✓✓–t–
POST /dashboard/webhooks/:id/toggle                   ✓✓–t–
POST /dashboard/webhooks/:id/delete                   ✓✓–t–
POST /dashboard/webhooks/:id/rotate                   ✓✓–t–
POST /dashboard/webhooks/:id/test                     ✓✓–t–
GET  /dashboard/links                                 ✓✓✓t–
GET  /dashboard/links/new                             ✓✓–t–
POST /dashboard/links                                 ✓✓–t–
GET  /dashboard/links/:id                             ✓✓✓t–
GET  /dashboard/links/:id/edit                        ✓✓–t–
POST /dashboard/links/:id                             ✓✓–t–
GET  /dashboard/links/:id/poster                      ✓✓✓t–
GET  /dashboard/links/:id/qr.png                      ✓✓✓t–
POST /dashboard/links/:id/toggle                      ✓✓–t–
GET  /dashboard/keys                                  ✓✓–t–
POST /dashboard/keys                                  ✓✓–t–
POST /dashboard/keys/:id/roll                         ✓✓–t–
POST /dashboard/keys/:id/revoke                       ✓✓–t–
GET  /dashboard/calls                                 ✓✓–t–
GET  /dashboard/calls/:id                             ✓✓–t–
GET  /dashboard/quickstart                            ✓✓–t–
POST /dashboard/quickstart                            ✓✓–t–
GET  /dashboard/mailbox                               ✓✓✓t–
GET  /dashboard/mailbox/:id                           ✓✓✓t–
POST /dashboard/mailbox/:id/resend                    ✓✓✓t–
GET  /dashboard/statements                            ✓✓✓––
POST /dashboard/statements/close                      ✓✓✓––
GET  /dashboard/journal                               ✓✓✓––
GET  /dashboard/journal.csv                           ✓✓✓––
GET  /dashboard/journal.xlsx                          ✓✓✓––
GET  /dashboard/statements.csv                        ✓✓✓––
GET  /dashboard/statements/bank.csv                   ✓✓✓––
GET  /dashboard/statements.xlsx                       ✓✓✓––
GET  /dashboard/journal.hledger                       ✓✓✓––
GET  /dashboard/account                               ✓✓✓✓–
POST /dashboard/account                               ✓✓✓✓–
POST /dashboard/account/business                      ✓✓✓✓–
POST /dashboard/account/language                      ✓✓✓✓–
GET  /dashboard/account/password                      ✓✓✓✓–
POST /dashboard/account/password                      ✓✓✓✓–
GET  /dashboard/account/email                         ✓✓✓✓–
POST /dashboard/account/email                         ✓✓✓✓–
GET  /dashboard/account/second-factor                 ✓✓✓✓–
POST /dashboard/account/second-factor                 ✓✓✓✓–
POST /dashboard/account/second-factor/confirm         ✓✓✓✓–
POST /dashboard/account/second-factor/change          ✓✓✓✓–
GET  /dashboard/account/passkeys                      ✓✓✓✓–
POST /dashboard/account/passkeys                      ✓✓✓✓–
POST /dashboard/account/passkeys/confirm              ✓✓✓✓–
GET  /dashboard/account/passkeys/:passkey             ✓✓✓✓–
POST /dashboard/account/passkeys/:passkey             ✓✓✓✓–
POST /dashboard/account/passkeys/:passkey/remove      ✓✓✓✓–
POST /dashboard/account/sessions/end                  ✓✓✓✓–
POST /dashboard/account/sessions/end-others           ✓✓✓✓–
GET  /dashboard/team                                  ✓✓–––
POST /dashboard/team/invitations                      ✓✓–––
POST /dashboard/team/invitations/:id/resend           ✓✓–––
POST /dashboard/team/invitations/:id/revoke           ✓✓–––
POST /dashboard/team/members/:id/role                 ✓✓–––
POST /dashboard/team/members/:id/remove               ✓✓–––
GET  /dashboard/settings                              ✓✓–––
POST /dashboard/settings/profile                      ✓✓–––
POST /dashboard/settings/logo                         ✓✓–––
POST /dashboard/settings/logo/remove                  ✓✓–––
POST /dashboard/settings/payments                     ✓✓–––
POST /dashboard/settings/confirmations                ✓✓–––
POST /dashboard/settings/mails                        ✓✓–––
GET  /dashboard/till                                  ✓✓––✓
POST /dashboard/till                                  ✓✓––✓
GET  /dashboard/till/leave                            ✓✓––✓
POST /dashboard/till/leave                            ✓✓––✓
GET  /dashboard/till/live                             ✓✓––✓
POST /dashboard/till/lock                             ✓✓––✓
GET  /dashboard/till/payments/:reference              ✓✓––✓
POST /dashboard/till/pin                              ✓––––
GET  /dashboard/till/settings                         ✓✓–––
GET  /dashboard/audit                                 ✓✓–––
GET  /dashboard/audit.csv                             ✓✓–––
GET  /dashboard/system                                ✓✓✓✓–
`

var roles = []scope.Role{scope.Owner, scope.Admin, scope.Finance, scope.Developer, scope.Till}

// row is an address with who gets through.
type row struct {
	method, path string
	may          []rune
}

func (r row) allows(role scope.Role, domain scope.Domain) bool {
	may := r.may[slices.Index(roles, role)]
	return may == '✓' || may == 't' && domain == scope.Test
}

// own reports whether the address names a thing that belongs to a business.
func (r row) own() bool {
	return strings.Contains(r.path, ":id") || strings.Contains(r.path, ":reference")
}

// ofDomain reports whether the address shows a thing that belongs to a domain.
func (r row) ofDomain() bool { return r.method == http.MethodGet && r.own() }

// live is a scope in the live domain; other is the domain that a domain isn't.
func live(sc scope.Scope) scope.Scope { sc.Domain = scope.Live; return sc }

func other(domain scope.Domain) scope.Domain {
	if domain == scope.Test {
		return scope.Live
	}
	return scope.Test
}

func rowsOf(t testing.TB) (list []row) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(matrix)) {
		parts := strings.Fields(line)
		if len(parts) != 3 || len([]rune(parts[2])) != len(roles) {
			t.Fatalf("%q is no row", line)
		}
		list = append(list, row{method: parts[0], path: parts[1], may: []rune(parts[2])})
	}
	return list
}

// TestEveryRouteHasARow (AP-1) holds the server's routes against the matrix, both ways.
func TestEveryRouteHasARow(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		want := map[string]bool{}
		for _, r := range rowsOf(t) {
			want[r.method+" "+r.path] = true
		}
		for _, r := range elsewhereOf(t) {
			want[r.method+" "+r.path] = true
		}
		for _, route := range s.App.GetRoutes(true) {
			at := route.Method + " " + route.Path
			if route.Method == http.MethodHead {
				continue // HEAD is GET
			}
			if !want[at] {
				t.Errorf("%s has no row: write down who may", at)
			}
			delete(want, at)
		}
		for at := range want {
			t.Errorf("there is no %s", at)
		}
	}, customerPages...)
}

// owned makes things of a business in a domain, and gives the addresses that name
// them, by their route.
func owned(t testing.TB, s *servertest.Server, sc scope.Scope) map[string]string {
	t.Helper()
	if sc.Domain == scope.Live { // a simulated chain stands in for a network
		s.Networks.Domains[scope.Live][money.Bitcoin] = chain.Sandbox(money.Bitcoin)
		switchOn(s, sc, money.CryptoBitcoin)
		say(s, "BTC/USD", "60000", "")
		say(s, "USD/NGN", "1500", "")
	}
	hook, _, err := s.Webhooks.Create(t.Context(), sc, webhook.Create{Name: "Hook", URL: "https://shop.example/hook", Active: true})
	s.FailOn(err)
	pages := things(t, s, sc)
	started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
	tips, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Tips", Currency: "USD"})
	s.FailOn(err)
	events, _, err := s.Webhooks.Events(t.Context(), sc, webhook.Filter{}, "", 1)
	s.FailOn(err)
	order, err := s.Resends.Create(t.Context(), sc, delivery.Order{From: s.Clock.Now().Add(-time.Hour)})
	s.FailOn(err)
	key, _, err := s.Keys.CreateKey(t.Context(), sc, "Server")
	s.FailOn(err)
	invitation, err := s.Accounts.Invite(t.Context(), sc, fmt.Sprintf("new@%s.example", sc.Domain), scope.Finance)
	s.FailOn(err)
	s.Calls.AddCall(apilog.Call{Scope: scope.Scope{BusinessID: sc.BusinessID, Domain: sc.Domain, Actor: fmt.Sprintf("key:%d", key.ID)}, Method: "GET", Path: "/v1/rates", Status: 200})
	s.FailOn(s.Calls.FlushQueue(t.Context()))
	logged, _, err := s.Calls.ListCalls(t.Context(), sc, apilog.Filter{Limit: 1})
	s.FailOn(err)
	member := hire(t, s, sc, fmt.Sprintf("member%d@%s.example", sc.BusinessID, sc.Domain), scope.Developer)
	stray := models.Transfer{Network: "sandbox-xrpl", TxID: fmt.Sprintf("stray%d%s", sc.BusinessID, sc.Domain), Asset: "XRP", Address: "r", BusinessID: sc.BusinessID, Domain: string(sc.Domain), Unmatched: "missing_tag", FirstSeenAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Create(&stray).Error)
	owner, err := account.Owners(s.DB.Read(t.Context()), sc.BusinessID)
	s.FailOn(err)
	passkey := models.Passkey{UserID: owner[0].ID, Credential: owner[0].Email + string(sc.Domain), PublicKey: []byte{1}, Name: "Phone", CreatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Create(&passkey).Error)
	customers, _, err := s.Lists.Customers(t.Context(), sc, list.CustomerFilter{Limit: 1})
	s.FailOn(err)
	var business models.Business
	s.FailOn(s.DB.Read(t.Context()).Where("id = ?", sc.BusinessID).Take(&business).Error)
	var paid models.Payment
	s.FailOn(s.DB.Read(t.Context()).Where("reference = ?", started.Reference).Take(&paid).Error)
	sent := models.Send{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Reference: fmt.Sprintf("SND_OF%dIN%s", sc.BusinessID, sc.Domain),
		BusinessReference: "refund-1", Kind: send.Refund, PaymentID: &paid.ID, Method: string(money.CryptoBitcoin), Coin: string(money.BTC), Network: "sandbox-bitcoin",
		Amount: money.Units(100_000), Actor: sc.Actor, Status: string(send.AwaitingDestination), Approvals: 1,
		ExpiresAt: s.Clock.Now().Add(send.WaitForWallet), CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Create(&sent).Error)
	signed := models.SendBatch{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Network: "sandbox-bitcoin", Paid: "[]", CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Create(&signed).Error)
	signed.Sealed = s.Payments.Secrets.Hash("send batch", fmt.Sprintf("%d %d %s sandbox-bitcoin []\n\n", signed.ID, sc.BusinessID, sc.Domain))
	s.FailOn(s.DB.Exec(t.Context()).Save(&signed).Error)
	s.FailOn(s.DB.Exec(t.Context()).Model(&sent).UpdateColumn("batch_id", signed.ID).Error)
	claim, confirm, secrets := last(s.Sends.ClaimURL(sent)), s.Users.TicketToken(sent.Reference), s.Payments.Secrets
	s.FailOn(s.DB.Exec(t.Context()).Create(&models.SendClaim{SendID: sent.ID, Hash: secrets.Hash("send claim", claim[1:]),
		Address: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", ConfirmHash: secrets.Hash("send confirm", confirm), CreatedAt: s.Clock.Now(),
		UpdatedAt: s.Clock.Now()}).Error)
	paying := models.PayoutWallet{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Network: "ethereum-" + string(sc.Domain),
		Address: fmt.Sprintf("0x%040d", 2*sc.BusinessID), CreatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Create(&paying).Error)
	s.FailOn(s.DB.Exec(t.Context()).Create(&models.CounterPayment{BusinessID: sc.BusinessID, Domain: string(sc.Domain),
		BusinessReference: paid.BusinessReference, UserID: owner[0].ID, CreatedAt: s.Clock.Now()}).Error)
	told := models.Notification{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Kind: string(notification.CoinUnavailable), Subject: "bitcoin",
		Detail: "{}", Times: 1, CreatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Create(&told).Error)
	shown := models.PushSubscription{UserID: owner[0].ID, SessionID: "none", Sealed: []byte{1},
		Hash: fmt.Sprint(sc.BusinessID, sc.Domain), HourAt: s.Clock.Now(), CreatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Create(&shown).Error)
	known := models.PayoutAddress{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Network: "sandbox-bitcoin", Address: anAddress,
		Tag: -1, Name: "Landlord", CreatedAt: s.Clock.Now(), ReleasedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Save(&known).Error)
	saved := models.SavedView{BusinessID: sc.BusinessID, Domain: string(sc.Domain), UserID: owner[0].ID,
		Name: "Declined", Query: "status=declined",
		CreatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(t.Context()).Save(&saved).Error)
	return map[string]string{
		"/dashboard/payments/views/:id": fmt.Sprintf("/dashboard/payments/views/%d", saved.ID),
		"/v1/unmatched/:id":             "/v1/unmatched/" + models.FormatUnmatchedID(stray.ID),
		"/v1/customers/:code":           "/v1/customers/" + customers[0].Code,
		"/v1/sends/:id":                 "/v1/sends/" + sent.Reference,
		"/v1/sandbox/sends/:id":         "/v1/sandbox/sends/" + sent.Reference,
		"/refund/:token":                "/refund" + claim, "/refund/confirm/:token": "/refund/confirm/" + confirm,
		"/v1/payment/verify/:business_reference": "/v1/payment/verify/" + started.Reference, "/v1/payments/:reference": "/v1/payments/" + started.Reference,
		"/v1/sandbox/payments/:reference": "/v1/sandbox/payments/" + started.Reference, "/v1/payment-links/:id": "/v1/payment-links/" + tips.Code,
		"/v1/webhooks/:id": "/v1/webhooks/" + hook.ID, "/v1/webhooks/:id/deliveries/:event_id": "/v1/webhooks/" + hook.ID + "/deliveries/" + events[0].ID,
		"/v1/statements/:period": "/v1/statements/2026-03",
		"/v1/events/:id":         "/v1/events/" + events[0].ID, "/v1/resends/:id": "/v1/resends/" + order.ID,
		"/pay/:token": "/pay/" + started.AccessToken, "/l/:code": "/l/" + tips.Code, "/logo/:business/:name": settings.LogoPath(business),
		"/invitation/:token":                   strings.TrimPrefix(invitation.Link, servertest.Base),
		"/dashboard/account/passkeys/:passkey": fmt.Sprintf("/dashboard/account/passkeys/%d", passkey.ID),
		"/dashboard/unmatched/:id":             fmt.Sprintf("/dashboard/unmatched/%d", stray.ID), "/dashboard/customers/:id": "/dashboard/customers/" + customers[0].Code,
		"/dashboard/notifications/browsers/:id": fmt.Sprintf("/dashboard/notifications/browsers/%d", shown.ID),
		"/dashboard/notifications/:id":          fmt.Sprintf("/dashboard/notifications/%d", told.ID),
		"/dashboard/sends/:reference":           "/dashboard/sends/" + sent.Reference,
		"/dashboard/sends/addresses/:id":        fmt.Sprintf("/dashboard/sends/addresses/%d", known.ID),
		"/dashboard/sends/together/:id":         fmt.Sprintf("/dashboard/sends/together/%d", signed.ID),
		"/dashboard/sends/wallets/:id":          fmt.Sprintf("/dashboard/sends/wallets/%d", paying.ID),
		"/dashboard/till/payments/:reference":   "/dashboard/till/payments/" + started.Reference,
		"/dashboard/payments/:reference":        pages[0], "/dashboard/links/:id": pages[1],
		"/dashboard/webhooks/:id": "/dashboard/webhooks/" + hook.ID,
		"/dashboard/mailbox/:id":  pages[3], "/dashboard/webhooks/resends/:id": "/dashboard/webhooks/resends/" + order.ID,
		"/dashboard/calls/:id": fmt.Sprintf("/dashboard/calls/%d", logged[0].ID),
		"/dashboard/keys/:id":  fmt.Sprintf("/dashboard/keys/%d", key.ID), "/dashboard/webhooks/:id/deliveries/:event": "/dashboard/webhooks/" + hook.ID + "/deliveries/" + events[0].ID,
		"/dashboard/team/invitations/:id": fmt.Sprintf("/dashboard/team/invitations/%d", invitation.ID), "/dashboard/team/members/:id": fmt.Sprintf("/dashboard/team/members/%d", member.ID),
	}
}

// anAddress is one of the simulated Bitcoin network that belongs to no payment.
const anAddress = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"

// hire makes a member of a business.
func hire(t testing.TB, s *servertest.Server, sc scope.Scope, email string, role scope.Role) auth.User {
	t.Helper()
	in, err := s.Accounts.Invite(t.Context(), sc, email, role)
	s.FailOn(err)
	user, _, err := s.Accounts.AcceptAsNew(t.Context(), in.Link[strings.LastIndex(in.Link, "/")+1:], account.Newcomer{Name: "New Member", Password: servertest.Password})
	s.FailOn(err)
	return user
}

// at fills a route: with a thing of a business, or with what nobody has.
func (r row) at(things map[string]string) string {
	path, longest := r.path, ""
	for route := range things {
		if (path == route || strings.HasPrefix(path, route+"/")) && len(route) > len(longest) {
			longest = route
		}
	}
	path = things[longest] + strings.TrimPrefix(path, longest)
	path = strings.NewReplacer(":code", "crypto_bitcoin", ":network", "bitcoin", ":chapter", "payments",
		":currency", "NGN", ":reference", "PAY_NOBODYS", ":event", "evt_nobodys", ":id", "999999").Replace(path)
	if strings.HasSuffix(path, "/review") && r.method == http.MethodGet && strings.Contains(path, "resends") {
		path += "?created_after=2026-03-01T11:00"
	}
	return path
}

var formToken = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// asking is a browser with the form token of a page that every member sees.
func asking(t testing.TB, b *servertest.Browser, domain scope.Domain) url.Values {
	t.Helper()
	leads(t, b.PostFrom("/dashboard/account", "/dashboard/domain", url.Values{"domain": {string(domain)}, "next": {"/dashboard/account"}}), "/dashboard/account")
	token := html.UnescapeString(formToken.FindStringSubmatch(b.Get("/dashboard/account").Body)[1])
	return url.Values{"csrf": {token}, "active": {"true"}, "enabled": {"true"}} // switches ask for their value first
}

// askingAs gives the members of a business a role, and asks for them.
func askingAs(t testing.TB, s *servertest.Server, sc scope.Scope, b *servertest.Browser, role scope.Role, domain scope.Domain) url.Values {
	t.Helper()
	s.SetRole(sc, role)
	if role != scope.Till {
		return asking(t, b, domain)
	}
	s.FailOn(s.DB.Exec(t.Context()).Model(&models.Business{}).Where("id = ?", sc.BusinessID).Update("till_domain", string(domain)).Error)
	b.Get("/dashboard/till/leave") // the session gets a new id with the new role
	token := html.UnescapeString(formToken.FindStringSubmatch(b.Get("/dashboard/till/leave").Body)[1])
	return url.Values{"csrf": {token}, "active": {"true"}, "enabled": {"true"}}
}

// TestRights (AP-2) asks for every address as each role in each domain: who may not is
// refused, and who may finds what is there in that domain, and none of the other's.
func TestRights(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		mine := map[scope.Domain]map[string]string{scope.Test: owned(t, s, sc), scope.Live: owned(t, s, live(sc))}
		s.Accounts.Operators = []string{ama} // whose passkey is among those
		b := s.SignIn(ama)
		for _, role := range roles {
			for _, domain := range []scope.Domain{scope.Test, scope.Live} {
				token := askingAs(t, s, sc, b, role, domain)
				for _, r := range rowsOf(t) {
					var a servertest.Answer
					if endless(r.path) {
						a = b.Head(r.path)
					} else if r.method == http.MethodGet {
						a = b.Get(r.at(mine[domain]))
					} else if r.path == "/dashboard/domain" {
						continue // asking has just used it
					} else { // with a form that changes nothing, and of nothing that there is
						a = b.Post(r.at(nil), token)
					}
					found := a.Status == http.StatusOK || a.Status == http.StatusSeeOther
					switch what := fmt.Sprintf("%s in %s: %s %s answers %d", role, domain, r.method, r.at(mine[domain]), a.Status); {
					case a.Status >= 500:
						t.Errorf("what = %v, a.Text() = %v", what, a.VisibleText())
					case !r.allows(role, domain):
						if a.Status != http.StatusForbidden && !(r.path == "/dashboard" && a.Status == http.StatusSeeOther) {
							t.Error(what, "although the role may not")
						}
					case a.Status == http.StatusForbidden && !(strings.HasSuffix(r.path, "/simulate") && domain == scope.Live):
						t.Error(what, "although the role may")
					case r.method == http.MethodGet && !found:
						t.Errorf("what = %v", what)
					case r.ofDomain():
						if a := b.Get(r.at(mine[other(domain)])); a.Status != http.StatusNotFound {
							t.Errorf("%s in %s finds the other domain's %s: %d", role, domain, r.path, a.Status)
						}
					}
				}
			}
		}
	})
}

// TestStrangers (AP-1, AP-5) asks for every thing of one business as the owner of
// another, as nobody, and with forms that are not ours: nothing is there, nothing
// happens.
func TestStrangers(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		things := map[scope.Domain]map[string]string{scope.Test: owned(t, s, sc), scope.Live: owned(t, s, live(sc))}
		theirs := s.CreateBusiness("Bayo's Shop", bayo)
		owned(t, s, theirs)
		stranger, nobody := s.SignIn(bayo), s.NewBrowser()
		audits := rows(s, &models.Audit{}, fmt.Sprintf("business_id = %d", sc.BusinessID))
		form := url.Values{"title": {"Taken"}, "currency": {"USD"}, "amount": {"1"}, "amount_kind": {"fixed"}, "type": {"Taken"}, "url": {"https://taken.example"}, "scenario": {"exact"}, "role": {"finance"}, "active": {"true"}}
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			mine, token := things[domain], asking(t, stranger, domain)
			for _, r := range rowsOf(t) {
				at := r.at(mine)
				if r.method == http.MethodGet {
					leads(t, nobody.Get(at), "/sign-in?next="+url.QueryEscape(at))
					if r.own() {
						expect(t, stranger.Get(at), 404)
					}
					continue
				}
				expect(t, nobody.Post(at, form), 403)
				expect(t, stranger.Post(at, url.Values{"csrf": {"forged"}}), 403)
				if !r.own() {
					continue
				}
				sent := url.Values{"csrf": token["csrf"]}
				for field, values := range form {
					sent[field] = values
				}
				if a := stranger.Post(at, sent); a.Status != http.StatusNotFound && !(a.Status == http.StatusForbidden && strings.HasSuffix(at, "/simulate")) {
					t.Errorf("%s in %s: %d %.300s", at, domain, a.Status, a.VisibleText())
				}
			}
			visitor := s.NewBrowser()
			for at, page := range map[string]string{"/dashboard/keys": "keys", "/dashboard/team/invitations": "team", "/dashboard/account/password": "account%2Fpassword"} {
				leads(t, visitor.PostFrom("/sign-in", at, nil), "/sign-in?next=%2Fdashboard%2F"+page)
			}
		}
		if n := rows(s, &models.Audit{}, fmt.Sprintf("business_id = %d", sc.BusinessID)); n != audits {
			t.Errorf("%d acts of strangers", n-audits)
		}
		owner, mine := s.SignIn(ama), things[scope.Test]
		for _, r := range rowsOf(t) {
			if at, review := strings.CutSuffix(r.at(mine), "/review"); r.method == http.MethodGet && r.own() && review {
				leads(t, owner.Get(at+"/review"), strings.TrimSuffix(at, "/attach"))
			} else if r.path == "/dashboard/notifications/:id" { // leads to its record
				leads(t, owner.Get(at), "/dashboard/methods")
			} else if r.path == "/dashboard/sends/:reference/sign" { // it is in a batch
				leads(t, owner.Get(at), mine["/dashboard/sends/together/:id"])
			} else if r.method == http.MethodGet && r.own() {
				if a := owner.Get(at); a.Status != 200 {
					t.Errorf("its owner gets %s: %d %q", at, a.Status, a.Location)
				}
			}
		}
		for _, list := range []string{"/dashboard", "/dashboard/payments", "/dashboard/links", "/dashboard/webhooks", "/dashboard/keys", "/dashboard/mailbox", "/dashboard/team", "/dashboard/account"} {
			if text := stranger.Get(list).Body; strings.Contains(text, "Ama's Shop") || strings.Contains(text, ama) || strings.Contains(text, mine["/dashboard/payments/:reference"]) {
				t.Errorf("%s shows another's things", list)
			}
		}
	})
}
