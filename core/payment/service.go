package payment

import (
	"context"
	"time"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment/place"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/settings"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/models"
)

// The two clocks of a payment (contract section 4), both from initiation.
const (
	Window     = 7 * time.Minute
	Monitoring = 24 * time.Hour
)

// Quoter prices a coin by the rules of a business.
type Quoter interface {
	Quote(ctx context.Context, sc scope.Scope, coin money.Coin, currency money.Currency) (quote.Quote, error)
}

// Networks tells which networks serve a coin in a domain.
type Networks interface {
	networks.Chooser
	// Network is the network's id and whether it may take payments now; when
	// it may not, the sentence says why and what to do.
	Network(domain scope.Domain, c money.Chain) (network chain.Network, problem fault.Message)
	// Followed reports whether a network is configured, even while its nodes don't answer.
	Followed(network string) bool
	// Home returns the network that the addresses of a network are kept under.
	Home(network string) string
}

// Service is the life of payments. Its fields are set once, before use.
type Service struct {
	DB       *models.DB
	Clock    clock.Clock
	Secrets  *secret.Box
	Quotes   Quoter
	Networks Networks
	Wallet   *wallet.Service
	// Contracts holds the chain id and token of each real Ethereum network.
	Contracts map[chain.Network]place.Contract
	Events    *webhook.Service
	Receipts  *mail.Service
	// Depths are those that the operator raised.
	Depths settings.Depths
	// PageBase is the address under which payment pages live, without a
	// trailing slash: a page is PageBase/access_token.
	PageBase string
	// Restored is whether the database was restored from a backup: see emit.
	Restored models.Restored
	// Changed is called after commits that may concern open pages and workers.
	Changed func()
	// Reached is called after the commit of every change of state, for metrics
	// and traces; it may be nil, and must not block.
	Reached func(Change)

	verifying models.Batcher[verifiedScope, string, map[string]*View]
	takers    models.Batcher[scope.Scope, struct{}, *recipient]
}

// Change is a state that a payment reached.
type Change struct {
	Payment models.Payment // as it was written
	From    State          // "" when the payment was initiated
	Began   time.Time      // when Cointill began what led to it
}

// reportReached has a change told once the transaction is committed.
func (s *Service) reportReached(tx *models.Tx, p models.Payment, from State, began time.Time) {
	if s.Reached != nil {
		models.AfterCommit(tx, func() { s.Reached(Change{Payment: p, From: from, Began: began}) })
	}
}

// Request is what a payment is initiated with (interface section 2.1). The
// caller has checked the shapes that only it can see (JSON types); every rule
// on values is checked here, for the API, the payment link and the dashboard alike.
type Request struct {
	Currency          string
	Amount            int64
	FirstName         string
	LastName          string
	Email             string
	Method            string
	Network           string // code of the one to pay on; "" lets the customer choose
	BusinessReference string // "" lets the service make one
	Metadata          []byte // JSON text as given; nil when none
	RedirectURL       string // where the customer can go afterwards; "" for nowhere
	LinkID            *int64
	// Also runs in the payment's transaction, before p is stored; its error
	// refuses the payment. It may run again when the transaction does.
	Also func(tx *models.Tx, p models.Payment) error
}

// Started is the answer to Initiate.
type Started struct {
	Reference         string
	BusinessReference string
	AccessToken       string
	PaymentURL        string
	Amount            int64
	Currency          money.Currency
	ExpiresAt         time.Time
	Warnings          []string // what the merchant should know although the payment was started
}

// View is a payment with everything a page or an answer shows of it.
type View struct {
	Payment   models.Payment
	Business  models.Business   // not its rules: those are the payment's own
	Customer  models.Customer   // ID and Code only; name and e-mail as given stand in Payment
	Transfers []models.Transfer // that count, oldest first
	// Surplus are transfers that the payment ended without: the first MaxTransfers. SurplusSum is how
	// much of all of them is owed back. Refunded is the sum of the payment's refunds, and Sends are
	// its refunds by sends. Records and events have these four; other views are without them.
	Surplus              []models.Transfer
	SurplusSum, Refunded money.Amount
	Sends                []models.Send
	// Chain is the payment's own network; see chainOf for others.
	Chain Chain
	// Now is the time on the payment's own clock.
	Now time.Time

	contract place.Contract // of the payment's network
	further  []furtherNetwork
	// whether readFurther and readExtras find any, and whether readExtras did
	hasFurther, hasSurplus, hasRefunds, hasSends, extrasRead bool
	earlierReason                                            Reason // of a reversed payment: the reason before it was reversed
}

// Coin is the payment's coin.
func (v View) Coin() money.Coin { return money.Coin(v.Payment.Coin) }

// State is the payment's state.
func (v View) State() State { return State(v.Payment.Status) }
