package payment

import (
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/payment/record"
	"cointill/core/quote"
	"cointill/models"
)

// MaxTransfers bounds how many of a payment's transfers a record or a page lists, the oldest
// first. Amounts count all. No customer pays in so many parts, but anyone can send dust to an
// address.
const MaxTransfers = 100

// Record writes the view as answers and events carry it.
func (v View) Record() record.Record {
	p, coin := v.Payment, v.Coin()
	r := record.Record{
		Domain: p.Domain, Reference: p.Reference, BusinessReference: p.BusinessReference,
		AuthorizationCode: p.AuthorizationCode, Status: p.Status, Reason: p.Reason, Remark: p.Remark,
		Reversed: p.Reversed,
		Business: record.Business{Name: v.Business.Name, Code: v.Business.Code, Domain: p.Domain},
		Customer: record.Customer{FullName: p.CustomerName, Email: p.CustomerEmail, Code: v.Customer.Code},
		Transaction: record.Detail{
			ChargedAmount: money.FormatFiat(v.Charged()), AmountPaid: money.FormatFiat(v.PaidFiat()),
			Currency:              p.Currency,
			Difference:            money.FormatFiat(v.PaidFiat().Sub(v.Charged())),
			ChargedAmountInCrypto: coin.Format(p.Due), AmountPaidInCrypto: coin.Format(p.Paid),
			DifferenceInCrypto: coin.Format(p.Paid.Sub(p.Due)), SurplusInCrypto: coin.Format(v.SurplusSum),
			RefundedAmount: money.FormatFiat(v.Fiat(v.Refunded)), RefundedInCrypto: coin.Format(v.Refunded),
			PaymentMethod: record.Method{Code: p.Method, Currency: p.Coin}, Network: p.Network,
			Metadata: json.RawMessage("null"),
		},
		Transfers: []record.Move{}, Sends: []record.Send{},
		Rate:      record.Rate{Price: p.Price, Coin: p.Coin, Currency: p.Currency, LockedAt: clock.Format(p.CreatedAt)},
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
		r.Transfers = append(r.Transfers, record.Move{
			Hash: t.TxID, Network: t.Network, Amount: coin.Format(t.Amount),
			Counts: t.Unmatched == "" && !t.Gone && !t.Reverted, Surplus: t.Unmatched != "", UnmatchedID: t.UnmatchedID(),
			Confirmations: v.Confirmations(t), Status: moveStatus(t), FirstSeenAt: clock.Format(seenAt(t)),
		})
	}
	for _, row := range v.Sends {
		r.Sends = append(r.Sends, record.Send{ID: row.Reference, Kind: row.Kind, Status: row.Status,
			Amount: money.Coin(row.Coin).Format(row.Amount), Hash: row.Hash,
			SentInAnotherWay: row.AnotherWayAt != nil})
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
	if !t.IsConfirmed() {
		return 0
	}
	return max(1, v.chainOf(t.Network).Tip-*t.Height+1)
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

// Needed is how many confirmations are final: the depth of the networks on which money came, or more where
// a network itself lets money of one of its transfers move only later; without a transfer the own network's.
func (v View) Needed() int64 {
	needed := int64(0)
	for _, t := range v.Transfers {
		if !t.Gone && !t.Reverted {
			needed = max(needed, v.DepthOf(t))
		}
	}
	if needed == 0 {
		return int64(v.Payment.FinalDepth)
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
