package payment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/metadata"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/models"
)

// TestRequestsAreChecked checks the bounds of what a payment may be asked for with.
func TestRequestsAreChecked(t *testing.T) {
	t.Parallel()
	objects := func(depth int) string { return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1) }
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for name, c := range map[string]struct {
		change func(r *payment.Request)
		field  string // "" for a right request
		words  string
	}{
		"nothing more":                {func(*payment.Request) {}, "", ""},
		"GHS":                         {func(r *payment.Request) { r.Currency = "GHS" }, "currency", "Use GHC"},
		"EUR":                         {func(r *payment.Request) { r.Currency = "EUR" }, "currency", "Must be one of"},
		"0":                           {func(r *payment.Request) { r.Amount = 0 }, "amount", "from 1 to"},
		"1":                           {func(r *payment.Request) { r.Amount = 1 }, "", ""},
		"a million":                   {func(r *payment.Request) { r.Amount = 1_000_000 }, "", ""},
		"more than a million":         {func(r *payment.Request) { r.Amount = 1_000_001 }, "amount", "from 1 to"},
		"a reference":                 {func(r *payment.Request) { r.BusinessReference = "..a" }, "", ""},
		"a reference with a space":    {func(r *payment.Request) { r.BusinessReference = "a b" }, "business_reference", "characters"},
		"a reference that is .":       {func(r *payment.Request) { r.BusinessReference = "." }, "business_reference", "alone"},
		"a reference that is ..":      {func(r *payment.Request) { r.BusinessReference = ".." }, "business_reference", "alone"},
		"a reference like ours":       {func(r *payment.Request) { r.BusinessReference = "PAY_1" }, "business_reference", "PAY_"},
		"metadata that is empty":      {func(r *payment.Request) { r.Metadata = []byte("") }, "metadata", "object or an array"},
		"objects 16 deep":             {func(r *payment.Request) { r.Metadata = []byte(objects(16)) }, "", ""},
		"objects 17 deep":             {func(r *payment.Request) { r.Metadata = []byte(objects(17)) }, "metadata", "deeper than"},
		"an object":                   {func(r *payment.Request) { r.Metadata = []byte(" {\"a\":1}") }, "", ""},
		"an array":                    {func(r *payment.Request) { r.Metadata = []byte("\n[1]") }, "", ""},
		"a number":                    {func(r *payment.Request) { r.Metadata = []byte("7") }, "metadata", "object or an array"},
		"no JSON":                     {func(r *payment.Request) { r.Metadata = []byte("{") }, "metadata", "valid JSON"},
		"8 KiB":                       {func(r *payment.Request) { r.Metadata = []byte("[" + strings.Repeat(" ", metadata.MaxSize-2) + "]") }, "", ""},
		"more than 8 KiB":             {func(r *payment.Request) { r.Metadata = []byte("[" + strings.Repeat(" ", metadata.MaxSize-1) + "]") }, "metadata", "8 KiB"},
		"16 levels":                   {func(r *payment.Request) { r.Metadata = []byte(nested(16)) }, "", ""},
		"17 levels":                   {func(r *payment.Request) { r.Metadata = []byte(nested(17)) }, "metadata", "16 levels"},
		"many arrays of one level":    {func(r *payment.Request) { r.Metadata = []byte("[" + strings.Repeat("[],{},", 20) + "1]") }, "", ""},
		"brackets in a string":        {func(r *payment.Request) { r.Metadata = []byte(`["` + strings.Repeat("[{", 20) + `"]`) }, "", ""},
		"brackets behind a quote":     {func(r *payment.Request) { r.Metadata = []byte(`["\"` + strings.Repeat("[", 20) + `"]`) }, "", ""},
		"17 levels behind a string":   {func(r *payment.Request) { r.Metadata = []byte(`["\\",` + nested(16) + `]`) }, "metadata", "16 levels"},
		"a NUL":                       {func(r *payment.Request) { r.Metadata = []byte(`["a\u0000"]`) }, "metadata", "NUL"},
		"a NUL, and more escapes":     {func(r *payment.Request) { r.Metadata = []byte(`["\u0000\n"]`) }, "metadata", "NUL"},
		"the text of a NUL":           {func(r *payment.Request) { r.Metadata = []byte(`["\\u0000"]`) }, "", ""},
		"another escape":              {func(r *payment.Request) { r.Metadata = []byte(`["\n\u0041"]`) }, "", ""},
		"an unknown method":           {func(r *payment.Request) { r.Method = "crypto_doge" }, "payment_method", "Must be one of"},
		"a name that is missing":      {func(r *payment.Request) { r.FirstName = "" }, "first_name", ""},
		"a last name that is missing": {func(r *payment.Request) { r.LastName = "" }, "last_name", ""},
		"no address":                  {func(r *payment.Request) { r.Email = "a@b" }, "email", ""},
	} {
		r := request()
		c.change(&r)
		got := r.Check()
		if c.field == "" && len(got) > 0 || c.field != "" && (len(got) != 1 || len(got[c.field]) != 1 || !strings.Contains(got[c.field][0].String(), c.words)) {
			t.Errorf("a request with %s is refused for %q, want %q %q", name, got, c.field, c.words)
		}
	}
}

// TestDestinationsOfPayments checks what a wallet is given to pay with, by coin, network and amount.
func TestDestinationsOfPayments(t *testing.T) {
	t.Parallel()
	tag := int64(7)
	of := func(coin money.Coin, network string) models.Payment {
		return models.Payment{Coin: string(coin), Network: network, Address: "at", Domain: "live", Reference: "PAY_1", Due: money.Units(1_000), Paid: money.Units(400)}
	}
	with := func(p models.Payment, change func(p *models.Payment)) models.Payment { change(&p); return p }
	for name, c := range map[string]struct {
		p    models.Payment
		uri  string
		name string
	}{
		"the rest":       {of(money.BTC, "bitcoin-mainnet"), "bitcoin:at?amount=0.000006&label=&message=PAY_1", "Bitcoin"},
		"a test network": {of(money.BTC, "bitcoin-testnet4"), "bitcoin:at?amount=0.000006&label=&message=PAY_1", "Bitcoin testnet4"},
		"the sandbox":    {of(money.BTC, "sandbox-bitcoin"), "bitcoin:at?amount=0.000006&label=&message=PAY_1", "Bitcoin"},
		"paid in full": {with(of(money.BTC, "bitcoin-mainnet"), func(p *models.Payment) { p.Paid = p.Due }),
			"bitcoin:at?amount=0.00001&label=&message=PAY_1", "Bitcoin"},
		"overpaid": {with(of(money.BTC, "bitcoin-mainnet"), func(p *models.Payment) { p.Paid = p.Due.Add(p.Due) }),
			"bitcoin:at?amount=0.00001&label=&message=PAY_1", "Bitcoin"},
		"no contract": {of(money.USDT, "ethereum-1"),
			fmt.Sprintf("ethereum:%s@%d/transfer?address=at&uint256=600", place.SandboxToken,
				place.SandboxChainID), "Ethereum (ERC-20) 1"},
		"never opened": {with(of(money.BTC, "bitcoin-mainnet"), func(p *models.Payment) { p.Address = "" }), "", "Bitcoin"},
		"a tag":        {with(of(money.XRP, "xrpl-mainnet"), func(p *models.Payment) { p.Tag = &tag }), "ripple:at?amount=0.0006&dt=7", "XRP Ledger"},
	} {
		got := payment.View{Payment: c.p}.Destination()
		if got.URI != c.uri || got.Network != c.name || got.Address != c.p.Address {
			t.Errorf("%s is to be paid at %q on %q, want %q on %q", name, got.URI, got.Network, c.uri, c.name)
		}
	}
	for domain, want := range map[string]string{"live": "X", "test": "T"} {
		p := with(of(money.XRP, "xrpl-mainnet"), func(p *models.Payment) {
			p.Tag, p.Domain, p.Address = &tag, domain, "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
		})
		if got := (payment.View{Payment: p}).Destination().XAddress; !strings.HasPrefix(got, want) {
			t.Errorf("the X-address in the %s domain is %q, want one with %s", domain, got, want)
		}
	}
	tolerant := with(of(money.BTC, "bitcoin-mainnet"), func(p *models.Payment) { p.UnderTolerance = 100 })
	for paid, want := range map[int64]bool{989: false, 990: true, 991: true} {
		tolerant.Paid = money.Units(paid)
		if got := (payment.View{Payment: tolerant}).Enough(); got != want {
			t.Errorf("%d of 1,000 with a tolerance of 1 %% are enough: %v, want %v", paid, got, want)
		}
	}
}

// TestViewsOfTransfers checks how many confirmations transfers have and need.
func TestViewsOfTransfers(t *testing.T) {
	t.Parallel()
	height := int64(10)
	mined := models.Transfer{Height: &height, Maturity: 100}
	with := func(change func(row *models.Transfer)) models.Transfer { row := mined; change(&row); return row }
	for name, c := range map[string]struct {
		row                  models.Transfer
		confirmations, needs int64
	}{
		"mined":       {mined, 3, 100},
		"quick":       {with(func(row *models.Transfer) { row.Maturity = 1 }), 3, 2},
		"gone":        {with(func(row *models.Transfer) { row.Gone = true }), 0, 2},
		"failed":      {with(func(row *models.Transfer) { row.Reverted = true }), 0, 2},
		"unconfirmed": {with(func(row *models.Transfer) { row.Height = nil }), 0, 100},
		"just mined":  {with(func(row *models.Transfer) { later := int64(13); row.Height = &later }), 1, 100},
	} {
		v := payment.View{Payment: models.Payment{FinalDepth: 2, Coin: "BTC"}, Transfers: []models.Transfer{c.row}, Chain: payment.Chain{Tip: 12}}
		if confirmations, needs := v.Confirmations(c.row), v.Needed(); confirmations != c.confirmations || needs != c.needs {
			t.Errorf("%s: %d confirmations of %d, want %d of %d", name, confirmations, needs, c.confirmations, c.needs)
		}
	}
	if got := (payment.View{}).PaidFiat(); !got.IsZero() {
		t.Errorf("a payment of nothing has received %s, want 0", got)
	}
	seen := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opened := seen.Add(time.Minute)
	for name, c := range map[string]struct {
		opened *time.Time
		want   time.Time
	}{"never opened": {nil, seen}, "opened later": {&opened, opened}, "opened before": {&seen, seen}} {
		v := payment.View{Payment: models.Payment{OpenedAt: c.opened}}
		if got := v.FirstSeenOnClock(models.Transfer{FirstSeenAt: seen}); !got.Equal(c.want) {
			t.Errorf("a transfer to a payment that was %s was seen at %v, want %v", name, got, c.want)
		}
	}
	for state, want := range map[payment.State]bool{payment.Successful: true, payment.Pending: true, "Paid": false, "": false} {
		if got := state.Known(); got != want {
			t.Errorf("the state %q is known: %v, want %v", state, got, want)
		}
	}
}

// TestPlacesInTheBooks checks which account holds a transfer, by its payment's state.
func TestPlacesInTheBooks(t *testing.T) {
	t.Parallel()
	height := int64(10)
	paid := int64(1)
	counted := models.Transfer{Asset: "BTC", Amount: money.Units(10), Height: &height, PaymentID: &paid}
	with := func(change func(row *models.Transfer)) models.Transfer { row := counted; change(&row); return row }
	for name, c := range map[string]struct {
		row   models.Transfer
		state payment.State
		want  string
	}{
		"open":              {counted, payment.Processing, "pending"},
		"abandoned":         {counted, payment.Abandoned, "pending"},
		"successful":        {counted, payment.Successful, "sales"},
		"declined":          {counted, payment.Declined, "declined"},
		"failed":            {counted, payment.Failed, "declined"},
		"unmatched":         {with(func(row *models.Transfer) { row.Unmatched = payment.AfterFinal }), payment.Successful, "unmatched"},
		"change of a send":  {with(func(row *models.Transfer) { row.PaymentID = nil }), "", "none"},
		"to an unknown tag": {with(func(row *models.Transfer) { row.PaymentID, row.Unmatched = nil, payment.UnknownTag }), "", "unmatched"},
		"unproved":          {with(func(row *models.Transfer) { row.Unmatched = payment.Unproved }), payment.Processing, "none"},
		"another asset":     {with(func(row *models.Transfer) { row.Asset, row.Unmatched = "another", payment.WrongAsset }), payment.Processing, "none"},
		"nothing":           {with(func(row *models.Transfer) { row.Amount = money.Amount{} }), payment.Processing, "none"},
		"refunded":          {with(func(row *models.Transfer) { row.Booked = "returned" }), payment.Successful, "returned"},
		"refunded and gone": {with(func(row *models.Transfer) { row.Booked, row.Gone = "returned", true }),
			payment.Successful, "reversed"},
		"refunded, gone and back": {with(func(row *models.Transfer) {
			row.Booked, row.Resolution = "reversed", payment.Refunded
		}), payment.Successful, "returned"},
		"unproved, refunded, gone": {with(func(row *models.Transfer) {
			row.Booked, row.Gone, row.Unmatched = "returned", true, payment.Unproved
		}), payment.Successful, "returned"},
		"unconfirmed":              {with(func(row *models.Transfer) { row.Height = nil }), payment.Processing, ""},
		"gone":                     {with(func(row *models.Transfer) { row.Gone = true }), payment.Processing, ""},
		"reverted":                 {with(func(row *models.Transfer) { row.Reverted = true }), payment.Processing, ""},
		"sold and gone":            {with(func(row *models.Transfer) { row.Booked, row.Gone = "sales", true }), payment.Successful, "reversed"},
		"reversed":                 {with(func(row *models.Transfer) { row.Booked, row.Gone = "reversed", true }), payment.Successful, "reversed"},
		"declined and gone":        {with(func(row *models.Transfer) { row.Booked, row.Gone = "declined", true }), payment.Declined, ""},
		"sold, unmatched and gone": {with(func(row *models.Transfer) { row.Booked, row.Gone, row.Unmatched = "sales", true, payment.Surplus }), payment.Successful, ""},
	} {
		if got := payment.FindAccount(c.row, c.state); string(got) != c.want {
			t.Errorf("%s: the account of the transfer is %q, want %q", name, got, c.want)
		}
	}
}
