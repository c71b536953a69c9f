package payment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/shopspring/decimal"
	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/metadata"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment/reference"
	"cointill/core/payment/value"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/settings"
	"cointill/core/stats"
	"cointill/core/wallet"
	"cointill/core/wallet/oneaddress"
	"cointill/models"
)

// The bounds of interface section 2.1.
const (
	MinAmount = 1
	MaxAmount = 1_000_000
)

// Check reports the errors in the request's values, all fields at once, by JSON field name.
func (r Request) Check() fault.Fields {
	fields := fault.Fields{}
	switch currency := money.Currency(r.Currency); {
	case currency.IsKnown():
	case r.Currency == "GHS":
		fields.Add("currency", "Use GHC for the Ghana cedi.")
	default:
		fields.AddMessage("currency", money.UnknownCurrency)
	}
	if r.Amount < MinAmount || r.Amount > MaxAmount {
		fields.Add("amount", "Must be a whole number from 1 to 1,000,000.")
	}
	fields.AddMessage("first_name", contact.CheckName(r.FirstName))
	fields.AddMessage("last_name", contact.CheckName(r.LastName))
	fields.AddMessage("email", contact.CheckEmail(r.Email))
	if _, ok := money.Method(r.Method).Info(); !ok {
		fields.AddMessage("payment_method", money.UnknownMethod)
	}
	fields.AddMessage("business_reference", reference.Check(r.BusinessReference, "PAY_"))
	fields.AddMessage("metadata", metadata.Check(r.Metadata))
	fields.AddMessage("redirect_url", contact.CheckRedirect(r.RedirectURL))
	return fields
}

// Initiate starts a payment: it locks a quote and stores the payment, its
// customer and its first timeline row in one transaction.
//
// Faults: Invalid with every field at once; Forbidden when the method is not
// enabled; Conflict for a business_reference that is taken; Unavailable when
// there is no rate or no chain.
func (s *Service) Initiate(ctx context.Context, sc scope.Scope, r Request) (Started, error) {
	if err := sc.CheckAction(scope.StartPayments); err != nil {
		return Started{}, err
	}
	if err := fault.Validation(r.Check()); err != nil {
		return Started{}, err
	}
	info, _ := money.Method(r.Method).Info()
	ready, err := s.checkReady(ctx, sc, info, money.Chain(r.Network))
	if err != nil {
		return Started{}, err
	}
	q, err := s.Quotes.Quote(ctx, sc, info.Coin, money.Currency(r.Currency))
	if err != nil {
		return Started{}, err
	}
	p, err := s.draftPayment(sc, r, info, ready.business, q)
	if err != nil {
		return Started{}, err
	}
	rule := settings.FinalRule{Depth: p.FinalDepth, NetworkSays: p.FinalByNetwork}
	rule = rule.On(ready.network)
	p.Network, p.FinalDepth, p.FinalByNetwork = ready.network, rule.Depth, rule.NetworkSays
	return idempotency.Do(ctx, s.DB, func(tx *models.Tx) (Started, error) {
		return s.describeStarted(p, ready.oneAddress), s.insertPayment(tx, sc, r, p)
	})
}

// checkReady checks that the business may take the coin now: its method and a network are on, and the network
// answers. code is the network that is asked for; "" for any.
func (s *Service) checkReady(ctx context.Context, sc scope.Scope, info money.CoinInfo,
	code money.Chain) (ready readiness, err error) {
	asking, err := s.takers.Get(ctx, sc, struct{}{}, s.readRecipient)
	if err != nil {
		return ready, err
	}
	ready.business = asking.business
	if !asking.enabled[info.Method] {
		return ready, account.NotEnabled(sc, info.Method)
	}
	ready.network, err = networks.Choose(s.Networks, sc.Domain, info, asking.accepted[info.Method], code)
	if err != nil {
		return ready, err
	}
	script, receives, err := s.Wallet.Ready(ctx, sc, chain.Network(s.Networks.Home(ready.network)))
	ready.oneAddress = script == wallet.ScriptAddress
	if err == nil && !receives {
		err = fault.New(fault.Forbidden, "payment_method_not_enabled",
			"The payment method %s has nothing to receive "+
				"with yet. Add your wallet's public key in the dashboard under Payment methods.", info.Method)
	}
	return ready, err
}

// readiness is how a business takes a coin now: on which network, and whether it receives with one address.
type readiness struct {
	business   models.Business
	network    string
	oneAddress bool
}

// recipient is who payments are made for, as it is when they are asked for.
type recipient struct {
	business models.Business
	enabled  map[money.Method]bool
	accepted map[money.Method][]money.Chain // networks that are on
}

func (s *Service) readRecipient(ctx context.Context, sc scope.Scope, _ []struct{}) (*recipient, error) {
	var t recipient
	if err := s.DB.Point(ctx).Where("id = ?", sc.BusinessID).Take(&t.business).Error; err != nil {
		return nil, err
	}
	var err error
	if t.enabled, err = account.Enabled(s.DB.Point(ctx), sc); err != nil {
		return nil, err
	}
	t.accepted, err = networks.Accepted(s.DB.Point(ctx), sc, s.Networks)
	return &t, err
}

// draftPayment fills the payment from the request, the quote and the business's rules.
func (s *Service) draftPayment(sc scope.Scope, r Request, info money.CoinInfo, business models.Business,
	q quote.Quote) (*models.Payment, error) {
	evidence, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	now := s.Clock()
	charged := decimal.NewFromInt(r.Amount)
	due := info.Coin.FromFiat(charged, q.Price)
	rule := settings.FindFinalRule(s.Depths.DepthsOf(business)[info.Coin], info.Coin, info.Coin.ToFiat(due, q.PriceUSD))
	reference := ident.New("PAY_")
	wake := justAfter(now.Add(Window))
	p := &models.Payment{
		BusinessID: sc.BusinessID, Domain: string(sc.Domain), Reference: reference, BusinessReference: r.BusinessReference,
		TokenHash: HashToken(deriveAccessToken(s.Secrets, reference)), AuthorizationCode: ident.New("AUTH_"), LinkID: r.LinkID,
		RedirectURL:  r.RedirectURL,
		CustomerName: r.FirstName + " " + r.LastName, CustomerEmail: r.Email,
		Currency: r.Currency, Amount: r.Amount, Method: r.Method, Coin: string(info.Coin),
		Due: due, Price: q.Price.String(), Quote: string(evidence),
		NetworkFixed: r.Network != "",
		FinalDepth:   rule.Depth, FinalByNetwork: rule.NetworkSays,
		UnderTolerance: business.UnderTolerance, OverTolerance: business.OverTolerance,
		LatePayments: business.LatePayments,
		Status:       string(Pending), Remark: noRemark, Steps: 1, DueAt: &wake,
		ExpiresAt: now.Add(Window), AbandonsAt: now.Add(Monitoring), CreatedAt: now, UpdatedAt: now,
	}
	if p.BusinessReference == "" {
		p.BusinessReference = ident.New("REF_")
	}
	if r.Metadata != nil {
		text := string(r.Metadata)
		p.Metadata = &text
	}
	return p, nil
}

// insertPayment stores the customer, the payment and its first timeline row.
func (s *Service) insertPayment(tx *models.Tx, sc scope.Scope, r Request, p *models.Payment) error {
	if r.Also != nil {
		if err := r.Also(tx, *p); err != nil {
			return err
		}
	}
	customer := models.Customer{
		BusinessID: sc.BusinessID, Domain: string(sc.Domain), Email: strings.ToLower(r.Email), Code: ident.New("CUS_"),
		FirstName: r.FirstName, LastName: r.LastName, SearchName: contact.FoldName(r.FirstName + " " + r.LastName),
		SearchLast: contact.FoldName(r.LastName),
		CreatedAt:  p.CreatedAt, UpdatedAt: p.CreatedAt,
	}
	err := tx.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "email"}},
		// A name stays as first given: each payment keeps its own, and everybody can give an address.
		DoUpdates: clause.AssignmentColumns([]string{"updated_at"}),
	}, clause.Returning{Columns: []clause.Column{{Name: "id"}}}).Create(&customer).Error
	if err != nil {
		return err
	}
	p.ID, p.CustomerID = 0, customer.ID // a transaction may be run again
	made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(p)
	if made.Error != nil {
		return made.Error
	}
	if made.RowsAffected == 0 { // the random references can't collide: it is the merchant's
		return &fault.Fault{Kind: fault.Conflict, Code: "duplicate_business_reference",
			Sentence: fault.NewMessage("A payment with this business_reference exists already. Verify that one, or " +
				"use another reference."),
			Fields: fault.Fields{"business_reference": {fault.NewMessage("Has been used before.")}}}
	}
	if err := stats.NoteChange(tx, stats.Standing{}, *p); err != nil {
		return err
	}
	if err := value.Insert(tx, *p); err != nil {
		return err
	}
	s.reportReached(tx, *p, "", p.CreatedAt)
	return tx.Create(&models.Step{
		PaymentID: p.ID, Number: 1, Kind: StepState, To: string(Pending), Remark: noRemark, Detail: "{}",
		Actor: sc.Actor, At: p.CreatedAt, CreatedAt: p.CreatedAt,
	}).Error
}

// deriveAccessToken returns the access token of a payment: derived, so that it stands nowhere in
// the database.
func deriveAccessToken(box *secret.Box, reference string) string {
	return box.Derive("access_token", reference)
}

// TokenLength is the length of an access token: 256 bits.
const TokenLength = 43

// HashToken returns what a payment page is looked up by.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// PageURL is the address of a payment's page.
func (s *Service) PageURL(p models.Payment) string {
	return s.PageBase + "/" + deriveAccessToken(s.Secrets, p.Reference)
}

func (s *Service) describeStarted(p *models.Payment, oneAddress bool) Started {
	started := Started{
		Reference: p.Reference, BusinessReference: p.BusinessReference, AccessToken: deriveAccessToken(s.Secrets, p.Reference),
		PaymentURL: s.PageURL(*p), Amount: p.Amount, Currency: money.Currency(p.Currency), ExpiresAt: p.ExpiresAt,
	}
	if info := money.Coin(p.Coin).Info(); TooSmall(*p) {
		started.Warnings = []string{info.Coin.Format(p.Due) + " " + p.Coin + " is less than the " + info.Network +
			" network can carry (" + info.FormatDustLimit() + "), so the payment's page shows no address. " +
			"Use another payment method for this amount."}
	} else if oneAddress && !oneaddress.HasAmounts(info.Coin, p.Due) {
		started.Warnings = []string{info.Coin.Format(p.Due) + " " + p.Coin + " is too small to be told apart from " +
			"other payments at one address, so the payment's page shows no address. Use another payment method for " +
			"this amount."}
	}
	return started
}

// ErrTooSmall refuses to start, or to play, a payment of less than its network can carry.
var ErrTooSmall = fault.New(fault.Conflict, "amount_too_small",
	"This amount is too small for the coin's network. Choose another coin, or a larger amount.")

// TooSmall reports a payment of less than its network can carry. It is never given a
// destination: it stays Pending and expires.
func TooSmall(p models.Payment) bool { return !money.Coin(p.Coin).Info().Carries(p.Due) }
