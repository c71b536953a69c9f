package mail

import (
	"cointill/core/alarm"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/views/words"
)

// ChainTrouble is the mail that a network can't be paid on, or can again.
func ChainTrouble(n alarm.Notice) NoticeProps {
	const layout = "2 January 2006, 15:04 MST"
	coins := coinsOf(n.Chain)
	p := NoticeProps{Name: n.To.Name, Test: n.Domain == scope.Test, URL: n.URL,
		URLText: words.T(english, "mail.chain_see"),
		lines: filledLines([]line{{words.T(english, "mail.network"), n.Network}, {words.T(english, "mail.why"), n.Problem},
			{words.T(english, "mail.since"), n.Since.Format(layout)}})}
	title := words.T(english, "mail.chain_title", "Coins", coins)
	p.Before = []string{words.T(english, "mail.chain_text", "Coins", coins)}
	p.After = []string{words.T(english, "mail.chain_after")}
	if n.Over {
		title = words.T(english, "mail.chain_over_title", "Coins", coins)
		p.lines = filledLines([]line{{words.T(english, "mail.network"), n.Network},
			{words.T(english, "mail.it_was"), n.Problem}, {words.T(english, "mail.from"), n.Since.Format(layout)},
			{words.T(english, "mail.until"), n.At.Format(layout)}})
		p.Before = []string{words.T(english, "mail.chain_over_text")}
		p.After = []string{words.T(english, "mail.chain_over_after")}
	}
	p.Title = n.Business + ": " + title
	if n.Business == "" {
		p.Title, p.Footer = title, words.T(english, "mail.sent_to_operator")
	} else if !n.Over {
		p.After = append(p.After, words.T(english, "mail.chain_business_after"))
	}
	return p
}

// coinsOf names the coins of a chain.
func coinsOf(c money.Chain) (names string) {
	for _, coin := range money.Coins() {
		switch {
		case coin.Chain != c:
		case names == "":
			names = coin.Name
		default:
			names = words.T(english, "mail.coins_and", "Coins", names, "Coin", coin.Name)
		}
	}
	return names
}

// RenderChainTrouble writes that mail. Its HTML form is left out when it can't be
// written: the text says the same.
func RenderChainTrouble(n alarm.Notice) (subject, text, html string) {
	return renderNotice(ChainTrouble(n))
}
