package mail

import (
	"cmp"
	"context"
	"strings"
	"time"

	"cointill/core/account/auth"
	"cointill/core/money"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/views/words"
)

// spokenTo returns a context in the language of a member.
func spokenTo(reader auth.User) context.Context { return spokenIn(reader.Language) }

// spokenIn returns a context in a language of the dashboard; English for any other.
func spokenIn(lang string) context.Context {
	return words.WithLanguage(context.Background(), words.ChooseDashboardLanguage(lang, ""))
}

// dateText is a time in a mail to members.
func dateText(ctx context.Context, t time.Time) string {
	return words.FormatTime(ctx, t, "2 January 2006, 15:04 MST")
}

// NoticeProps is a mail about one event: to a member of a business about its account, or to a
// customer about a refund.
type NoticeProps struct {
	// Lang is a customer's language; empty for members.
	Lang string
	// Reader is the language of its reader; empty for English.
	Reader      string
	Title, Name string
	// Before and After are the paragraphs around the lines.
	Before, After []string
	lines         []line
	// URL leads to the page where it can be seen and changed; empty shows no link.
	URL, URLText string
	// Footer says to whom it was sent; empty for every owner.
	Footer string
	// SettingsURL leads to the page where such mails are switched off; empty shows no link.
	SettingsURL string
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

// lang is the language of the mail.
func (p NoticeProps) lang() string {
	return words.ChooseLanguage(cmp.Or(p.Lang, words.LanguageOf(p.spoken())), "")
}

// spoken returns a context in the language of its reader.
func (p NoticeProps) spoken() context.Context { return spokenIn(p.Reader) }

func (p NoticeProps) hello() string {
	if p.Lang != "" {
		return words.Say(p.Lang, "receipt_hello", "Name", p.Name)
	}
	if p.Name == "" {
		return words.T(p.spoken(), "mail.hello")
	}
	return words.T(p.spoken(), "mail.hello_name", "Name", p.Name)
}

func (p NoticeProps) footer() string {
	if p.Footer == "" {
		return words.T(p.spoken(), "mail.sent_to_owners")
	}
	return p.Footer
}

// band says above the mail that it is about test data.
func (p NoticeProps) band() string {
	if p.Lang != "" {
		return words.Say(p.Lang, "receipt_test")
	}
	return words.T(p.spoken(), "mail.test_band")
}

// NoticeText is the notice as plain text.
func NoticeText(p NoticeProps) string {
	var out strings.Builder
	switch {
	case p.Test && p.Lang != "":
		out.WriteString(p.band() + "\n\n")
	case p.Test:
		out.WriteString(words.T(p.spoken(), "mail.test_text") + "\n\n")
	}
	out.WriteString(p.hello() + "\n\n")
	for _, paragraph := range p.Before {
		out.WriteString(paragraph + "\n\n")
	}
	for _, one := range p.lines {
		out.WriteString(one.name + ": " + one.value + "\n")
	}
	for _, paragraph := range p.After {
		out.WriteString("\n" + paragraph + "\n")
	}
	if p.URL != "" {
		out.WriteString("\n" + p.URLText + ": " + p.URL + "\n")
	}
	out.WriteString("\n-- \n" + p.footer() + "\n")
	if p.SettingsURL != "" {
		out.WriteString(words.T(p.spoken(), "mail.notification_settings") + ": " + p.SettingsURL + "\n")
	}
	return out.String()
}

// WalletChanged is the notice that a business receives with another wallet, or
// account of the XRP Ledger.
func WalletChanged(n receiving.Notice) NoticeProps {
	ctx := spokenTo(n.Owner)
	network, onLedger := receiving.NetworkName(n.Network), n.Script == wallet.ScriptAccount
	what, one := words.T(ctx, "mail.wallet"), words.T(ctx, "mail.a_wallet")
	if onLedger {
		what, one = words.T(ctx, "mail.account_inline"), words.T(ctx, "mail.an_account")
	}
	p := NoticeProps{Reader: n.Owner.Language, Title: words.T(ctx, "mail.wallet_changed_title", "Business", n.Business, "Network", network,
		"What", what), Name: n.Owner.Name, Test: n.Domain == scope.Test,
		Before: []string{words.T(ctx, "mail.wallet_changed_text", "By", changedBy(ctx, n), "Business", n.Business, "Network",
			network, "What", what)},
		URL: n.URL, URLText: words.T(ctx, "mail.wallet_see", "What", what)}
	if n.Former == "" {
		p.Title = words.T(ctx, "mail.wallet_set_up_title", "Business", n.Business, "Network", network, "What", one)
		p.Before = []string{words.T(ctx, "mail.wallet_set_up_text", "By", changedBy(ctx, n), "Business", n.Business, "Network",
			network, "What", what)}
	}
	p.lines = filledLines(append(receivedWith(ctx, n), line{words.T(ctx, "mail.coin"), coinOf(n.Chain)},
		line{words.T(ctx, "mail.date"), dateText(ctx, n.At)}))
	p.After = []string{checkSentence(ctx, n), words.T(ctx, "mail.wallet_none_of_you", "Name", n.By.Name, "What", what)}
	if n.By.Email == "" {
		p.After[1] = words.T(ctx, "mail.wallet_not_agreed")
	}
	return p
}

// receivedWith is what the coin is received with now, and was before.
func receivedWith(ctx context.Context, n receiving.Notice) []line {
	if n.Script == wallet.ScriptAccount {
		return []line{{words.T(ctx, "mail.account"), n.Key}, {words.T(ctx, "mail.account_before"), n.Former}}
	}
	if n.Script == wallet.ScriptAddress {
		return []line{{words.T(ctx, "mail.one_address"), n.Key}, {words.T(ctx, "mail.key_before"), n.Former}}
	}
	first := ""
	if len(n.First) > 0 {
		first = n.First[0]
	}
	return []line{{words.T(ctx, "mail.public_key"), n.Key},
		{words.T(ctx, "mail.addresses"), words.Translate(ctx, receiving.DescribeKind(n.Script, n.Network))},
		{words.T(ctx, "mail.first_address"), first}, {words.T(ctx, "mail.key_before"), n.Former}}
}

// checkSentence returns the check that owners should make, and the state of the former wallet.
func checkSentence(ctx context.Context, n receiving.Notice) string {
	text, former := words.T(ctx, "mail.compare_first_address"),
		words.T(ctx, "mail.former_wallet")
	if n.Script == wallet.ScriptAccount {
		text, former = words.T(ctx, "mail.compare_account"),
			words.T(ctx, "mail.former_account")
	}
	if n.Script == wallet.ScriptAddress {
		text = words.T(ctx, "mail.compare_address")
	}
	if n.Former == "" {
		return text
	}
	return text + " " + former
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
	return renderNotice(WalletChanged(n))
}

// changedBy returns who changed a wallet.
func changedBy(ctx context.Context, n receiving.Notice) string {
	if n.By.Email == "" {
		return words.T(ctx, "mail.the_operator")
	}
	return words.T(ctx, "mail.name_and_address", "Name", n.By.Name, "Email", n.By.Email)
}
