package journal

import (
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/models"
)

// SendMove moves money of a send from one account to another. Its value was locked when the send
// was approved. What moves from or to NetworkFees is the fee of its transactions, in the network's own
// coin, without a value.
type SendMove struct {
	Send     models.Send
	From, To Account
	Amount   money.Amount // smallest units of the coin, or of the network's own
	Value    int64        // of Amount, in hundredths of the send's currency
	At       time.Time    // of the fact
	Zone     string       // of the business
}

// PostSends posts moves of sends.
func PostSends(tx *models.Tx, now time.Time, moves []SendMove) error {
	var entries []models.JournalEntry
	for _, m := range moves {
		if m.From == m.To || m.Amount.Sign() == 0 {
			continue
		}
		row := m.Send
		e := models.JournalEntry{BusinessID: row.BusinessID, Domain: row.Domain,
			HappenedOn: dayIn(m.At, m.Zone), Kind: sendKind(m.From, m.To), Debit: string(m.To),
			Credit: string(m.From), Coin: row.Coin, Network: row.Network, Amount: m.Amount,
			Currency: row.Currency, Value: m.Value, PaymentID: row.PaymentID, SendID: &row.ID}
		if e.Kind == FeePaid || e.Kind == FeeUnpaid {
			e.Coin, e.Currency, e.PaymentID = string(money.Coin(row.Coin).Info().FeeCoin(chain.Network(row.Network).Code())), "", nil
		}
		entries = append(entries, e)
	}
	return postEntries(tx, now, entries, map[books]string{})
}

// sendKind returns the kind of a send's entry.
func sendKind(from, to Account) string {
	switch {
	case to == NetworkFees:
		return FeePaid
	case from == NetworkFees:
		return FeeUnpaid
	case to == PaidTwice:
		return SentTwice
	case from == PaidTwice:
		return SentOnce
	case from == Wallet:
		return Sent
	case to == Wallet:
		return Unsent
	case from == InFlight:
		return Completed
	}
	return Reopened
}
