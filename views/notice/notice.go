// Package notice writes what a notification tells, for pages and for mails.
package notice

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/views/ui"
	"cointill/views/words"
)

// Title returns the sentence of a notification.
func Title(ctx context.Context, n notification.Notification) string {
	switch n.Kind {
	case notification.Paid:
		return words.T(ctx, "notifications.title_paid", "Value", n.Value)
	case notification.Declined:
		return words.T(ctx, "notifications.title_declined", "Value", n.Value)
	case notification.Unmatched:
		if n.Times > 1 {
			return words.N(ctx, "notifications.title_unmatched_times", n.Times)
		}
		return words.T(ctx, "notifications.title_unmatched")
	case notification.RefundClaimed:
		return words.T(ctx, "notifications.title_refund_claimed", "Amount", n.Amount)
	case notification.EndpointFailing:
		if n.Reason == notification.ReasonSwitchedOff {
			return words.T(ctx, "notifications.title_endpoint_off", "Name", n.Name)
		}
		return words.T(ctx, "notifications.title_endpoint_failing", "Name", n.Name)
	case notification.CoinUnavailable:
		return words.T(ctx, "notifications.title_coin_unavailable", "Coins", coinsOf(money.Chain(n.Subject)))
	}
	return ""
}

// Text returns what a notification tells beside its title; "" for nothing.
func Text(ctx context.Context, n notification.Notification) string {
	return joinParts(Parts(ctx, n)...)
}

// Parts returns what a notification tells beside its title, by parts: who paid for what, and its details.
func Parts(ctx context.Context, n notification.Notification) []string {
	return append(keepFilled(n.Payer.Customer, n.Payer.Purpose), listDetails(ctx, n)...)
}

// Line returns a notification in one line: its title, and who paid for what.
func Line(ctx context.Context, n notification.Notification) string {
	return joinParts(Title(ctx, n), n.Payer.Customer, n.Payer.Purpose)
}

// Detail returns what a notification tells beside its title, without who paid for what; "" for nothing.
func Detail(ctx context.Context, n notification.Notification) string {
	return joinParts(listDetails(ctx, n)...)
}

// listDetails returns the reason, the amount and other details of a notification.
func listDetails(ctx context.Context, n notification.Notification) []string {
	switch n.Kind {
	case notification.Paid, notification.Declined:
		return keepFilled(ui.ReasonWord(ctx, n.Reason), n.Amount)
	case notification.Unmatched:
		if n.Times > 1 {
			return keepFilled(ui.UnmatchedWord(ctx, n.Reason))
		}
		return keepFilled(n.Amount, ui.UnmatchedWord(ctx, n.Reason))
	case notification.CoinUnavailable:
		code := cmp.Or(n.Reason, string(networks.NodesFail)) // a release before codes noted none
		return keepFilled(words.Trouble(ctx, code, n.Detail.Text))
	}
	return nil
}

// Path returns the page that a notification leads to.
func Path(n notification.Notification) string {
	switch n.Kind {
	case notification.Paid, notification.Declined:
		return "/dashboard/payments/" + n.Subject
	case notification.Unmatched:
		if n.Times > 1 {
			return "/dashboard/unmatched"
		}
		return "/dashboard/unmatched/" + n.Subject
	case notification.RefundClaimed:
		return "/dashboard/sends/" + n.Subject
	case notification.EndpointFailing:
		return "/dashboard/webhooks/" + n.Subject
	}
	return "/dashboard/methods"
}

// KindName returns the name of a kind.
func KindName(ctx context.Context, kind notification.Kind) string {
	switch kind {
	case notification.Paid:
		return words.T(ctx, "notifications.kind_paid")
	case notification.Declined:
		return words.T(ctx, "notifications.kind_declined")
	case notification.Unmatched:
		return words.T(ctx, "notifications.kind_unmatched")
	case notification.RefundClaimed:
		return words.T(ctx, "notifications.kind_refund_claimed")
	case notification.EndpointFailing:
		return words.T(ctx, "notifications.kind_endpoint_failing")
	case notification.CoinUnavailable:
		return words.T(ctx, "notifications.kind_coin_unavailable")
	}
	return string(kind)
}

// coinsOf names the coins of a kind of network.
func coinsOf(chain money.Chain) string {
	var symbols []string
	for _, info := range money.Coins() {
		if info.Chain == chain {
			symbols = append(symbols, string(info.Coin))
		}
	}
	return strings.Join(symbols, ", ")
}

// joinParts joins the parts that are not empty.
func joinParts(parts ...string) string { return strings.Join(keepFilled(parts...), " · ") }

// keepFilled returns the parts that are not empty.
func keepFilled(parts ...string) []string {
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}
