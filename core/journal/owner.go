package journal

import (
	"time"

	"cointill/core/money"
	"cointill/models"
)

// The kinds of entries of money that no send moved.
const (
	Moved   = "moved"   // the merchant moved it from their addresses by their own hand
	Unmoved = "unmoved" // it is there again, or a send moved it after all
)

// OwnerMove changes how much of a departure is booked as moved by the owner.
type OwnerMove struct {
	Departure models.Departure // as it is booked now
	To        money.Amount     // what of it is to be booked; smallest units of its coin
	At        time.Time        // of the fact
	Zone      string           // of the business
}

// PostOwner posts moves between the wallet and the owner, without a value: no rate is locked for them.
func PostOwner(tx *models.Tx, now time.Time, moves []OwnerMove) error {
	var entries []models.JournalEntry
	for _, m := range moves {
		d := m.Departure
		e := models.JournalEntry{BusinessID: d.BusinessID, Domain: d.Domain, HappenedOn: dayIn(m.At, m.Zone),
			Kind: Moved, Debit: string(Owner), Credit: string(Wallet),
			Coin: d.Coin, Network: d.Network, Amount: m.To.Sub(d.Booked), DepartureID: &d.ID}
		switch e.Amount.Sign() {
		case 0:
			continue
		case -1:
			e.Kind, e.Debit, e.Credit, e.Amount = Unmoved, string(Wallet), string(Owner), e.Amount.Abs()
		}
		entries = append(entries, e)
	}
	return postEntries(tx, now, entries, map[books]string{})
}
