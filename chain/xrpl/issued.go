package xrpl

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/xrpl/params"
	"cointill/core/money"
)

// issuedAmount is an amount of another asset than XRP. Its value is a decimal of sixteen
// digits and any size, so no number of units.
type issuedAmount struct {
	Currency string `json:"currency"`
	Issuer   string `json:"issuer"`
	Value    string `json:"value"`
	Issuance string `json:"mpt_issuance_id"`
}

// maxValueLength bounds the text of a token's value.
const maxValueLength = 40

// describeIssued names another asset than XRP with its amount.
func describeIssued(v jsontext.Value) string {
	var t issuedAmount
	if err := json.Unmarshal(v, &t, node.Frugal); err != nil {
		return unknownAsset
	}
	return t.describeAmount()
}

const unknownAsset = "an unknown asset"

func (t *issuedAmount) describeAmount() string {
	if t.Value == "" || len(t.Value) > maxValueLength || strings.Trim(t.Value, "0123456789.eE+-") != "" {
		return unknownAsset
	}
	_, err := params.ParseAccount(t.Issuer)
	switch {
	case len(t.Issuance) == 48 && isHex(t.Issuance):
		return fmt.Sprintf("%s of token %s", t.Value, t.Issuance)
	case err != nil || len(t.Currency) != 3 && (len(t.Currency) != 40 || !isHex(t.Currency)):
		return unknownAsset
	}
	return fmt.Sprintf("%s %s issued by %s", t.Value, node.Clip(readableCurrency(t.Currency)), t.Issuer)
}

// currencySymbols are what the ledger lets codes of currencies be made of.
const currencySymbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789?!@#$%^&*<>(){}[]|"

// readableCurrency is a currency's code as people know it: one in hexadecimal stays as it is
// unless its bytes are a longer name than a plain code's three characters, which
// would pass for another currency, and no name that passes for the ledger's own.
func readableCurrency(code string) string {
	raw, err := hex.DecodeString(code)
	if err != nil || len(raw) != 20 {
		return code
	}
	name := strings.TrimRight(string(raw), "\x00")
	if len(name) <= 3 || strings.Trim(name, currencySymbols) != "" || strings.Contains(strings.ToUpper(name), string(money.XRP)) {
		return code
	}
	return name
}

func isHex(text string) bool { return strings.Trim(text, "0123456789ABCDEFabcdef") == "" }

// trustLineType is the kind of the entries that hold issued currencies: one between
// each two accounts, the one with the lower address first. Its balance is what the
// lower one holds of the higher one, or the other way round when it is negative.
const trustLineType = "RippleState"

// trustLineChange is what became of a trust line. Before is nothing where the balance didn't
// change, or the line wasn't there.
type trustLineChange struct {
	place         int
	low, high     jsontext.Value // the limits, whose issuers are the two accounts
	before, after jsontext.Value
}

// findIssued are the issued currencies that a transaction brought the watched
// accounts over their trust lines, but for the account that a payment told of
// already. They credit nothing, so a line that makes no sense is none.
func findIssued(tx *txBody, did *txMeta, watch chain.Watch, told string) (all []chain.Transfer) {
	for i := range did.Nodes.lines {
		l := &did.Nodes.lines[i]
		var low, high, before, after issuedAmount
		for from, into := range map[*jsontext.Value]*issuedAmount{&l.low: &low, &l.high: &high, &l.before: &before, &l.after: &after} {
			if len(*from) > 0 && json.Unmarshal(*from, into, node.Frugal) != nil {
				*into = issuedAmount{}
			}
		}
		was, is := parseValue(before.Value), parseValue(after.Value)
		holder, issuer := low.Issuer, high.Issuer
		if !watch.Address(holder) {
			holder, issuer, was, is = issuer, holder, was.Neg(), is.Neg()
		}
		gain := is.Sub(was)
		if holder == told || !watch.Address(holder) || is.Sign() <= 0 || gain.Sign() <= 0 {
			continue
		}
		after.Value, after.Issuer = gain.String(), issuer
		t := chain.Transfer{Index: 1 + l.place, Asset: after.describeAmount(), Via: node.Clip(tx.TransactionType)}
		t.Address = holder
		if tx.Destination == holder {
			t.Tag = parseTag(tx.DestinationTag)
		}
		all = append(all, t)
	}
	return all
}

// parseValue reads a token's value; what is none is 0. Values have exponents from -96
// to 80: beyond, they are no values, and adding them up would take memory.
func parseValue(text string) decimal.Decimal {
	if len(text) > maxValueLength {
		return decimal.Decimal{}
	}
	d, err := decimal.NewFromString(text)
	if err != nil || d.Exponent() < -200 || d.Exponent() > 200 {
		return decimal.Decimal{}
	}
	return d
}
