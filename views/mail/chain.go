package mail

import (
	"context"

	"cointill/core/alarm"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/views/words"
)

// ChainTrouble is the mail that a network can't be paid on, or can again.
func ChainTrouble(n alarm.Notice) NoticeProps {
	ctx := spokenTo(n.To)
	coins, why := coinsOf(ctx, n.Chain), n.Problem
	if n.Business != "" { // operators need to know which node it is about
		why = words.Trouble(ctx, string(n.Code), n.Problem)
	}
	p := NoticeProps{Reader: n.To.Language, Name: n.To.Name, Test: n.Domain == scope.Test, URL: n.URL,
		URLText: words.T(ctx, "mail.chain_see"),
		lines: filledLines([]line{{words.T(ctx, "mail.network"), n.Network}, {words.T(ctx, "mail.why"), why},
			{words.T(ctx, "mail.since"), dateText(ctx, n.Since)}})}
	title := words.T(ctx, "mail.chain_title", "Coins", coins)
	p.Before = []string{words.T(ctx, "mail.chain_text", "Coins", coins)}
	p.After = []string{words.T(ctx, "mail.chain_after")}
	if n.Over {
		title = words.T(ctx, "mail.chain_over_title", "Coins", coins)
		p.lines = filledLines([]line{{words.T(ctx, "mail.network"), n.Network},
			{words.T(ctx, "mail.it_was"), why}, {words.T(ctx, "mail.from"), dateText(ctx, n.Since)},
			{words.T(ctx, "mail.until"), dateText(ctx, n.At)}})
		p.Before = []string{words.T(ctx, "mail.chain_over_text")}
		p.After = []string{words.T(ctx, "mail.chain_over_after")}
	}
	p.Title = n.Business + ": " + title
	if n.Business == "" {
		p.Title, p.Footer = title, words.T(ctx, "mail.sent_to_operator")
	} else if !n.Over {
		p.After = append(p.After, words.T(ctx, "mail.chain_business_after"))
	}
	return p
}

// coinsOf names the coins of a chain, or the chain where none is paid with there.
func coinsOf(ctx context.Context, c money.Chain) (names string) {
	for _, coin := range money.Coins() {
		switch {
		case coin.Chain != c:
		case names == "":
			names = coin.Name
		default:
			names = words.T(ctx, "mail.coins_and", "Coins", names, "Coin", coin.Name)
		}
	}
	if facts, ok := money.FindNetworkFacts(c); ok && names == "" {
		names = facts.Label
	}
	return names
}

// RenderChainTrouble writes that mail. Its HTML form is left out when it can't be
// written: the text says the same.
func RenderChainTrouble(n alarm.Notice) (subject, text, html string) {
	return renderNotice(ChainTrouble(n))
}
