package link

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"gorm.io/gorm"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/models"
)

// The states of a link.
const (
	Open     = "open"
	Inactive = "inactive"
	Expired  = "expired"
	UsedUp   = "used_up"
	// NoCoin is an open link that can't be paid, because none of its coins can be paid
	// with now; only its merchant sees this reason.
	NoCoin = "no_coin"
)

// Public is what a customer may know of a link.
type Public struct {
	Link     models.Link
	Business models.Business
	Scope    scope.Scope
	Methods  []money.CoinInfo // that the customer may choose from now
	State    string
}

// FindPublic finds a link by the code in its address.
func (s *Service) FindPublic(ctx context.Context, code string) (Public, error) {
	var rows []models.Link
	if err := s.DB.Read(ctx).Where("code = ?", code).Limit(1).Find(&rows).Error; err != nil {
		return Public{}, err
	}
	if len(rows) == 0 {
		return Public{}, fault.Missing("payment link")
	}
	p := Public{Link: rows[0], State: StateOf(rows[0], s.Clock())}
	p.Scope = scope.Scope{BusinessID: p.Link.BusinessID, Domain: scope.Domain(p.Link.Domain),
		Actor: fmt.Sprintf("link:%d", p.Link.ID), Role: scope.System}
	if err := s.DB.Read(ctx).Where("id = ?", p.Link.BusinessID).Take(&p.Business).Error; err != nil {
		return p, err
	}
	payable, err := s.ListPayable(ctx, p.Scope)
	p.Methods = OfferedCoins(p.Link, payable)
	if p.Link.Amount != nil {
		p.Methods = slices.DeleteFunc(p.Methods, func(coin money.CoinInfo) bool {
			return !s.canCarry(ctx, p, coin, *p.Link.Amount)
		})
	}
	return p, err
}

// canCarry reports whether a coin's network can carry an amount of a link's currency at the
// current price. Without a price it can: starting the payment reports that there is none.
func (s *Service) canCarry(ctx context.Context, p Public, coin money.CoinInfo, amount int64) bool {
	if coin.DustLimit == 0 {
		return true
	}
	q, err := s.Prices.Quote(ctx, p.Scope, coin.Coin, money.Currency(p.Link.Currency))
	return err != nil || coin.Carries(coin.Coin.FromFiat(decimal.NewFromInt(amount), q.Price))
}

// ListPayable lists the coins of a scope that can be paid now: switched on, on a
// network that takes payments. The name of a coin's network is the names of all of these.
func (s *Service) ListPayable(ctx context.Context, sc scope.Scope) (coins []money.CoinInfo, err error) {
	var enabled []string
	if err := sc.Rows(s.DB.Read(ctx).Model(&models.Method{})).Where("enabled = ?", true).
		Pluck("code", &enabled).Error; err != nil {
		return nil, err
	}
	accepted, err := networks.Accepted(s.DB.Read(ctx), sc, s.Networks)
	if err != nil {
		return nil, err
	}
	for _, info := range money.Coins() {
		if !slices.Contains(enabled, string(info.Method)) {
			continue
		}
		if s.Networks != nil {
			if info.Network = s.nameWorking(sc.Domain, info, accepted[info.Method]); info.Network == "" {
				continue
			}
		}
		coins = append(coins, info)
	}
	return coins, nil
}

// OfferedCoins returns which of some coins a link is for. Of those that are payable its customers choose.
func OfferedCoins(l models.Link, all []money.CoinInfo) (coins []money.CoinInfo) {
	for _, info := range all {
		if l.Methods == "" || slices.Contains(strings.Split(l.Methods, ","), string(info.Method)) {
			coins = append(coins, info)
		}
	}
	return coins
}

// StateOf returns whether a link can be paid now, and if not, why.
func StateOf(l models.Link, now time.Time) string {
	switch {
	case !l.Active:
		return Inactive
	case l.ExpiresAt != nil && !now.Before(*l.ExpiresAt):
		return Expired
	case l.UsageLimit != nil && l.Used >= *l.UsageLimit:
		return UsedUp
	}
	return Open
}

// StateFor is the state as its merchant sees it: State, or NoCoin. payable is
// what the link's scope can be paid with now.
func StateFor(l models.Link, payable []money.CoinInfo, now time.Time) string {
	if state := StateOf(l, now); state != Open || len(OfferedCoins(l, payable)) > 0 {
		return state
	}
	return NoCoin
}

// Form is what a customer fills in on a link's page.
type Form struct {
	Amount    int64 // only where the amount is open
	FirstName string
	LastName  string
	Email     string
	Method    string
}

// nameWorking names the accepted networks of a coin that can take a payment now.
func (s *Service) nameWorking(domain scope.Domain, info money.CoinInfo, accepted []money.Chain) string {
	var names []string
	for _, one := range networks.Offered(s.Networks, domain, info, accepted) {
		if s.Networks.Problem(one.Network).IsZero() {
			names = append(names, place.NameNetwork(info.Coin, one.Network))
		}
	}
	return strings.Join(names, ", ")
}

// StartPayment starts a payment from a link's page. The use is counted in the payment's
// own transaction, so that there is neither without the other.
func (s *Service) StartPayment(ctx context.Context, code string, f Form) (payment.Started, error) {
	public, err := s.FindPublic(ctx, code)
	if err != nil {
		return payment.Started{}, err
	}
	link := public.Link
	if public.State != Open {
		return payment.Started{}, errClosed(public.State)
	}
	request := payment.Request{Currency: link.Currency, Amount: f.Amount, FirstName: f.FirstName, LastName: f.LastName,
		Email: f.Email, Method: f.Method, LinkID: &link.ID}
	if link.Amount != nil {
		request.Amount = *link.Amount
	}
	fields := request.Check()
	if link.Amount == nil && (f.Amount < link.MinAmount || f.Amount > link.MaxAmount) {
		delete(fields, "amount")
		fields.Add("amount", "Must be a whole number from %d to %d.", link.MinAmount, link.MaxAmount)
	}
	if !slices.ContainsFunc(public.Methods, func(i money.CoinInfo) bool { return string(i.Method) == f.Method }) {
		delete(fields, "payment_method")
		fields.Add("payment_method", "Choose one of the coins offered.")
	}
	if err := fault.Validation(fields); err != nil {
		return payment.Started{}, err
	}
	request.Also = func(tx *models.Tx, p models.Payment) error {
		if payment.TooSmall(p) {
			return payment.ErrTooSmall
		}
		return takeUse(tx, link.ID)
	}
	return s.Payments.Initiate(ctx, public.Scope, request)
}

// takeUse counts one use, unless the link was switched off or used up meanwhile.
func takeUse(tx *models.Tx, id int64) error {
	taken := tx.Model(&models.Link{}).Where("id = ? AND active = ? AND (usage_limit IS NULL OR used < usage_limit)", id,
		true).
		Update("used", gorm.Expr("used + 1"))
	if taken.Error == nil && taken.RowsAffected == 0 {
		return errClosed(UsedUp)
	}
	return taken.Error
}

// errClosed says why a link starts no payment.
func errClosed(state string) error {
	sentences := map[string]fault.Message{
		Inactive: fault.NewMessage("This payment link was switched off by the merchant."),
		Expired:  fault.NewMessage("This payment link has expired. Ask the merchant for a new one."),
		UsedUp: fault.NewMessage("This payment link has been used as often as it may be. " +
			"Ask the merchant for a new one."),
	}
	return fault.New(fault.Gone, "link_"+state, "%s", sentences[state])
}
