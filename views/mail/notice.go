package mail

import (
	"strings"

	"cointill/core/money"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/core/wallet"
)

// NoticeProps is a mail to somebody who works in a business, about the
// business's account: something they must know of at once.
type NoticeProps struct {
	Title, Name string
	// Before and After are the paragraphs around the lines.
	Before, After []string
	lines         []line
	// URL leads to the page where it can be seen and changed.
	URL, URLText string
	// Test says that it is about test data.
	Test bool
}

// Subject is the subject of the notice.
func (p NoticeProps) Subject() string {
	if p.Test {
		return "[TEST] " + p.Title
	}
	return p.Title
}

// NoticeText is the notice as plain text.
func NoticeText(p NoticeProps) string {
	var out strings.Builder
	if p.Test {
		out.WriteString("TEST DATA: this is about the test domain, where no real money moves.\n\n")
	}
	out.WriteString("Hello " + p.Name + ",\n\n")
	for _, paragraph := range p.Before {
		out.WriteString(paragraph + "\n\n")
	}
	for _, one := range p.lines {
		out.WriteString(one.name + ": " + one.value + "\n")
	}
	for _, paragraph := range p.After {
		out.WriteString("\n" + paragraph + "\n")
	}
	out.WriteString("\n" + p.URLText + ": " + p.URL + "\n\n-- \nSent by Cointill to every owner of the business\n")
	return out.String()
}

// WalletChanged is the notice that a business receives with another wallet, or
// account of the XRP Ledger.
func WalletChanged(n receiving.Notice) NoticeProps {
	network, onLedger := receiving.NetworkName(n.Network), n.Script == wallet.ScriptAccount
	what := "wallet"
	if onLedger {
		what = "account"
	}
	p := NoticeProps{Title: n.Business + ": " + network + " goes to another " + what, Name: n.Owner.Name, Test: n.Domain == scope.Test,
		Before: []string{by(n) + " changed where " + n.Business + " receives " + network + " payments. New payments go to this " + what + " from now on:"},
		URL:    n.URL, URLText: "See the " + what + " in the dashboard"}
	if n.Former == "" {
		article := "a "
		if onLedger {
			article = "an "
		}
		p.Title = n.Business + ": " + network + " now goes to " + article + what + " of your own"
		p.Before = []string{by(n) + " set up where " + n.Business + " receives " + network + " payments. They go to this " + what + " from now on:"}
	}
	p.lines = filled(append(receivedWith(n), line{"Coin", coinOf(n.Chain)}, line{"Date", n.At.Format("2 January 2006, 15:04 MST")}))
	p.After = []string{compare(n), "Was it none of you? Then somebody knows " + n.By.Name + "'s password. Switch the coin off at once, change that password, and enter your own " +
		what + " again."}
	if n.By.Email == "" {
		p.After[1] = "Was that not agreed with you? Switch the coin off at once and ask who runs the server."
	}
	return p
}

// receivedWith is what the coin is received with now, and was before.
func receivedWith(n receiving.Notice) []line {
	if n.Script == wallet.ScriptAccount {
		return []line{{"Account", n.Key}, {"Account before", n.Former}}
	}
	first := ""
	if len(n.First) > 0 {
		first = n.First[0]
	}
	return []line{{"Public key", n.Key}, {"Addresses", receiving.Kind(n.Script, n.Network)}, {"First address", first}, {"Key before", n.Former}}
}

// compare is what owners should check, and what becomes of the former wallet.
func compare(n receiving.Notice) string {
	text, former := "Compare the first address with your own wallet.",
		" Addresses of the former wallet that customers were given stay watched: what is paid to them still counts, and goes to the former wallet."
	if n.Script == wallet.ScriptAccount {
		text, former = "Compare every character of the account with your own wallet.",
			" The former account stays watched: what customers pay to it with the tags that they were given still counts, and goes to the former account."
	}
	if n.Former == "" {
		return text
	}
	return text + former
}

// coinOf names the coin of a chain.
func coinOf(c money.Chain) string {
	for _, coin := range money.Coins() {
		if coin.Chain == c {
			return coin.Name
		}
	}
	return ""
}

// RenderWalletChanged writes the mail of a changed wallet. Its HTML form is left
// out when it can't be written: the text says the same.
func RenderWalletChanged(n receiving.Notice) (subject, text, html string) {
	return rendered(WalletChanged(n))
}

// by is who changed a wallet.
func by(n receiving.Notice) string {
	if n.By.Email == "" {
		return "The operator of this server"
	}
	return n.By.Name + " (" + n.By.Email + ")"
}
