package payment

import (
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/models"
)

// MaxTransfers bounds how many of a payment's transfers a record or a page lists, the oldest
// first. Amounts count all. No customer pays in so many parts, but anyone can send dust to an
// address.
const MaxTransfers = 100

// Record is the payment record of interface section 2.3: the verification
// answer, and the data of every event.
type Record struct {
	Domain            string         `json:"domain"`
	Reference         string         `json:"reference"`
	BusinessReference string         `json:"business_reference"`
	AuthorizationCode string         `json:"authorization_code"`
	Status            string         `json:"status"`
	Reason            string         `json:"reason"`
	Remark            string         `json:"remark"`
	Reversed          bool           `json:"reversed"`
	Business          RecordBusiness `json:"business"`
	Customer          RecordCustomer `json:"customer"`
	Transaction       RecordDetail   `json:"transaction"`
	Transfers         []RecordMove   `json:"transfers"`
	Sends             []RecordSend   `json:"sends"`
	Rate              RecordRate     `json:"rate"`
	ExpiresAt         string         `json:"expires_at"`
	CompletedAt       *string        `json:"completed_at"` // null before it is Successful or Declined
	CreatedAt         string         `json:"created_at"`
}

// RecordBusiness is the merchant in a record.
type RecordBusiness struct {
	Name   string `json:"name"`
	Code   string `json:"code"`
	Domain string `json:"domain"`
}

// RecordCustomer is the payer in a record.
type RecordCustomer struct {
	FullName string `json:"full_name"`
	Email    string `json:"email"`
	Code     string `json:"code"`
}

// RecordMethod is the payment method in a record.
type RecordMethod struct {
	Code     string `json:"code"`
	Currency string `json:"currency"`
}

// RecordDetail is data.transaction of interface section 2.3, with the exact difference between
// the amounts due and received.
type RecordDetail struct {
	ChargedAmount         string          `json:"charged_amount"`
	AmountPaid            string          `json:"amount_paid"`
	Difference            string          `json:"difference"` // paid minus charged
	Currency              string          `json:"currency"`
	ChargedAmountInCrypto string          `json:"charged_amount_in_crypto"`
	AmountPaidInCrypto    string          `json:"amount_paid_in_crypto"`
	DifferenceInCrypto    string          `json:"difference_in_crypto"`
	SurplusInCrypto       string          `json:"surplus_in_crypto"`
	RefundedAmount        string          `json:"refunded_amount"`
	RefundedInCrypto      string          `json:"refunded_amount_in_crypto"`
	PaymentMethod         RecordMethod    `json:"payment_method"`
	CryptoTransactionHash string          `json:"crypto_transaction_hash"`
	CryptoConfirmations   int64           `json:"crypto_confirmations"`
	Metadata              json.RawMessage `json:"metadata"`
}

// RecordMove is one transfer in a record.
type RecordMove struct {
	Hash          string `json:"hash"`
	Network       string `json:"network"`
	Amount        string `json:"amount"`
	Counts        bool   `json:"counts"`       // it is part of the amount paid
	Surplus       bool   `json:"surplus"`      // the payment ended without it, or it came later
	UnmatchedID   string `json:"unmatched_id"` // of a surplus transfer under Unmatched; "" for others
	Confirmations int64  `json:"confirmations"`
	Status        string `json:"status"` // pending, confirmed, replaced, dropped, reorged or reverted
	FirstSeenAt   string `json:"first_seen_at"`
}

// RecordSend is a refund by a send in a record. It has no destination, note or person.
type RecordSend struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Amount string `json:"amount"`
	Hash   string `json:"hash"`
}

// RecordRate is the locked price in a record.
type RecordRate struct {
	Price    string `json:"price"` // fiat units for one whole coin
	Coin     string `json:"coin"`
	Currency string `json:"currency"`
	LockedAt string `json:"locked_at"`
}

// Record writes the view as answers and events carry it.
func (v View) Record() Record {
	p, coin := v.Payment, v.Coin()
	r := Record{
		Domain: p.Domain, Reference: p.Reference, BusinessReference: p.BusinessReference,
		AuthorizationCode: p.AuthorizationCode, Status: p.Status, Reason: p.Reason, Remark: p.Remark,
		Reversed: p.Reversed,
		Business: RecordBusiness{Name: v.Business.Name, Code: v.Business.Code, Domain: p.Domain},
		Customer: RecordCustomer{FullName: p.CustomerName, Email: p.CustomerEmail, Code: v.Customer.Code},
		Transaction: RecordDetail{
			ChargedAmount: money.FormatFiat(v.Charged()), AmountPaid: money.FormatFiat(v.PaidFiat()),
			Currency:              p.Currency,
			Difference:            money.FormatFiat(v.PaidFiat().Sub(v.Charged())),
			ChargedAmountInCrypto: coin.Format(p.Due), AmountPaidInCrypto: coin.Format(p.Paid),
			DifferenceInCrypto: coin.Format(p.Paid.Sub(p.Due)), SurplusInCrypto: coin.Format(v.SurplusSum),
			RefundedAmount: money.FormatFiat(v.Fiat(v.Refunded)), RefundedInCrypto: coin.Format(v.Refunded),
			PaymentMethod: RecordMethod{Code: p.Method, Currency: p.Coin},
			Metadata:      json.RawMessage("null"),
		},
		Transfers: []RecordMove{}, Sends: []RecordSend{},
		Rate:      RecordRate{Price: p.Price, Coin: p.Coin, Currency: p.Currency, LockedAt: clock.Format(p.CreatedAt)},
		ExpiresAt: clock.Format(p.ExpiresAt), CreatedAt: clock.Format(p.CreatedAt),
	}
	if p.Metadata != nil {
		r.Transaction.Metadata = json.RawMessage(*p.Metadata)
	}
	if at := CompletedAt(p); at != nil {
		completed := clock.Format(*at)
		r.CompletedAt = &completed
	}
	for _, t := range slices.Concat(v.Transfers[:min(len(v.Transfers), MaxTransfers)], v.Surplus) {
		r.Transfers = append(r.Transfers, RecordMove{
			Hash: t.TxID, Network: t.Network, Amount: coin.Format(t.Amount),
			Counts: t.Unmatched == "" && !t.Gone && !t.Reverted, Surplus: t.Unmatched != "", UnmatchedID: t.UnmatchedID(),
			Confirmations: v.Confirmations(t), Status: moveStatus(t), FirstSeenAt: clock.Format(seenAt(t)),
		})
	}
	for _, row := range v.Sends {
		r.Sends = append(r.Sends, RecordSend{ID: row.Reference, Kind: row.Kind, Status: row.Status,
			Amount: money.Coin(row.Coin).Format(row.Amount), Hash: row.Hash})
	}
	if t := v.mainTransfer(); t != nil {
		r.Transaction.CryptoTransactionHash, r.Transaction.CryptoConfirmations = t.TxID, v.Confirmations(*t)
	}
	return r
}

// CompletedAt returns when a payment became Successful or Declined; nil in other states.
func CompletedAt(p models.Payment) *time.Time {
	if state := State(p.Status); state != Successful && state != Declined {
		return nil
	}
	return p.SettledAt
}

// Charged returns the fiat amount due.
func (v View) Charged() decimal.Decimal { return decimal.NewFromInt(v.Payment.Amount) }

// PaidFiat returns the amount received at the locked price. It is computed as a share of the
// amount due, so that the exact coin amount gives exactly the fiat amount, although the quote
// was rounded up. It is rounded half to even (contract section 4).
func (v View) PaidFiat() decimal.Decimal {
	due := v.Payment.Due.Big()
	if due.Sign() == 0 {
		return decimal.Zero
	}
	value, rest := new(big.Int), new(big.Int)
	value.QuoRem(value.Mul(v.Payment.Paid.Big(), big.NewInt(100*v.Payment.Amount)), due, rest)
	if half := rest.Lsh(rest, 1).Cmp(due); half > 0 || half == 0 && value.Bit(0) == 1 {
		value.Add(value, big.NewInt(1))
	}
	return decimal.NewFromBigInt(value, -2)
}

// Confirmations is how many blocks hold the transfer: 0 while it is
// unconfirmed, gone or reverted. A view that was read before the block has an older tip.
func (v View) Confirmations(t models.Transfer) int64 {
	if t.Height == nil || t.Gone || t.Reverted {
		return 0
	}
	return max(1, v.Chain.Tip-*t.Height+1)
}

// MoveStatuses lists what a transfer's status can be.
func MoveStatuses() []string {
	return []string{movePending, moveConfirmed, string(Replaced), string(Dropped), string(Reorged), string(Reverted)}
}

const (
	movePending   = "pending"
	moveConfirmed = "confirmed"
)

// moveStatus returns a transfer's status, which shows transfers that don't pay.
func moveStatus(t models.Transfer) string {
	switch {
	case t.Gone:
		return t.GoneReason
	case t.Reverted:
		return string(Reverted)
	case t.Height == nil:
		return movePending
	}
	return moveConfirmed
}

// Needed is how many confirmations are final: the payment's depth, or more where
// the network itself lets money of one of its transfers move only later.
func (v View) Needed() int64 {
	needed := int64(v.Payment.FinalDepth)
	for _, t := range v.Transfers {
		if !t.Gone && !t.Reverted {
			needed = max(needed, t.Maturity)
		}
	}
	return needed
}

// mainTransfer returns the transfer whose hash stands for the payment: of those that pay, the
// one with the fewest confirmations, and of equal ones the latest. When none pays it is the
// latest there was.
func (v View) mainTransfer() *models.Transfer {
	pays := func(t *models.Transfer) bool { return !t.Gone && !t.Reverted }
	var main *models.Transfer
	for i := range v.Transfers {
		t := &v.Transfers[i]
		if main == nil || !pays(main) || pays(t) && v.Confirmations(*t) <= v.Confirmations(*main) {
			main = t
		}
	}
	return main
}

// Evidence is the quote that the payment was priced with.
func (v View) Evidence() (quote.Quote, error) {
	var q quote.Quote
	err := json.Unmarshal([]byte(v.Payment.Quote), &q)
	return q, err
}

// seenAt is when a transfer was first seen, on the payment's clock where it has one.
func seenAt(t models.Transfer) time.Time {
	if t.SeenAt != nil {
		return *t.SeenAt
	}
	return t.FirstSeenAt
}
