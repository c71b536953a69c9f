package display

import (
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/models"
	"cointill/views/dashboard"
)

// SendsPath is the list of sends.
const SendsPath = "/dashboard/sends"

// SendPath returns the address of a send's page.
func SendPath(reference string) string { return SendsPath + "/" + reference }

// SendRow returns the row of a send in a list, without its payment and who asked for it.
func SendRow(s models.Send, zone *time.Location) dashboard.SendRow {
	row := dashboard.SendRow{Reference: s.Reference, Href: SendPath(s.Reference), Kind: s.Kind, State: s.Status,
		PaidTwice: s.PaidTwice, Reversed: s.Reversed,
		AnotherWay: s.AnotherWayAt != nil, Marked: s.AnotherWayBy != "" && s.AnotherWayAt == nil,
		Amount:     money.Coin(s.Coin).Format(s.Amount) + " " + s.Coin,
		CoinSymbol: s.Coin, Address: s.Address, Created: s.CreatedAt.In(zone)}
	if s.Currency != "" {
		row.Value = FormatHundredths(money.Currency(s.Currency), s.Value)
	}
	if s.Tag != nil {
		row.Tag = strconv.FormatInt(*s.Tag, 10)
	}
	return row
}
