// Package bulk fills a database with many payments of many merchants in the test domain, to
// measure lists, searches and exports at size. The rows are only for reading: nothing watches
// these payments, and they have no quote.
package bulk

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/value"
	"cointill/core/scope"
	"cointill/models"
)

// Plan says how much to make.
type Plan struct {
	Business int64     // whose most payments are
	Its      int       // payments of that business
	Others   int       // other merchants, which are made
	Theirs   int       // payments of all others together
	Until    time.Time // the newest payment's time; the oldest is a year older
	Told     func(made, all int)
}

// chunk is how many payments one transaction stores.
const chunk = 500

// span is the time in which the payments were made.
const span = 365 * 24 * time.Hour

// Fill makes the payments of the plan, oldest first, with their customers, and
// with a transfer where money came. The same plan gives the same payments, but
// for their references.
func Fill(ctx context.Context, db *models.DB, p Plan) error {
	owners := []int64{p.Business}
	for range p.Others {
		owners = append(owners, 0)
	}
	if err := merchants(ctx, db, owners, clock.Trim(p.Until)); err != nil {
		return err
	}
	all := p.Its + p.Theirs
	known := map[string]int64{}
	for made := 0; made < all; {
		var drafts []draft
		for ; made < all && len(drafts) < chunk; made++ {
			at := clock.Trim(p.Until.Add(-span + time.Duration(int64(span)/int64(all)*int64(made+1))))
			drafts = append(drafts, draftOf(made, owner(p, owners, made), at))
		}
		err := db.Write(ctx, func(tx *models.Tx) error { return store(tx, drafts, known) })
		if err != nil {
			return err
		}
		if p.Told != nil {
			p.Told(made, all)
		}
	}
	// The figures were not counted for these payments, so all are counted again.
	return db.Exec(ctx).Model(&models.Tally{}).Where("1 = 1").Update("ready", false).Error
}

// owner spreads the merchants evenly over the time.
func owner(p Plan, owners []int64, n int) int64 {
	all := p.Its + p.Theirs
	if p.Others == 0 || (n+1)*p.Its/all > n*p.Its/all {
		return owners[0]
	}
	return owners[1+n%p.Others]
}

func merchants(ctx context.Context, db *models.DB, ids []int64, at time.Time) error {
	var rows []models.Business
	for i := 1; i < len(ids); i++ {
		rows = append(rows, models.Business{Code: ident.New("BUS_"), Name: fmt.Sprintf("Merchant %d", i),
			TimeZone:       "Africa/Lagos",
			UnderTolerance: 50, OverTolerance: 50, LatePayments: "accept", CreatedAt: at, UpdatedAt: at})
	}
	if len(rows) == 0 {
		return nil
	}
	err := db.Write(ctx, func(tx *models.Tx) error { return tx.Create(&rows).Error })
	for i, row := range rows {
		ids[i+1] = row.ID
	}
	return err
}

// draft is a payment with who pays it.
type draft struct {
	payment  models.Payment
	customer models.Customer
}

var (
	firstNames = []string{"Ngozi", "Kwame", "Wanjiru", "Ọlá", "Amina", "Chidi", "Fatima", "Kofi", "Zainab", "Emeka"}
	lastNames  = []string{"Okafor", "Mensah", "Kamau", "Adéyemí", "Bello", "Eze", "Otieno", "Owusu", "Mwangi",
		"Balogun", "Achieng", "Danjuma"}
	states = []payment.State{payment.Successful, payment.Successful, payment.Successful, payment.Successful,
		payment.Successful, payment.Successful,
		payment.Successful, payment.Successful, payment.Successful, payment.Successful, payment.Successful,
		payment.Successful,
		payment.Expired, payment.Expired, payment.Expired, payment.Abandoned, payment.Abandoned, payment.Declined,
		payment.Processing, payment.Initiated}
)

// draftOf is the n-th payment. Failed and pending ones are rare, and so is Dogecoin.
func draftOf(n int, business int64, at time.Time) draft {
	mixed := n * 7919 % 1_000_003
	info := money.Coins()[mixed%4]
	if mixed%40 == 0 {
		info = money.Coins()[4]
	}
	state := states[mixed%len(states)]
	switch {
	case mixed%500 == 1:
		state = payment.Failed
	case mixed%250 == 2:
		state = payment.Pending
	}
	person := mixed % 200_003
	first, last := firstNames[person%len(firstNames)], lastNames[person%len(lastNames)]
	email := fmt.Sprintf("payer%d@example.com", person)
	customer := models.Customer{BusinessID: business, Domain: string(scope.Test), Email: email, Code: ident.New("CUS_"),
		FirstName: first, LastName: last,
		SearchName: contact.FoldName(first + " " + last), SearchLast: contact.FoldName(last), CreatedAt: at, UpdatedAt: at}
	due := money.Units(int64(10_000 + mixed))
	channel := []string{"web", "web", "web", "web", "ussd"}[mixed%5]
	metadata := fmt.Sprintf(`{"invoice":"INV-%d","channel":"%s"}`, n, channel)
	p := models.Payment{
		BusinessID: business, Domain: string(scope.Test), Reference: ident.New("PAY_"),
		BusinessReference: fmt.Sprintf("order-%s-%d", at.Format("20060102"), n),
		TokenHash:         ident.New("bulk_"), AuthorizationCode: ident.New("AUTH_"), CustomerName: first + " " + last,
		CustomerEmail: email,
		Currency:      string(money.Currencies()[mixed/7%4]), Amount: int64(mixed%1_000_000 + 1),
		Method: string(info.Method), Coin: string(info.Coin),
		Network: "bulk-" + string(info.Chain), Due: due, Price: "1", Quote: "{}", Metadata: &metadata,
		FinalDepth: 1, LatePayments: "accept",
		Status: string(state), Remark: "-", ExpiresAt: at.Add(payment.Window), AbandonsAt: at.Add(payment.Monitoring),
		CreatedAt: at, UpdatedAt: at,
	}
	if state != payment.Pending && state != payment.Expired {
		p.Address, p.OpenedAt = ident.New("bulk"), &at
	}
	if state == payment.Successful || state == payment.Declined || state == payment.Processing {
		p.Paid, p.FirstSeenAt = due, &at
	}
	if state == payment.Declined {
		p.Reason, p.Paid = string(payment.Underpaid), money.Units(9_000)
	}
	return draft{p, customer}
}

// store writes payments with their customers and timelines. known holds the ids of customers
// that were stored before, by business and e-mail.
func store(tx *models.Tx, drafts []draft, known map[string]int64) error {
	var fresh []*models.Customer
	mine := map[string]*models.Customer{}
	for i := range drafts {
		c := &drafts[i].customer
		key := fmt.Sprint(c.BusinessID, " ", c.Email)
		if _, ok := known[key]; !ok && mine[key] == nil {
			mine[key] = c
			fresh = append(fresh, c)
		}
	}
	again := clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "email"}},
		DoUpdates: clause.AssignmentColumns([]string{"updated_at"})}
	if len(fresh) > 0 {
		if err := tx.Clauses(again).Create(&fresh).Error; err != nil {
			return err
		}
	}
	for key, c := range mine {
		known[key] = c.ID
	}
	rows := make([]models.Payment, len(drafts))
	for i := range drafts {
		rows[i] = drafts[i].payment
		rows[i].CustomerID = known[fmt.Sprint(drafts[i].customer.BusinessID, " ", drafts[i].customer.Email)]
	}
	if err := tx.Create(&rows).Error; err != nil {
		return err
	}
	if err := value.Insert(tx, rows...); err != nil {
		return err
	}
	return storeMoney(tx, rows)
}

// storeMoney writes the destinations and transfers of payments.
func storeMoney(tx *models.Tx, rows []models.Payment) error {
	var places []models.Destination
	var transfers []models.Transfer
	for i := range rows {
		p := &rows[i]
		if p.Address != "" {
			places = append(places, models.Destination{Network: p.Network, Address: p.Address, Tag: -1,
				BusinessID: p.BusinessID, Domain: p.Domain, PaymentID: &p.ID, CreatedAt: p.CreatedAt})
		}
		if p.Paid.Sign() > 0 {
			transfers = append(transfers, models.Transfer{Network: p.Network, TxID: ident.RandomText(64), Asset: p.Coin,
				Address: p.Address, Amount: p.Paid,
				FirstSeenAt: p.CreatedAt, BusinessID: p.BusinessID, Domain: p.Domain, PaymentID: &p.ID,
				SeenAt: &p.CreatedAt, CreatedAt: p.CreatedAt, UpdatedAt: p.CreatedAt})
		}
	}
	if len(places) > 0 {
		if err := tx.Create(&places).Error; err != nil {
			return err
		}
	}
	if len(transfers) > 0 {
		return tx.Create(&transfers).Error
	}
	return nil
}
