package dashboard_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// private says of each text column that holds what only some roles may read which rights
// that takes. A column with = keeps its value, which others find it by; all others get a
// canary, a text that stands nowhere else. An owner must see each canary on some page, except
// in columns with ~, which no page shows.
const private = `
api_calls         path sent answered agent~                                             manage_keys see_payments
audits            subject detail                                                        see_audit
customers         email search_name~ search_last~ first_name last_name code=            see_payments
delivery_attempts request                                                               see_webhooks
delivery_attempts header answer                                                         see_webhooks see_payments
destinations      address~                                                              see_payments
events            body                                                                  see_webhooks see_payments
network_holdings  address~                                                              see_payments
invitations       email                                                                 manage_business
links             code= title description redirect_url                                  see_links
mails             to_address to_name~ subject text html~ last_error about~              see_payments
payments          reference= business_reference authorization_code=~ customer_name      see_payments
payments          customer_email metadata remark address redirect_url~                  see_payments
notifications     subject~ detail                                                       see_payments
payment_notes     note                                                                  see_payments
resolutions       tx_id note                                                            see_payments
payout_addresses  address~ name~                                                        see_sends
payout_wallets    address spend_prefix~                                                 see_sends
send_batches      account~ signed_hash~ terms~                                          see_sends
send_claims       address~                                                              see_sends
send_destinations address~                                                              see_sends
send_steps        detail~                                                               see_sends
sends             reference= business_reference address metadata note hash~            see_sends
sends             account~ signed_hash~ terms~                                          see_sends
spends            spend_key~                                                            see_payments
steps             remark detail~                                                        see_payments
transfers         tx_id address block_hash~ conflict_tx~                                see_payments
`

// plainColumns are the other text columns of the tables of private: words of ours, names of coins
// and networks, hashes and the like, which tell nothing of a customer.
const plainColumns = `
api_calls domain request method ip code
audits domain actor action ip agent request hash
customers domain
delivery_attempts error code
destinations network domain
events id domain type
network_holdings network amount
invitations role seed hash mail
links domain currency methods
mails domain kind message_id from_name outcome
notifications domain kind merge_key
payments domain token_hash language currency method coin network due price quote late_payments status reason paid
payment_notes domain actor
resolutions domain kind reason asset network amount actor
payout_addresses domain network
payout_wallets domain network actor
send_batches domain network paid sealed actor
send_claims hash confirm_hash
send_destinations network
send_steps kind from_status to_status reason actor
sends domain kind method coin network amount currency rate price quote address_by actor status reason request_seal sealed booked booked_twice booked_fee signed_fee another_way_by another_way_seal
spends network
steps kind from_status to_status reason actor
transfers network asset amount gone_reason domain unmatched resolution booked fee
`

// unwatched are the tables without any text of a customer: what people and programs of the
// business are called and how they sign in, the business's own settings, counts, and chains. The values
// of metadata are only searched for; TestErasureOfSearchedValues is about them.
var unwatched = []string{"alarms", "api_keys", "attempts", "audit_heads", "businesses", "chain_blocks", "chain_cursors", "closed_months", "counter_payments", "deliveries", "departures", "devices",
	"endpoint_pauses", "endpoints", "going_live_steps", "idempotencies", "instances", "journal_day_sums",
	"held_amounts", "journal_days", "journal_entries", "journal_month_sums", "leases", "listed_addresses", "logos",
	"members", "method_networks", "methods", "notification_choices", "notification_readers", "notification_reads",
	"passkey_challenges",
	"passkeys", "payment_networks", "payment_values",
	"push_keys", "push_messages", "push_subscriptions", "rate_minutes", "rate_policies",
	"rate_sources", "rate_windows", "rates", "recovery_codes", "resends", "sandbox_blocks", "sandbox_plans",
	"sandbox_txes", "saved_views", "send_approvals", "send_rules", "sessions",
	"tallies", "tally_changes", "tally_days", "tally_waits", "tickets", "tills", "unsummed_entries", "users", "wallets"}

// column is a text column with the rights that show it.
type column struct {
	name         string // table.column
	rights       []scope.Action
	kept, hidden bool
}

// columnsOf reads private by the names of columns, and what plainColumns lists.
func columnsOf(t testing.TB) (watched map[string]column, plain map[string]bool) {
	t.Helper()
	watched, plain = map[string]column{}, map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(private)) {
		parts := strings.Fields(line)
		var rights []scope.Action
		for len(parts) > 0 && slices.Contains(scope.Actions(), scope.Action(parts[len(parts)-1])) {
			rights, parts = append(rights, scope.Action(parts[len(parts)-1])), parts[:len(parts)-1]
		}
		if len(rights) == 0 || len(parts) < 2 {
			t.Fatalf("the line %q names no columns or no rights", line)
		}
		for _, word := range parts[1:] {
			name := parts[0] + "." + strings.Trim(word, "=~")
			watched[name] = column{name, rights, strings.Contains(word, "="), strings.Contains(word, "~")}
		}
	}
	for line := range strings.Lines(strings.TrimSpace(plainColumns)) {
		for _, word := range strings.Fields(line)[1:] {
			plain[strings.Fields(line)[0]+"."+word] = true
		}
	}
	return watched, plain
}

// canary is a text of one row that only some may read.
type canary struct {
	column
	text     string
	business int64
	domain   scope.Domain // "" for a row of the business as a whole
	payment  int64        // that the row is about; 0 for none
}

// open reports whether a reader with a scope may see the canary.
func (c canary) open(sc scope.Scope) bool {
	return c.business == sc.BusinessID && (c.domain == "" || c.domain == sc.Domain) &&
		!slices.ContainsFunc(c.rights, func(right scope.Action) bool { return !sc.Allows(right) })
}

// planter puts canaries into the rows of every table.
type planter struct {
	t       testing.TB
	s       *servertest.Server
	watched map[string]column
	plain   map[string]bool
	list    []canary
	owners  map[string]scope.Scope // of rows that others belong to, by table and id
	refunds map[int64]int64        // payments by the sends that refund them
}

// plant puts a canary into every text column of every row that private names, and returns
// them. A text column that private doesn't name fails the test.
func plant(t testing.TB, s *servertest.Server) []canary {
	t.Helper()
	p := &planter{t: t, s: s, owners: map[string]scope.Scope{}, refunds: map[int64]int64{}}
	p.watched, p.plain = columnsOf(t)
	// Those that others belong to come first.
	order := []string{"payments", "sends", "transfers", "deliveries"}
	tables := slices.Clone(models.All())
	slices.SortStableFunc(tables, func(a, b any) int {
		return slices.Index(order, p.table(b).name) - slices.Index(order, p.table(a).name)
	})
	for _, model := range tables {
		p.rows(model)
	}
	for name := range p.watched {
		if !slices.ContainsFunc(p.list, func(c canary) bool { return c.name == name }) {
			t.Errorf("no row has a canary in %s: let told make one", name)
		}
	}
	return p.list
}

// table is a table with the names of its text columns by the fields of its model.
type table struct {
	name  string
	texts map[string]string
}

func (p *planter) table(model any) table {
	p.t.Helper()
	statement := p.s.DB.Read(p.t.Context()).Model(model).Statement
	p.s.FailOn(statement.Parse(model))
	found := table{statement.Schema.Table, map[string]string{}}
	for _, field := range statement.Schema.Fields {
		if field.DataType == "string" {
			found.texts[field.Name] = field.DBName
		}
	}
	return found
}

// rows plants in every row of a table.
func (p *planter) rows(model any) {
	p.t.Helper()
	of := p.table(model)
	if slices.Contains(unwatched, of.name) && of.name != "deliveries" {
		return
	}
	for _, name := range of.texts {
		if _, watched := p.watched[of.name+"."+name]; !watched && !p.plain[of.name+"."+name] && of.name != "deliveries" {
			p.t.Errorf("private, plainColumns and unwatched say nothing of the text column %s.%s", of.name, name)
		}
	}
	found := reflect.New(reflect.SliceOf(reflect.TypeOf(model).Elem()))
	p.s.FailOn(p.s.DB.Exec(p.t.Context()).Find(found.Interface()).Error)
	for i := range found.Elem().Len() {
		row := found.Elem().Index(i)
		sc := p.owner(of, row)
		if id := row.FieldByName("ID"); id.IsValid() {
			p.owners[fmt.Sprint(of.name, id)] = sc
		}
		if of.name != "deliveries" {
			p.row(of, row, sc)
		}
	}
}

// owner returns the business and domain of a row, by its own columns or by those of its parent row.
func (p *planter) owner(of table, row reflect.Value) (sc scope.Scope) {
	for field, parent := range map[string]string{"PaymentID": "payments", "DeliveryID": "deliveries", "TransferID": "transfers", "SendID": "sends"} {
		if id := row.FieldByName(field); id.IsValid() {
			sc = p.owners[fmt.Sprint(parent, reflect.Indirect(id))]
		}
	}
	if id := row.FieldByName("BusinessID"); id.IsValid() {
		sc.BusinessID = id.Int()
	}
	if domain := row.FieldByName("Domain"); domain.IsValid() && of.name != "audits" { // whose log is one
		sc.Domain = scope.Domain(domain.String())
	}
	return sc
}

// row plants in one row.
func (p *planter) row(of table, row reflect.Value, sc scope.Scope) {
	p.t.Helper()
	changed := map[string]any{}
	for _, field := range slices.Sorted(maps.Keys(of.texts)) {
		columnName := of.texts[field]
		value, name := reflect.Indirect(row.FieldByName(field)), of.name+"."+columnName
		known, watched := p.watched[name]
		if !watched {
			continue
		}
		c := canary{column: known, business: sc.BusinessID, domain: sc.Domain, payment: p.paymentOf(of, row)}
		switch {
		case !known.kept:
			c.text = fmt.Sprintf("zq%04dqz", len(p.list))
			changed[columnName] = dressed(name, c.text)
		case value.IsValid() && len(value.String()) >= 12:
			c.text = value.String()
		default:
			continue
		}
		p.list = append(p.list, c)
	}
	if len(changed) > 0 {
		p.s.FailOn(p.s.DB.Exec(p.t.Context()).Model(row.Addr().Interface()).UpdateColumns(changed).Error)
	}
}

// paymentOf is the payment that a row is about.
func (p *planter) paymentOf(of table, row reflect.Value) int64 {
	id := row.FieldByName("PaymentID")
	if send := reflect.Indirect(row.FieldByName("SendID")); of.name == "send_claims" {
		return p.refunds[send.Int()]
	}
	if of.name == "sends" && !id.IsNil() {
		p.refunds[row.FieldByName("ID").Int()] = id.Elem().Int()
	}
	if of.name == "payments" {
		id = row.FieldByName("ID")
	}
	if id = reflect.Indirect(id); id.IsValid() {
		return id.Int()
	}
	return 0
}

// dressed is a canary in the form that a column has. Pages shorten hashes in their middle.
func dressed(name, text string) string {
	switch name {
	case "payments.metadata", "events.body", "audits.detail", "sends.metadata", "send_steps.detail":
		return `{"` + text + `":1}`
	case "notifications.detail":
		return `{"amount":"` + text + `"}`
	case "steps.detail":
		return `{"hash":"` + text + `"}`
	case "api_calls.path":
		return "/v1/payments?reference=" + text
	case "transfers.tx_id", "resolutions.tx_id", "transfers.address", "payments.address":
		return text + strings.Repeat("0", 48) + text
	case "links.redirect_url":
		return "https://shop.example/" + text
	case "mails.last_error":
		return "The mail server refused it: 550 <" + text + "@customer.example> is unknown."
	case "customers.email", "payments.customer_email", "mails.to_address", "invitations.email":
		return text + "@customer.example"
	}
	return text
}

// told makes what owned leaves out, so that each table of private has rows of the business
// in the domain: attempts, transfers, resolutions and the like.
func told(t testing.TB, s *servertest.Server, sc scope.Scope) {
	t.Helper()
	var payments []models.Payment
	s.FailOn(sc.Rows(s.DB.Exec(t.Context())).Find(&payments).Error)
	var deliveries []models.Delivery
	s.FailOn(sc.Rows(s.DB.Exec(t.Context())).Find(&deliveries).Error)
	metadata := "{}"
	for i, p := range payments {
		s.UpdatePayment(p.Reference, map[string]any{"metadata": metadata, "address": "a", "opened_at": s.Clock.Now()})
		transfer := models.Transfer{Network: p.Network, TxID: fmt.Sprint("tx", p.ID), Asset: p.Coin, Address: "a", BusinessID: sc.BusinessID,
			Domain: string(sc.Domain), PaymentID: &p.ID, FirstSeenAt: s.Clock.Now(), SeenAt: &p.CreatedAt, Amount: p.Due}
		add(s, &transfer)
		add(s, &models.Spend{Network: p.Network, TransferID: transfer.ID})
		add(s, &models.Resolution{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Kind: "refunded", PaymentID: &p.ID, Asset: p.Coin,
			Amount: p.Due, Actor: sc.Actor, CreatedAt: s.Clock.Now()})
		add(s, &models.PaymentNote{BusinessID: sc.BusinessID, Domain: string(sc.Domain), PaymentID: p.ID, Actor: sc.Actor,
			CreatedAt: s.Clock.Now()})
		add(s, &models.Destination{Network: p.Network, Address: fmt.Sprint("d", p.ID), Tag: -1, BusinessID: sc.BusinessID, Domain: string(sc.Domain),
			PaymentID: &p.ID, BarredAt: &p.CreatedAt, CreatedAt: s.Clock.Now()})
		add(s, &models.Holding{PaymentID: p.ID, Network: p.Network})
		if i == 0 {
			add(s, &models.Notification{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Kind: string(notification.Paid), Subject: p.Reference,
				Detail: "{}", Times: 1, CreatedAt: s.Clock.Now()})
			add(s, &models.Mail{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Kind: "receipt", About: p.Reference + "x", PaymentID: &p.ID,
				Outcome: "failed", DoneAt: &p.CreatedAt, CreatedAt: s.Clock.Now()})
		}
	}
	var sends []models.Send
	s.FailOn(sc.Rows(s.DB.Exec(t.Context())).Find(&sends).Error)
	for _, row := range sends {
		s.FailOn(s.DB.Exec(t.Context()).Model(&row).UpdateColumns(map[string]any{"metadata": metadata}).Error)
		add(s, &models.SendStep{SendID: row.ID, Number: 1, Detail: "{}", At: s.Clock.Now(), CreatedAt: s.Clock.Now()})
		add(s, &models.SendDestination{Network: row.Network, Address: row.Reference, CreatedAt: s.Clock.Now()})
		add(s, &models.PayoutAddress{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Network: row.Network, Address: row.Reference,
			CreatedAt: s.Clock.Now(), ReleasedAt: s.Clock.Now()})
	}
	for _, d := range deliveries {
		add(s, &models.DeliveryAttempt{DeliveryID: d.ID, Attempt: 1, At: s.Clock.Now(), Status: 500, Error: "The endpoint answered 500."})
		s.FailOn(s.DB.Exec(t.Context()).Model(&d).UpdateColumns(map[string]any{"attempt": 1, "tries": 1, "last_status": 500, "due_at": s.Clock.Now().Add(time.Hour)}).Error)
	}
}

func add(s *servertest.Server, row any) {
	s.T.Helper()
	s.FailOn(s.DB.Exec(s.T.Context()).Create(row).Error)
}
