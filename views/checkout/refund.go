package checkout

import (
	"strconv"

	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// RefundView says which face the page of a refund shows.
type RefundView string

// The views of a refund's page.
const (
	// RefundAsk: the customer has named no address.
	RefundAsk RefundView = "ask"
	// RefundNamed: an address waits for its confirmation by mail.
	RefundNamed RefundView = "named"
	// RefundConfirmed: the address is confirmed; the merchant approves the refund.
	RefundConfirmed RefundView = "confirmed"
	RefundReady     RefundView = "ready"
	RefundOnItsWay  RefundView = "on_its_way"
	RefundDone      RefundView = "done"
	// RefundAnotherWay: the merchant says that it was sent in another way.
	RefundAnotherWay RefundView = "another_way"
	RefundFailed     RefundView = "failed"
	RefundExpired    RefundView = "expired"
	// RefundEnded: the merchant withdrew or rejected it.
	RefundEnded RefundView = "ended"
)

// RefundProps is the page on which a customer names the address of a refund: fields address and tag.
type RefundProps struct {
	ui.Form
	Lang string
	// Chosen: the language was chosen by hand, so every address carries it on.
	Chosen bool
	// Path is the path of the page, OtherPath leads to where another address is named.
	Path, OtherPath string
	View            RefundView
	Merchant        string
	LogoPath        string // of the merchant's picture; empty shows the first letter of the name
	Contact         string // how the merchant is reached; empty shows nothing
	Amount, Coin    string
	Network         string // as people say it
	Reference       string // of the payment
	Address, Tag    string // that waits for its confirmation, or was confirmed; empty shows none
	Hash            string
	Confirmations   int
	Needed          int
	Mail            string // the customer's e-mail address, masked
	Test            bool
}

func (p RefundProps) t(id string, pairs ...string) string { return words.Say(p.Lang, id, pairs...) }

// carry adds a language that was chosen to a path.
func (p RefundProps) carry(path string) string { return path + carriedQuery(p.Lang, p.Chosen) }

func (p RefundProps) shell() layout.CustomerProps {
	shell := layout.CustomerProps{Lang: p.Lang, Title: p.t("refund_page_title", "Merchant", p.Merchant),
		Skip: p.t("refund_skip"), Test: p.Test, TestLabel: p.t("test_data"), TestText: p.t("test_band"),
		ThemeText: p.t("theme")}
	switch p.View {
	case RefundConfirmed, RefundReady, RefundOnItsWay:
		shell.Refresh, shell.RefreshTo = 30, p.carry(p.Path)
	}
	return shell
}

// headline returns the tone, icon, title and text of a view.
func (p RefundProps) headline() (tone ui.Tone, icon, title, text string) {
	switch p.View {
	case RefundNamed:
		return ui.Info, "mailbox", p.t("refund_named_title"), p.t("refund_named_text", "Email", p.Mail)
	case RefundConfirmed:
		return ui.Info, "check", p.t("refund_confirmed_title"), p.t("refund_confirmed_text", "Merchant", p.Merchant)
	case RefundReady:
		return ui.Info, "check", p.t("refund_ready_title"), p.t("refund_ready_text", "Merchant", p.Merchant)
	case RefundOnItsWay:
		return ui.Info, "half", p.t("refund_way_title"), p.t("refund_way_text", "Network", p.Network)
	case RefundDone:
		return ui.Good, "check-circle", p.t("refund_done_title"),
			p.t("refund_done_text", "Amount", p.Amount, "Coin", p.Coin)
	case RefundAnotherWay:
		return ui.Info, "check", p.t("refund_another_way_title"),
			p.t("refund_another_way_text", "Merchant", p.Merchant, "Network", p.Network)
	case RefundFailed:
		return ui.Bad, "x-circle", p.t("refund_failed_title"), p.t("refund_failed_text", "Merchant", p.Merchant)
	case RefundExpired:
		return ui.Mute, "hourglass", p.t("refund_expired_title"), p.t("refund_expired_text", "Merchant", p.Merchant)
	case RefundEnded:
		return ui.Mute, "x-circle", p.t("refund_ended_title"), p.t("refund_ended_text", "Merchant", p.Merchant)
	}
	return ui.Info, "wallet", p.t("refund_ask_title"),
		p.t("refund_ask_text", "Merchant", p.Merchant, "Amount", p.Amount, "Coin", p.Coin)
}

// mayChange reports that the customer may still name another address.
func (p RefundProps) mayChange() bool { return p.View == RefundNamed || p.View == RefundConfirmed }

// changeWords is what unfolds the form for another address.
func (p RefundProps) changeWords() string {
	if p.View == RefundNamed {
		return p.t("refund_again")
	}
	return p.t("refund_other")
}

func (p RefundProps) addressField() ui.FieldProps {
	return p.Field("address", p.t("refund_address")).With(p.t("refund_address_help")).Attr("dir", "ltr").
		Attr("autocomplete", "off").Attr("autocapitalize", "none").Attr("spellcheck", "false").Attr("maxlength", "120")
}

func (p RefundProps) tagField() ui.FieldProps {
	return p.Field("tag", p.t("tag")).Silent().With(p.t("refund_tag_help")).Attr("dir", "ltr").
		Attr("inputmode", "numeric").Attr("autocomplete", "off").Attr("maxlength", "10")
}

func (p RefundProps) confirmations() string {
	return p.t("confirmations", "N", strconv.Itoa(min(p.Confirmations, p.Needed)), "Total", strconv.Itoa(p.Needed))
}
