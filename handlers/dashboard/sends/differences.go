package sends

import (
	"context"
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/send"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// fieldWords name the fields of a send.Difference, of all networks.
var fieldWords = map[string]string{
	"access_list":              "sends.field_access_list",
	"amount":                   "sends.amount",
	"calldata":                 "sends.field_calldata",
	"chain_id":                 "sends.network",
	"change":                   "sends.change",
	"content":                  "sends.field_content",
	"deliver_min":              "sends.field_deliver_min",
	"destination":              "sends.to",
	"expiration":               "sends.field_expiration",
	"fee":                      "sends.most_fee",
	"fee_limit":                "sends.most_fee",
	"flags":                    "sends.field_flags",
	"gas_limit":                "sends.field_gas_limit",
	"input":                    "sends.spent_money",
	"invoice_id":               "sends.field_invoice_id",
	"last_ledger_sequence":     "sends.field_last_ledger",
	"lock_time":                "sends.field_lock_time",
	"max_fee_per_gas":          "sends.field_gas_price",
	"max_priority_fee_per_gas": "sends.field_tip",
	"memos":                    "sends.field_memos",
	"network_id":               "sends.network",
	"nonce":                    "sends.field_nonce",
	"other_field":              "sends.field_other",
	"output":                   "sends.paid_output",
	"paths":                    "sends.field_paths",
	"send_max":                 "sends.field_send_max",
	"sender":                   "sends.from_wallet",
	"sequence":                 "sends.field_sequence",
	"sighash":                  "sends.field_sighash",
	"signature":                "sends.signature",
	"signers":                  "sends.field_signers",
	"source_tag":               "sends.field_source_tag",
	"tag":                      "sends.tag",
	"ticket_sequence":          "sends.field_ticket",
	"token":                    "sends.token",
	"transaction_type":         "sends.field_kind",
	"value":                    "sends.field_value",
	"version":                  "sends.field_version",
}

// describeDifferences says in words in which fields a signed transaction differs.
func describeDifferences(ctx context.Context, zone *time.Location, list []send.Difference) (
	rows []dashboard.SendField) {
	for _, d := range list {
		name := d.Field
		if word := fieldWords[d.Field]; word != "" {
			name = words.T(ctx, word)
		}
		rows = append(rows, dashboard.SendField{Field: name, Approved: describeValue(ctx, zone, d, d.Approved),
			Signed: describeValue(ctx, zone, d, d.Signed)})
	}
	return rows
}

// listChecked lists the fields of a signed transaction that was checked. Only its fee may differ from the approved send.
func listChecked(ctx context.Context, p dashboard.SendSignProps, fee money.Amount, u send.Unsigned) (
	rows []dashboard.SendField) {
	for _, one := range []struct{ word, value string }{{"sends.amount", p.Amount}, {"sends.to", p.Address},
		{"sends.tag", p.Tag}, {"sends.token", p.Token}, {"sends.network", p.Network},
		{"sends.from_wallet", p.Account}} {
		if one.value != "" {
			rows = append(rows, dashboard.SendField{Field: words.T(ctx, one.word), Approved: one.value,
				Signed: one.value})
		}
	}
	return append(rows, dashboard.SendField{Field: words.T(ctx, "sends.most_fee"), Approved: p.Fee,
		Signed: money.Coin(u.FeeAsset).Format(fee) + " " + u.FeeAsset})
}

// describeValue writes one value of a difference for people.
func describeValue(ctx context.Context, zone *time.Location, d send.Difference, value string) string {
	if value == "" {
		if d.Field == "signature" {
			return words.T(ctx, "sends.signature_valid")
		}
		return words.T(ctx, "sends.no_value")
	}
	switch d.Field {
	case "chain_id":
		return nameChain(value)
	case "expiration":
		if at, err := strconv.ParseInt(value, 10, 64); err == nil {
			return ui.TimeText(ctx, time.UnixMilli(at).In(zone))
		}
	case "signature":
		state, input, _ := strings.Cut(value, ", ")
		if state == "missing" {
			return words.T(ctx, "sends.signature_missing", "Input", input)
		}
		return words.T(ctx, "sends.signature_invalid", "Input", input)
	}
	if amount, err := money.ParseUnits(value); err == nil && d.Unit.Name != "" {
		return amount.Format(d.Unit.Decimals, 0) + " " + d.Unit.Name
	}
	return value
}

// nameChain adds the name of the network that has a chain id.
func nameChain(id string) string {
	for _, n := range money.EVMNetworks() {
		if strconv.FormatInt(n.ChainID, 10) == id {
			return n.Label + " " + n.Name + " (" + id + ")"
		}
	}
	return id
}

// formatFee writes the most that the network takes, with its price for a unit of size or gas.
func formatFee(u send.Unsigned) string {
	fee := money.Coin(u.FeeAsset).Format(u.Fee) + " " + u.FeeAsset
	if u.FeeRate != "" {
		fee += " (" + u.FeeRate + ")"
	}
	return fee
}

// formatChange writes an amount that returns to the account. It is of the coin that pays the fee.
func formatChange(u send.Unsigned, amount money.Amount) string {
	return money.Coin(u.FeeAsset).Format(amount) + " " + u.FeeAsset
}
