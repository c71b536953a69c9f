// Package send is the life of sends: refunds and payouts that the merchant's own wallet signs
// (contract section 7). It records who asked and who approved, gives the wallet the transaction to
// sign, recognises the transaction that pays a send, and follows it. It holds no key.
package send

import (
	"time"

	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send/addressbook"
	"cointill/core/send/letter"
	"cointill/core/send/payer"
	"cointill/core/send/request"
	"cointill/core/send/rules"
	"cointill/core/settings"
	"cointill/core/webhook"
	"cointill/models"
)

// State is a state of a send.
type State string

// The states of contract section 7.
const (
	AwaitingDestination State = "awaiting_destination" // a customer was asked for an address
	AwaitingApproval    State = "awaiting_approval"    // complete; approvers must agree
	Ready               State = "ready"                // approved; waits for the wallet
	Processing          State = "processing"           // a transaction that pays it was seen
	Successful          State = "successful"           // that transaction is final
	Failed              State = "failed"               // no transaction pays it any more
	Rejected            State = "rejected"             // an approver refused it
	Cancelled           State = "cancelled"            // withdrawn before it was signed
	Expired             State = "expired"              // no address was named, or it was not signed, in time
)

// States lists every state.
func States() []State {
	return []State{AwaitingDestination, AwaitingApproval, Ready, Processing, Successful, Failed, Rejected, Cancelled,
		Expired}
}

// Released reports that a send in this state takes no money: what it reserved can be sent again.
func (s State) Released() bool { return s == Rejected || s == Cancelled || s == Expired }

// The kinds of sends.
const (
	Refund = request.Refund
	Payout = request.Payout
)

// Request is what a send is asked for with.
type Request = request.Request

// Who named the address of a send.
const (
	ByCustomer = "customer"
	ByMerchant = "merchant"
)

// The prices at which an amount in fiat is converted.
const (
	RatePayment = request.RatePayment
	RateToday   = request.RateToday
)

// The codes of why a send is in its state.
const (
	Replaced     = "replaced"      // another transaction spent the same money, for good
	Reverted     = "reverted"      // the network recorded the transaction as failed
	Dropped      = "dropped"       // the transaction was not seen for six hours
	NotSigned    = "not_signed"    // it expired before a wallet sent it
	NotClaimed   = "not_claimed"   // the customer named no address in time
	Withdrawn    = "withdrawn"     // a person or a key of the business cancelled it
	NotAgreed    = "not_agreed"    // an approver rejected it
	NewAddress   = "new_address"   // its address is new and waits, or needs a second approver
	SentAnyway   = "sent_anyway"   // it was seen on the network after it had ended
	PaidTwice    = "paid_twice"    // a second transaction pays it
	ReversedCode = "reversed"      // its transaction left the chain after it was final
	SentAgain    = "approve_again" // it failed, and may still be on its way: it needs two approvers
	// SentInAnotherWay says that people say so: no transaction of it is known.
	SentInAnotherWay = "sent_in_another_way"
)

// The times of contract section 7.
const (
	WaitForAddress  = 30 * 24 * time.Hour
	WaitForWallet   = 30 * 24 * time.Hour
	WaitForFiat     = 24 * time.Hour       // for the wallet, where the amount is fixed in fiat
	AddressCooldown = addressbook.Cooldown // of a new payout address, and of loosened rules and new approvers
	unseenFor       = 6 * time.Hour        // after which a transaction counts as dropped
)

// Users is the part of core/account/auth that this package needs.
type Users interface {
	auth.Reauthenticator
	TicketToken(seed string) string
}

// Deps is what the service needs.
type Deps struct {
	DB       *models.DB
	Clock    clock.Clock
	Secrets  *secret.Box
	Quotes   payment.Quoter
	Networks payment.Networks
	Payments *payment.Service
	Resolver *payment.Resolver
	Users    Users
	Events   *webhook.Service
	Mails    mail.Notifier
	Depths   settings.Depths
	Restored models.Restored
	// Signers are the signers of real networks by the network's name. The sandbox's
	// networks need none.
	Signers map[string]payer.Signer
	// Render writes the mails about sends.
	Render func(letter.Letter) (subject, text, html string)
	// ClaimBase is the address under which customers name the address of a refund, without a
	// trailing slash: a page is ClaimBase/token.
	ClaimBase string
	// PageBase is the address below which each send has its page in the dashboard.
	PageBase string
	// HasMailServer tells whether mails are sent, not only kept.
	HasMailServer bool
	// Changed is called after commits that may concern open pages and workers.
	Changed func()
}

// store reads and writes sends, with what follows from each change.
type store struct {
	Deps
	rules *rules.Keeper
}

// Service asks for sends and lists them. Make one with New.
type Service struct {
	*store
	Approvals *Approvals
	Claims    *Claims
	Evaluator *Evaluator
	Signing   *Signing
	Addresses *addressbook.Book
	Rules     *rules.Keeper
}

// Approvals is what people decide about sends.
type Approvals struct{ *store }

// Claims lets the customer of a refund name its address.
type Claims struct{ *store }

// Evaluator brings sends to where evidence and time put them.
type Evaluator struct{ *store }

// New makes the service.
func New(d Deps) *Service {
	s := &store{d, &rules.Keeper{DB: d.DB, Clock: d.Clock, Secrets: d.Secrets, Users: d.Users}}
	return &Service{store: s, Approvals: &Approvals{s}, Claims: &Claims{s}, Evaluator: &Evaluator{s},
		Signing:   &Signing{s, &payer.Accounts{DB: d.DB, Clock: d.Clock, Users: d.Users, Signers: d.Signers}},
		Addresses: &addressbook.Book{DB: d.DB, Clock: d.Clock, Users: d.Users, Networks: d.Networks, Signers: d.Signers},
		Rules:     s.rules}
}

// View is a send with what pages and answers show of it.
type View struct {
	Send      models.Send
	Business  models.Business       // ID, Code, Name and TimeZone
	Payment   string                // reference of the payment; "" for none
	Transfers []models.Transfer     // that pay it, oldest first
	Approvals []models.SendApproval // that hold, oldest first
	Chain     payment.Chain         // how far its network is
	Now       time.Time             // on the send's own clock
	// Outstanding is as in Case. Lapsed says of a send that failed that the network takes none of the transactions that
	// it had then.
	Outstanding, Lapsed bool
}

// Coin is the send's coin.
func (v View) Coin() money.Coin { return money.Coin(v.Send.Coin) }

// State is the send's state.
func (v View) State() State { return State(v.Send.Status) }

// Amount formats the amount in whole coins; "" while an amount in fiat has none.
func (v View) Amount() string { return v.Coin().Format(v.Send.Amount) }

func clockAdvance(row models.Send) time.Duration { return time.Duration(row.Advanced) * time.Second }

// isLive reports that waits of new addresses, approvers and rules apply: in the test domain
// nothing is at risk, and integrators don't wait a day.
func isLive(row models.Send) bool { return row.Domain == string(scope.Live) }
