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

// issuedAmount is an amount of an asset other than XRP. Its value is a decimal with sixteen digits
// and an exponent, so it is not a number of smallest units.
type issuedAmount struct {
	Currency string `json:"currency"`
	Issuer   string `json:"issuer"`
	Value    string `json:"value"`
	Issuance string `json:"mpt_issuance_id"`
}

// maxValueLength bounds the text of a token's value.
const maxValueLength = 40

// describeIssued returns the amount and the name of an asset other than XRP.
func describeIssued(v jsontext.Value) string {
	var t issuedAmount
	if err := json.Unmarshal(v, &t, node.AllowDuplicateNames); err != nil {
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
	return fmt.Sprintf("%s %s issued by %s", t.Value, node.PrintableText(readableCurrency(t.Currency)), t.Issuer)
}

// currencySymbols are the characters that the ledger allows in currency codes.
const currencySymbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789?!@#$%^&*<>(){}[]|"

// readableCurrency returns a currency code for display. A hexadecimal code is decoded only if its
// bytes are a name of more than three characters that does not contain XRP. Other names could be
// mistaken for another currency, so their code stays in hexadecimal.
func readableCurrency(code string) string {
	raw, _ := hex.DecodeString(code) // a code of three characters gives one byte or none
	name := strings.TrimRight(string(raw), "\x00")
	if len(name) <= 3 || strings.Trim(name, currencySymbols) != "" ||
		strings.Contains(strings.ToUpper(name), string(money.XRP)) {
		return code
	}
	return name
}

func isHex(text string) bool { return strings.Trim(text, "0123456789ABCDEFabcdef") == "" }

// trustLineType is the type of ledger entries that hold issued currencies. There is one entry for
// each pair of accounts, with the lower address first. A positive balance belongs to the lower
// account, a negative one to the higher account.
const trustLineType = "RippleState"

// trustLineChange is the change of one trust line by a transaction. Before is empty if the balance
// did not change or the trust line is new.
type trustLineChange struct {
	place         int
	low, high     jsontext.Value // the limits; their issuers are the two accounts
	before, after jsontext.Value
}

// findIssued returns the issued currencies that watched accounts received over their trust lines.
// It skips the account told, whose payment is reported already. These transfers credit nothing, so
// a malformed trust line is skipped.
func findIssued(tx *txBody, did *txMeta, watch chain.Watch, told string) (all []chain.Transfer) {
	for i := range did.Nodes.lines {
		l := &did.Nodes.lines[i]
		var low, high, before, after issuedAmount
		for from, into := range map[*jsontext.Value]*issuedAmount{&l.low: &low, &l.high: &high, &l.before: &before,
			&l.after: &after} {
			if json.Unmarshal(*from, into, node.AllowDuplicateNames) != nil {
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
		t := chain.Transfer{Index: 1 + l.place, Asset: after.describeAmount(),
			Via: node.PrintableText(tx.TransactionType)}
		t.Address = holder
		if tx.Destination == holder {
			t.Tag = parseTag(tx.DestinationTag)
		}
		all = append(all, t)
	}
	return all
}

// parseValue reads a token's value; anything else gives 0. Valid exponents are -96 to 80. Larger
// ones are rejected, because adding such values would take much memory.
func parseValue(text string) decimal.Decimal {
	if len(text) > maxValueLength {
		return decimal.Decimal{}
	}
	d, _ := decimal.NewFromString(text) // 0 if it is no number
	if d.Exponent() < -200 || d.Exponent() > 200 {
		return decimal.Decimal{}
	}
	return d
}
