package payment

import (
	"context"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"gorm.io/gorm"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// Verify finds a payment of the scope by the reference made here (PAY_…) or by
// the merchant's own.
func (s *Service) Verify(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	column := "business_reference"
	if strings.HasPrefix(reference, "PAY_") {
		column = "reference"
	}
	v, err := s.read(sc.Rows(s.DB.Point(ctx)).Where("payments."+column+" = ?", reference))
	return v, missing(err, "payment")
}

// ByToken finds a payment by the access token of its page.
func (s *Service) ByToken(ctx context.Context, token string) (View, error) {
	if len(token) > 64 {
		return View{}, fault.Missing("payment")
	}
	v, err := s.read(s.DB.Point(ctx).Where("payments.token_hash = ?", hashToken(token)))
	return v, missing(err, "payment")
}

// Timeline is what happened to a payment, in order.
func (s *Service) Timeline(ctx context.Context, sc scope.Scope, reference string) ([]models.Step, error) {
	v, err := s.Verify(ctx, sc, reference)
	if err != nil {
		return nil, err
	}
	var steps []models.Step
	err = s.DB.Read(ctx).Where("payment_id = ?", v.Payment.ID).Order("number").Find(&steps).Error
	return steps, err
}

// Filter says which payments to list. Zero fields don't filter.
type Filter struct {
	Query     string // either reference, a hash, an address or an e-mail
	Status    string
	Currency  string
	Method    string
	Reference string // prefix of either reference
	Email     string
	Hash      string
	Address   string
	LinkID    *int64     // started from this payment link
	From, To  *time.Time // created in [From, To)
	Before    int64      // keyset: only ids below; 0 begins with the newest
	Limit     int        // 1–100
}

// Page is one page of a list; Next is the Before of the next one, 0 when there is none.
type Page struct {
	Payments []models.Payment
	Next     int64
}

// Search lists the scope's payments, newest first.
func (s *Service) Search(ctx context.Context, sc scope.Scope, f Filter) (Page, error) {
	query := sc.Rows(s.DB.Read(ctx).Model(&models.Payment{}))
	for column, value := range map[string]string{"status": f.Status, "currency": f.Currency, "method": f.Method} {
		if value != "" {
			query = query.Where(column+" = ?", value)
		}
	}
	query = f.find(s.DB.Read(ctx), sc, query)
	if f.LinkID != nil {
		query = query.Where("link_id = ?", *f.LinkID)
	}
	if f.From != nil {
		query = query.Where("created_at >= ?", clock.Trim(*f.From))
	}
	if f.To != nil {
		query = query.Where("created_at < ?", clock.Trim(*f.To))
	}
	if f.Before > 0 {
		query = query.Where("id < ?", f.Before)
	}
	limit := min(max(f.Limit, 1), 100)
	var page Page
	if err := query.Order("id DESC").Limit(limit + 1).Find(&page.Payments).Error; err != nil {
		return Page{}, err
	}
	if len(page.Payments) > limit {
		page.Payments = page.Payments[:limit]
		page.Next = page.Payments[limit-1].ID
	}
	return page, nil
}

// find narrows a query to what a person typed into the search box, or to the single-purpose filters.
func (f Filter) find(db *models.Tx, sc scope.Scope, query *models.Tx) *models.Tx {
	text := strings.TrimSpace(f.Query)
	switch {
	case text == "":
	case strings.Contains(text, "@") && looksLikeEmail(text):
		f.Email = text
	case strings.HasPrefix(text, "PAY_"):
		f.Reference = text
	default:
		query = query.Where("(business_reference LIKE ? ESCAPE '\\' OR address = ? OR id IN (?))", prefix(text), text, byHash(db, sc, text))
	}
	if f.Reference != "" {
		query = query.Where("(reference LIKE ? ESCAPE '\\' OR business_reference LIKE ? ESCAPE '\\')", prefix(f.Reference), prefix(f.Reference))
	}
	if f.Email != "" {
		query = query.Where("customer_id IN (?)", sc.Rows(db.Session(&gorm.Session{NewDB: true}).Model(&models.Customer{})).
			Select("id").Where("email = ?", strings.ToLower(f.Email)))
	}
	if f.Hash != "" {
		query = query.Where("id IN (?)", byHash(db, sc, f.Hash))
	}
	if f.Address != "" {
		query = query.Where("address = ?", f.Address)
	}
	return query
}

// looksLikeEmail tells an e-mail from a business reference with an @ in it.
func looksLikeEmail(text string) bool {
	at := strings.LastIndexByte(text, '@')
	return at > 0 && strings.Contains(text[at:], ".")
}

func byHash(db *models.Tx, sc scope.Scope, hash string) *models.Tx {
	return sc.Rows(db.Session(&gorm.Session{NewDB: true}).Model(&models.Transfer{})).Select("payment_id").
		Where("tx_id IN ?", []string{hash, strings.ToLower(hash), strings.ToUpper(hash)}) // as chains write it, however it was typed
}

// prefix is a LIKE pattern for text and whatever follows.
func prefix(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// Summary is the overview's figures since a time.
type Summary struct {
	Count      int64 // payments initiated
	Ended      int64 // that reached an end
	Successful int64
	Volume     map[money.Currency]int64 // of the successful ones that were not reversed, whole units
	Declined   int64                    // waiting to be resolved
	Unmatched  int64                    // transfers that credit no payment
	Reversed   int64                    // taken back on the chain after they were final
	Days       []Day
}

// Day is one day of an overview's chart, in UTC.
type Day struct {
	Date       string // 2006-01-02
	Count      int64
	Successful int64
}

// Summary counts the scope's payments initiated since a time.
func (s *Service) Summary(ctx context.Context, sc scope.Scope, since time.Time) (Summary, error) {
	sum := Summary{Volume: map[money.Currency]int64{}}
	var rows []struct {
		Day      string
		Status   string
		Currency string
		Reversed bool
		N        int64
		Total    decimal.Decimal
	}
	day := "strftime('%Y-%m-%d', created_at)"
	if s.DB.Postgres() {
		day = "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
	}
	err := sc.Rows(s.DB.Read(ctx).Model(&models.Payment{})).Where("created_at >= ?", since).
		Select(day + " AS day, status, currency, reversed, count(*) AS n, sum(amount) AS total").Group("1, 2, 3, 4").Order("1").Find(&rows).Error
	if err != nil {
		return sum, err
	}
	for _, r := range rows {
		if n := len(sum.Days); n == 0 || sum.Days[n-1].Date != r.Day {
			sum.Days = append(sum.Days, Day{Date: r.Day})
		}
		today := &sum.Days[len(sum.Days)-1]
		today.Count += r.N
		sum.Count += r.N
		if State(r.Status).Final() {
			sum.Ended += r.N
		}
		if State(r.Status) == Successful {
			today.Successful += r.N
			sum.Successful += r.N
		}
		if State(r.Status) == Successful && !r.Reversed {
			sum.Volume[money.Currency(r.Currency)] += r.Total.IntPart()
		}
	}
	err = sc.Rows(s.DB.Read(ctx).Model(&models.Payment{})).Where("status = ?", string(Declined)).Count(&sum.Declined).Error
	if err != nil {
		return sum, err
	}
	err = sc.Rows(s.DB.Read(ctx).Model(&models.Payment{})).Where("status = ? AND reversed = ?", string(Successful), true).Count(&sum.Reversed).Error
	if err != nil {
		return sum, err
	}
	err = sc.Rows(s.DB.Read(ctx).Model(&models.Transfer{})).Where("unmatched <> ''").Count(&sum.Unmatched).Error
	return sum, err
}

// Resolve accepts a Declined payment in the name of a person: Successful, with
// the reason accepted_by_user. Owners and admins may.
func (s *Service) Resolve(ctx context.Context, sc scope.Scope, reference string) error {
	if err := sc.Can(scope.ResolvePayment); err != nil {
		return err
	}
	found, err := s.Verify(ctx, sc, reference)
	if err != nil {
		return err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := s.load(tx, found.Payment.ID)
		if err != nil {
			return err
		}
		if v.State() != Declined {
			return fault.New(fault.Conflict, "not_declined", "Only a declined payment can be accepted; this one is "+v.Payment.Status+".")
		}
		v.Payment.Status, v.Payment.Reason, v.Payment.SettledAt = string(Successful), string(AcceptedByUser), &v.Now
		v.Payment.Remark = v.remark()
		if err := account.Audit(tx, sc, s.Clock(), "payment.accept", v.Payment.Reference, nil); err != nil {
			return err
		}
		return s.record(tx, v, Declined, sc.Actor)
	})
	if err == nil {
		s.changed()
	}
	return err
}

// Rest is what is still to pay; zero when enough came.
func (v View) Rest() money.Amount {
	rest := v.Payment.Due.Sub(v.Payment.Paid)
	if rest.Sign() < 0 {
		return money.Amount{}
	}
	return rest
}

// Enough reports whether nothing more needs to be asked for, with the tolerance
// that the payment was made with.
func (v View) Enough() bool {
	least, _ := v.decideCase().bounds()
	return v.Payment.Paid.Cmp(least) >= 0
}

// SandboxChainID and SandboxToken stand for Ethereum's chain id and the USDT
// contract in the sandbox: wallets know no such chain, so nothing real can be sent by mistake.
const (
	SandboxChainID = 1337
	SandboxToken   = "0x5a4Db0C5a4dB0c5A4db0C5a4DB0C5A4dB0C5a4Db"
)

// Pay is where and how the rest of a payment is to be paid.
type Pay struct {
	Address  string
	Tag      *int64
	URI      string // what a wallet opens
	XAddress string // XRP only: address and tag in one
	Network  string // for people
}

// Destination is where and how to pay; its Address is empty before the payment is opened.
func (v View) Destination() Pay {
	p := v.Payment
	pay := Pay{Address: p.Address, Tag: p.Tag, Network: networkName(v.Coin(), p.Network)}
	if p.Address == "" {
		return pay
	}
	place := wallet.Place{Address: p.Address}
	if p.Tag != nil {
		tag := uint32(*p.Tag)
		place.Tag = &tag
		if x, err := wallet.XAddress(p.Address, &tag, p.Domain == string(scope.Test)); err == nil {
			pay.XAddress = x
		}
	}
	rest := v.Rest()
	if rest.Sign() == 0 {
		rest = p.Due
	}
	pay.URI = wallet.Asked{Coin: v.Coin(), Place: place, Amount: rest, Label: v.Business.Name, Message: p.Reference,
		ChainID: SandboxChainID, Token: SandboxToken}.URI()
	return pay
}

// networkName names a network for people: the coin's, and which test network
// it is where real wallets could mix it up with the main one.
func networkName(coin money.Coin, network string) string {
	info := coin.Info()
	if name, real := strings.CutPrefix(network, string(info.Chain)+"-"); real && name != "mainnet" {
		return info.Network + " " + name
	}
	return info.Network
}
