package ui

import (
	"context"
	"strings"

	"cointill/views/words"
)

var reasons = map[string]string{
	"underpaid": "payment.reason_underpaid", "overpaid": "payment.reason_overpaid", "late": "payment.reason_late",
	"after_abandoned": "payment.reason_after_abandoned", "replaced": "payment.reason_replaced",
	"reverted": "payment.reason_reverted", "dropped": "payment.reason_dropped", "reorged": "payment.reason_reorged",
	"reversed": "payment.reason_reversed", "accepted_by_user": "payment.reason_accepted_by_user",
}

// ReasonWord is the reason of a payment's state, or why a transfer no longer counts, in a few words.
func ReasonWord(ctx context.Context, code string) string { return reasonText(ctx, reasons, code) }

var unmatched = map[string]string{
	"wrong_asset": "unmatched.wrong_asset", "network_off": "unmatched.network_off",
	"address_not_entered": "unmatched.not_entered",
	"other_amount":        "unmatched.other_amount", "missing_tag": "unmatched.no_tag", "unknown_tag": "unmatched.unknown_tag",
	"unknown_payment": "unmatched.unknown_payment", "not_payment": "unmatched.not_payment",
	"no_transaction": "unmatched.no_transaction", "unproved": "unmatched.unproved", "surplus": "unmatched.surplus",
	"after_final": "unmatched.after_end",
}

// UnmatchedWord is why a transfer credits no payment, in a few words.
func UnmatchedWord(ctx context.Context, code string) string { return reasonText(ctx, unmatched, code) }

// reasonText is the message of a code; the code itself where it has none.
func reasonText(ctx context.Context, messages map[string]string, code string) string {
	if id, known := messages[code]; known {
		return words.T(ctx, id)
	}
	return strings.ReplaceAll(code, "_", " ")
}
