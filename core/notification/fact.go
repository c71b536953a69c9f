package notification

import (
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// The states of a payment that members are notified about.
const (
	stateSuccessful = "successful"
	stateDeclined   = "declined"
)

// NotePayment notes that a payment became Successful or Declined; other changes of its state are not noted.
func NotePayment(tx *models.Tx, before string, p models.Payment, at time.Time) error {
	kind, noted := map[string]Kind{stateSuccessful: Paid, stateDeclined: Declined}[p.Status]
	if !noted || before == p.Status {
		return nil
	}
	return Note(tx, Fact{BusinessID: p.BusinessID, Domain: scope.Domain(p.Domain), Kind: kind, Subject: p.Reference,
		Detail: Detail{Amount: formatCoin(money.Coin(p.Coin), p.Paid), Reason: p.Reason,
			Value: money.Currency(p.Currency).FormatForPeople(decimal.NewFromInt(p.Amount))}, At: at})
}

// NoteUnmatched notes a transfer that belongs to no payment. The transfers to one address within an hour are one
// notification, so that dust makes few of them.
func NoteUnmatched(tx *models.Tx, t models.Transfer, at time.Time) error {
	if t.BusinessID == 0 || t.Unmatched == "" {
		return nil
	}
	amount := ""
	if coin := money.Coin(t.Asset); coin.Info().Unit > 0 {
		amount = formatCoin(coin, t.Amount)
	}
	return Note(tx, Fact{BusinessID: t.BusinessID, Domain: scope.Domain(t.Domain), Kind: Unmatched,
		Subject: strconv.FormatInt(t.ID, 10), Detail: Detail{Amount: amount, Reason: t.Unmatched},
		MergeKey: t.Network + " " + t.Address + " " + strconv.FormatInt(at.Truncate(time.Hour).Unix(), 10), At: at})
}

// NoteClaim notes that the customer of a refund confirmed an address.
func NoteClaim(tx *models.Tx, s models.Send, at time.Time) error {
	return Note(tx, Fact{BusinessID: s.BusinessID, Domain: scope.Domain(s.Domain), Kind: RefundClaimed,
		Subject: s.Reference, Detail: Detail{Amount: formatCoin(money.Coin(s.Coin), s.Amount)}, At: at})
}

// The reasons of notifications about webhooks.
const (
	ReasonFailing     = "failing"
	ReasonSwitchedOff = "switched_off"
)

// NoteEndpoint notes that a webhook fails, or was switched off for it.
func NoteEndpoint(tx *models.Tx, e models.Endpoint, reason string, at time.Time) error {
	return Note(tx, Fact{BusinessID: e.BusinessID, Domain: scope.Domain(e.Domain), Kind: EndpointFailing, Subject: e.ID,
		Detail: Detail{Name: e.Name, Reason: reason}, OwnersMailed: reason == ReasonSwitchedOff, At: at})
}

// NoteNetwork notes that the coins of a network can't be paid with.
func NoteNetwork(tx *models.Tx, businessID int64, domain scope.Domain, chain money.Chain, d Detail,
	at time.Time) error {
	return Note(tx, Fact{BusinessID: businessID, Domain: domain, Kind: CoinUnavailable, Subject: string(chain),
		Detail: d, OwnersMailed: true, At: at})
}

func formatCoin(coin money.Coin, amount money.Amount) string {
	return coin.Format(amount) + " " + string(coin)
}
