package dashboard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/apilog"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// The customer of the tests of erasures: texts that stand nowhere else.
const (
	zainab      = "Zqzainab Zqbello"
	zainabEmail = "zq.zainab@mailbox.example"
)

// namedIn are the columns of private and their texts about a customer, which an erasure rewrites,
// deletes, or empties.
const namedIn = `
api_calls         path sent answered
customers         email search_name search_last first_name last_name
delivery_attempts header answer
events            body
mails             to_address to_name subject text html last_error about
payments          customer_name customer_email metadata remark redirect_url
payment_notes     note
resolutions       note
send_steps        detail
sends             metadata note
steps             remark detail
`

// namelessIn are the other columns of private: addresses and hashes of networks, references, texts of
// links, and the rows about members of the business. An erasure leaves them.
const namelessIn = `
api_calls         agent
audits            subject detail
customers         code
delivery_attempts request
destinations      address
network_holdings  address
invitations       email
links             code title description redirect_url
notifications     subject detail
payments          reference business_reference authorization_code address
resolutions       tx_id
payout_addresses  address name
payout_wallets    address spend_prefix
send_batches      account signed_hash terms
send_claims       address
send_destinations address
sends             reference business_reference address hash account signed_hash terms
spends            spend_key
transfers         tx_id address block_hash conflict_tx
`

// namedText is a text about the customer in the form that a column has.
func namedText(column string, row int64) string {
	switch column {
	case "api_calls.path":
		return "/v1/payments?email=" + strings.ToUpper(zainabEmail)
	case "api_calls.sent":
		return `{"first_name":"Zqzainab","last_name":"Zqbello","email":"z…@mailbox.example",` +
			`"metadata":{"for":"` + zainab + `"}}`
	case "api_calls.answered": // cut
		return `[{"customer":{"full_name":"` + zainab + `"},"last_name": "Zqbello","email":"` + zainabEmail
	case "events.body":
		return `{"id":"evt_1","domain":"test","data":{"domain":"test","customer":{"full_name":"` + zainab +
			`","email":"` + zainabEmail + `"},"transaction":{"amount_paid":"1.50","metadata":{"to":["Zqbello",{"zqZainab":1e400}]}},"n":12345678901234567890}}`
	case "payments.metadata", "sends.metadata":
		return `{ "who": "\u005aqzainab", "Zqzainab Zqbello": ["` + zainabEmail + `"] }`
	case "steps.detail", "send_steps.detail":
		return `{"hash":"ab","note":"asked Zqbello by phone"}`
	case "payments.customer_name":
		return zainab
	case "payments.customer_email", "mails.to_address":
		return zainabEmail
	case "payments.redirect_url":
		return "https://shop.example/thanks?to=zq.zainab%40mailbox.example"
	case "mails.about":
		return fmt.Sprint("PAY_", row, " ", zainabEmail)
	}
	return "Refunded to Zqzainab, that is " + zainab + " <" + strings.ToUpper(zainabEmail) + ">."
}

// nameEverywhere writes the customer into all texts about the payments of a scope.
func nameEverywhere(t *testing.T, s *servertest.Server, sc scope.Scope) {
	t.Helper()
	p := &planter{t: t, s: s}
	p.watched, p.plain = columnsOf(t)
	left := map[string]bool{}
	for name := range p.watched {
		left[name] = true
	}
	for line := range strings.Lines(strings.TrimSpace(namelessIn)) {
		for _, word := range strings.Fields(line)[1:] {
			delete(left, strings.Fields(line)[0]+"."+word)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(namedIn)) {
		table, columns := strings.Fields(line)[0], strings.Fields(line)[1:]
		for _, word := range columns {
			delete(left, table+"."+word)
		}
		if table == "customers" { // whose own row the service writes
			continue
		}
		of := slices.IndexFunc(models.All(), func(model any) bool { return p.table(model).name == table })
		query := s.DB.Exec(t.Context())
		if model := reflect.TypeOf(models.All()[of]).Elem(); table == "events" || table == "mails" || table == "resolutions" {
			query = query.Where("payment_id IS NOT NULL")
		} else if _, scoped := model.FieldByName("BusinessID"); scoped {
			query = query.Where("business_id = ?", sc.BusinessID)
		}
		rows := reflect.New(reflect.SliceOf(reflect.TypeOf(models.All()[of]).Elem()))
		s.FailOn(query.Find(rows.Interface()).Error)
		if rows.Elem().Len() == 0 {
			t.Errorf("no row of %s to write the customer into", table)
		}
		for i := range rows.Elem().Len() {
			row, set := rows.Elem().Index(i), map[string]any{}
			for _, column := range columns {
				set[column] = namedText(table+"."+column, int64(i))
			}
			s.FailOn(s.DB.Exec(t.Context()).Model(row.Addr().Interface()).UpdateColumns(set).Error)
		}
	}
	for name := range left {
		t.Errorf("namedIn and namelessIn say nothing of the column %s of private", name)
	}
}

// spelled finds the customer in a row.
var spelled = regexp.MustCompile(`(?i)zqzainab|zqbello|zq\.zainab|z…@mailbox`)

// findName returns every row of the database that has the customer's name or address.
func findName(t *testing.T, s *servertest.Server) (found []string) {
	t.Helper()
	for _, model := range models.All() {
		var rows []map[string]any
		s.FailOn(s.DB.Exec(t.Context()).Model(model).Find(&rows).Error)
		for _, row := range rows {
			for name, value := range row {
				text, err := json.Marshal(value)
				s.FailOn(err)
				if raw, is := value.([]byte); is {
					text = raw
				}
				if spelled.Match(text) {
					found = append(found, fmt.Sprintf("%T.%s: %s", model, name, text))
				}
			}
		}
	}
	return found
}

// zainabPays makes the customer with a payment.
func zainabPays(t *testing.T, s *servertest.Server, sc scope.Scope) (customer models.Customer, reference string) {
	t.Helper()
	r := servertest.NewRequest(money.CryptoBitcoin)
	r.FirstName, r.LastName, r.Email, r.BusinessReference = "Zqzainab", "Zqbello", zainabEmail, ""
	reference = s.InitiatePayment(sc, r).Reference
	list, _, err := s.Lists.Customers(t.Context(), sc, list.CustomerFilter{Query: zainabEmail, Limit: 1})
	if s.FailOn(err); len(list) != 1 {
		t.Fatalf("%d customers have the address, want 1", len(list))
	}
	return list[0].Customer, reference
}

// endPayments ends all payments and sends.
func endPayments(s *servertest.Server) {
	s.T.Helper()
	s.FailOn(s.DB.Exec(s.T.Context()).Model(&models.Payment{}).Where("status IN ('pending', 'initiated', 'processing')").
		UpdateColumns(map[string]any{"status": "declined", "reason": "underpaid", "due_at": nil, "due_read": nil}).Error)
	s.FailOn(s.DB.Exec(s.T.Context()).Model(&models.Send{}).Where("1 = 1").
		UpdateColumn("status", string(send.Cancelled)).Error)
}

// TestErasedCustomerIsNowhere: after an erasure no table has the customer's name or address, and
// amounts, hashes, events and the journal stay.
func TestErasedCustomerIsNowhere(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		owned(t, s, sc)
		told(t, s, sc)
		customer, reference := zainabPays(t, s, sc)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Payment{}).Where("business_id = ?", sc.BusinessID).
			UpdateColumn("customer_id", customer.ID).Error)
		key := scope.Scope{BusinessID: sc.BusinessID, Domain: sc.Domain, Actor: "key:1"}
		s.Calls.AddCall(apilog.Call{Scope: key, Method: "POST", Path: "/v1/payments", Status: 200})
		s.FailOn(s.Calls.FlushQueue(t.Context()))
		var refund models.Send
		s.FailOn(s.DB.Exec(t.Context()).Take(&refund).Error)
		endPayments(s)
		nameEverywhere(t, s, sc)
		add(s, &models.Mail{BusinessID: sc.BusinessID, Domain: "test", Kind: "send_claim",
			About: refund.Reference + " " + zainabEmail + " 1", To: zainabEmail, ToName: zainab, Text: "Dear " + zainab, CreatedAt: s.Clock.Now()})
		kept := repeatAnswer(t, s, sc, `{"customer":{"full_name":"`+zainab+`"}}`)
		var booked []models.JournalEntry
		s.FailOn(s.DB.Exec(t.Context()).Find(&booked).Error)

		at := "/dashboard/customers/" + customer.Code
		b := s.SignIn(ama)
		expect(t, b.Get(at), 200, at+"/erase")
		expect(t, b.Get(at+"/erase"), 200, zainab, zainabEmail, "payments", "undone")
		wrong := b.PostFrom(at+"/erase", at+"/erase", url.Values{"password": {"not the password"}})
		expect(t, wrong, 422, "This isn't your password.")
		s.Clock.Advance(time.Minute) // after a wrong password
		if len(findName(t, s)) < 20 {
			t.Fatalf("the customer stands in %d columns only before the erasure, want 20", len(findName(t, s)))
		}
		leads(t, b.PostFrom(at+"/erase", at+"/erase", url.Values{"password": {servertest.Password}}), at)
		for _, where := range findName(t, s) {
			t.Errorf("the erased customer stands in %s", where)
		}
		expect(t, b.Get(at), 200, "Erased Customer", "were erased")
		lacks(t, b.Get(at), at+"/erase")
		if answer := repeatAnswer(t, s, sc, ""); strings.Contains(answer, "Zq") || answer == kept {
			t.Errorf("a repeated request is answered %s, want it without the customer", answer)
		}
		v, err := s.Payments.Verify(t.Context(), sc, reference)
		s.FailOn(err)
		placeholder := strings.ToLower(customer.Code) + "@erased.invalid"
		if r := v.Record().Customer; r.FullName != "Erased Customer" || r.Email != placeholder || r.Code != customer.Code {
			t.Errorf("the record has %+v, want placeholders and the code", r)
		}
		var events []models.Event
		s.FailOn(s.DB.Exec(t.Context()).Where("payment_id IS NOT NULL").Find(&events).Error)
		want := `{"id":"evt_1","domain":"test","data":{"domain":"test","customer":{"full_name":"Erased Customer",` +
			`"email":"` + placeholder + `"},"transaction":{"amount_paid":"1.50","metadata":{"to":["Customer",{"Erased":1e400}]}},"n":12345678901234567890}}`
		if events[0].Body != want {
			t.Errorf("an event has the body %s, want %s", events[0].Body, want)
		}
		var after []models.JournalEntry
		s.FailOn(s.DB.Exec(t.Context()).Find(&after).Error)
		if !reflect.DeepEqual(after, booked) {
			t.Errorf("the journal has %+v, want %+v as before", after, booked)
		}
		if verdict, err := s.Audits.VerifyChain(t.Context(), sc.BusinessID, 0); err != nil || verdict.Broken != "" {
			t.Errorf("the audit log is broken: %s (%v)", verdict.Broken, err)
		}
		expect(t, b.Get("/dashboard/audit"), 200, customer.Code, "data erased")
		s.FailOn(s.Resolver.Resolve(t.Context(), sc, reference))
		if n := rows(s, &models.Mail{}, "to_address LIKE '%erased.invalid'"); n != 0 {
			t.Errorf("%d mails are for the erased customer after a payment became Successful, want none", n)
		}
	})
}

// TestErasureOfSearchedValues: payments are found by their metadata as an erasure rewrote it, and no more by the
// customer's name or address in it.
func TestErasureOfSearchedValues(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		r := servertest.NewRequest(money.CryptoBitcoin)
		r.FirstName, r.LastName, r.Email, r.BusinessReference = "Zqzainab", "Zqbello", zainabEmail, ""
		r.Metadata = []byte(`{"who":"Zqzainab Zqbello","mail":"` + zainabEmail + `","invoice":"INV 77"}`)
		reference := s.InitiatePayment(sc, r).Reference
		endPayments(s)
		found := func(text string) int {
			page, err := s.Lists.Search(t.Context(), sc, list.Filter{Query: text, Limit: 10})
			if s.FailOn(err); len(page.Payments) == 1 && page.Payments[0].Reference != reference {
				t.Errorf("a search for %q finds %s, want %s", text, page.Payments[0].Reference, reference)
			}
			return len(page.Payments)
		}
		if found("inv 77") != 1 || rows(s, &models.PaymentValue{}, "value LIKE 'zq%'") != 2 {
			t.Fatal("the payment isn't found by its metadata before the erasure")
		}
		var customer models.Customer
		s.FailOn(s.DB.Exec(t.Context()).Where("email = ?", zainabEmail).Take(&customer).Error)
		at := "/dashboard/customers/" + customer.Code + "/erase"
		s.SignIn(ama).PostFrom(at, at, url.Values{"password": {servertest.Password}})
		for _, where := range findName(t, s) {
			t.Errorf("the erased customer stands in %s", where)
		}
		for text, want := range map[string]int{"inv 77": 1, "Zqzainab Zqbello": 0, zainabEmail: 0} {
			if n := found(text); n != want {
				t.Errorf("a search for %q finds %d payments after the erasure, want %d", text, n, want)
			}
		}
	})
}

// repeatAnswer answers a request with an Idempotency-Key, or gives the answer that was stored for it.
func repeatAnswer(t *testing.T, s *servertest.Server, sc scope.Scope, body string) string {
	t.Helper()
	answers := idempotency.New(s.DB, s.Clock.Now, s.Payments.Secrets)
	claim, err := answers.Claim(sc, "key-1", "POST", "/v1/payments", nil)
	s.FailOn(err)
	before, err := answers.Replay(t.Context(), claim)
	if s.FailOn(err); before != nil {
		return string(before.Body)
	}
	ctx := idempotency.With(t.Context(), claim, func(any) (idempotency.Answer, error) {
		return idempotency.Answer{Status: 201, Body: []byte(body)}, nil
	})
	_, err = idempotency.Do(ctx, s.DB, func(*models.Tx) (string, error) { return "", nil })
	s.FailOn(err)
	return body
}

// TestErasureKeepsOthers: other customers keep their data, and so does the same person in the other
// domain and at another business. A later payment with the address makes a new customer.
func TestErasureKeepsOthers(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc, other := s.CreateBusiness("Ama's Shop", ama), s.CreateBusiness("Bayo's Shop", bayo)
		s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		zainabPays(t, s, other)
		erased, _ := zainabPays(t, s, sc)
		endPayments(s)
		at := "/dashboard/customers/" + erased.Code + "/erase"
		b := s.SignIn(ama)
		b.PostFrom(at, at, url.Values{"password": {servertest.Password}})
		expect(t, b.Get("/dashboard/customers"), 200, "Ngozi Okafor", "Erased Customer")
		expect(t, s.SignIn(bayo).Get("/dashboard/customers"), 200, zainab, zainabEmail)
		again, reference := zainabPays(t, s, sc)
		if again.Code == erased.Code || again.FirstName != "Zqzainab" {
			t.Errorf("a later payment belongs to %s (%s), want a new customer", again.Code, again.FirstName)
		}
		expect(t, b.Get("/dashboard/payments/"+reference), 200, zainab)
	})
}

// TestErasureWaits: a customer whose payment or refund needs the data isn't erased, and one whose data
// was erased isn't again.
func TestErasureWaits(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		owned(t, s, sc)
		customer, reference := zainabPays(t, s, sc)
		at := "/dashboard/customers/" + customer.Code + "/erase"
		b := s.SignIn(ama)
		proof := url.Values{"password": {servertest.Password}}
		refuse := func(why string) {
			t.Helper()
			page := b.Get(at)
			expect(t, page, 200, why)
			lacks(t, page, `name="password"`)
			expect(t, b.PostFrom("/dashboard", at, proof), 409, why)
			expect(t, b.Get("/dashboard/customers/"+customer.Code), 200, zainab)
		}
		refuse("A payment of this customer has not ended.")
		b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"fr"}})
		refuse("Un paiement de ce client n&#39;est pas terminé.")
		b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"en"}})
		endPayments(s)
		var payment models.Payment
		s.FailOn(s.DB.Exec(t.Context()).Where("reference = ?", reference).Take(&payment).Error)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("1 = 1").
			UpdateColumns(map[string]any{"payment_id": payment.ID, "status": string(send.AwaitingDestination)}).Error)
		refuse("A refund waits for an address from this customer.")
		endPayments(s)
		leads(t, b.PostFrom(at, at, proof), strings.TrimSuffix(at, "/erase"))
		leads(t, b.Get(at), strings.TrimSuffix(at, "/erase"))
		leads(t, b.PostFrom("/dashboard", at, proof), strings.TrimSuffix(at, "/erase"))
		var sent models.Send
		s.FailOn(s.DB.Exec(t.Context()).Take(&sent).Error)
		_, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Refund, Payment: reference, Amount: "0.00000600"})
		var refused *fault.Fault
		if !errors.As(err, &refused) || !strings.Contains(fmt.Sprint(refused.Fields["address"]), "was erased") {
			t.Errorf("a refund without an address is refused with %+v, want that the data was erased", refused)
		}
	})
}

// TestErasureIsFinished: an erasure that was interrupted after the customer's row is finished by another.
func TestErasureIsFinished(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		customer, _ := zainabPays(t, s, sc)
		endPayments(s)
		s.FailOn(s.DB.Exec(t.Context()).Model(&customer).UpdateColumns(map[string]any{
			"email": contact.ErasedEmail(customer.Code), "first_name": contact.ErasedFirstName,
			"last_name": contact.ErasedLastName, "search_name": "", "search_last": ""}).Error)
		at := "/dashboard/customers/" + customer.Code
		b := s.SignIn(ama)
		expect(t, b.Get(at), 200, "was interrupted", at+"/erase")
		leads(t, b.PostFrom(at+"/erase", at+"/erase", url.Values{"password": {servertest.Password}}), at)
		for _, where := range findName(t, s) {
			t.Errorf("the erased customer stands in %s", where)
		}
	})
}
