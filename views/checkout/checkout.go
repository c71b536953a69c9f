// Package checkout holds the customer's pages: the payment page with its live
// status, and the page of a payment link, in every language of package words.
package checkout

import (
	"strconv"
	"strings"
	"time"

	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// View says which face the payment page shows.
type View string

// The views.
const (
	// Confirm: the customer has not asked for the details yet.
	Confirm View = "confirm"
	// Waiting: the details are shown, and nothing has come.
	Waiting View = "waiting"
	// Partial: less than asked has come, and there is time to pay the rest.
	Partial View = "partial"
	// PartOnly: less than asked has come, and the rest can't be paid to the same address.
	PartOnly View = "part_only"
	// Seen: the whole amount was seen, without a confirmation.
	Seen View = "seen"
	// Processing: it is being confirmed.
	Processing View = "processing"
	// Successful: it is paid.
	Successful View = "successful"
	// Under, Over and Late are the three ways to be declined.
	Under View = "under"
	Over  View = "over"
	Late  View = "late"
	// WindowOver: the time to pay is over, nothing has come, and we still watch.
	WindowOver View = "window_over"
	// Abandoned, Expired and Failed are the states of these names.
	Abandoned View = "abandoned"
	Expired   View = "expired"
	Failed    View = "failed"
	// TooSmall: the coin's network can't carry so little.
	TooSmall View = "too_small"
	// Unavailable: the coin can't be paid just now.
	Unavailable View = "unavailable"
)

// Final says that the page of this view never changes by itself. An abandoned
// payment still may: its money can come all the same.
func (v View) Final() bool {
	switch v {
	case Successful, Under, Over, Late, Expired, Failed:
		return true
	}
	return false
}

// UncreditedAmount is an amount of the coin that the merchant has to deal with: its transaction is hidden here, or the
// merchant doesn't take it on its network. NotEntered says that the merchant may not even hold the address there.
type UncreditedAmount struct {
	Amount, Network    string
	Hidden, NotEntered bool
}

// RefundNote is a refund of the payment. Hash is its transaction; "" while none is known.
type RefundNote struct{ Text, Hash string }

// StatusProps is everything that the live part of the page shows.
type StatusProps struct {
	Lang, Token string
	// Chosen: the language was chosen by hand, so every address carries it on.
	Chosen   bool
	View     View
	Merchant string
	// LogoPath is the merchant's picture; empty shows the first letter of the name.
	LogoPath string
	// SupportURL is a page of the merchant's for who needs help; empty shows nothing.
	SupportURL string
	// Contact is how the merchant is reached; empty shows nothing.
	Contact string
	// Coin is the symbol (BTC), CoinName the name, Network the network's name
	// as people know it, for example "Ethereum (ERC-20)".
	Coin, CoinName, Network string
	// Networks are those that the customer can choose among, with the chosen one; none where there is no choice.
	Networks []NetworkOption
	// Fiat is the amount asked as shown, for example "₦25,000.00".
	Fiat string
	// Item names the goods as the merchant does; empty shows nothing.
	Item string
	// PaidAt is when it became successful; zero before.
	PaidAt time.Time
	// Uncredited are amounts that came and that the merchant has to deal with.
	Uncredited []UncreditedAmount
	Refunds    []RefundNote
	// Surplus is the amount of surplus that is owed back; "" for none.
	Surplus string
	// Asked, Received, Due and Difference are bare coin amounts without their
	// symbol. Due is the amount to send now.
	Asked, Received, Due, Difference string
	// ExactAmount says that only this amount is recognised, as other payments go to the same address.
	ExactAmount bool
	// AmountsUsedUp says that the coin is unavailable because no such amount is free.
	AmountsUsedUp bool
	// TooSmallForOneAddress says that it is because an amount this small has no others near it.
	TooSmallForOneAddress bool
	// NoAddress says that it is because the merchant has no address left.
	NoAddress bool
	// DifferenceFiat is as shown; empty shows none.
	DifferenceFiat         string
	Address, Tag, XAddress string
	// WalletURI opens a wallet; "" where wallets know no such request. WalletQR draws it and AddressQR the plain
	// address; their Alt is set by the page.
	WalletURI           string
	WalletQR, AddressQR ui.QRProps
	// Now is the server's time, Deadline the end of the quote, WatchUntil the
	// end of the watching. Window is the length of the quote.
	Now, Deadline, WatchUntil time.Time
	// Shown identifies all that the live part shows but the time that is left; "" for nothing.
	Shown                 string
	Window                time.Duration
	Confirmations, Needed int
	// Wait is how long the missing confirmations take on average; 0 where that is
	// unknown.
	Wait time.Duration
	// OtherCoins names the coins that can carry an amount that is too small for this one, with
	// commas between; empty names none.
	OtherCoins string
	// Delayed reports that the network can't be read now, so that nothing changes.
	Delayed bool
	Hash    string
	// ReceiptEmail is where the receipt goes; masked or not is the caller's choice.
	ReceiptEmail string
	// ReturnURL leads back to the merchant, AgainURL to a fresh payment.
	ReturnURL, AgainURL string
	Claim               ClaimProps
}

// ClaimProps is the form "I have paid: here is my transaction hash".
type ClaimProps struct {
	Errors []string
	Done   bool
}

// Scenario is a button of the sandbox panel. Lang is the language of its words: English where the page's has none.
type Scenario struct{ Code, Label, Text, Lang string }

// PageProps is the payment page.
type PageProps struct {
	StatusProps
	Reference string
	// BusinessReference is the shop's own name of the payment; empty shows nothing.
	BusinessReference string
	// Test shows the band; Scenarios fill the sandbox panel.
	Test      bool
	Scenarios []Scenario
}

// Choice is a coin that a customer may choose.
type Choice struct{ Code, Coin, Name, Network string }

// LinkState says whether a payment link can be paid.
type LinkState string

// The states of a payment link.
const (
	LinkOpen     LinkState = "open"
	LinkInactive LinkState = "inactive"
	LinkExpired  LinkState = "expired"
	LinkUsedUp   LinkState = "used_up"
)

// LinkPageProps is the public page of a payment link: fields amount (when it
// is open), payment_method, first_name, last_name, email.
type LinkPageProps struct {
	ui.Form
	Lang, Code string
	// Chosen: the language was chosen by hand, so every address carries it on.
	Chosen             bool
	State              LinkState
	Merchant           string
	LogoPath           string // of the merchant's picture; empty shows the first letter of the name
	Title, Description string
	// Fixed is the amount as shown; empty when the customer chooses it, then
	// Currency is its code and Min and Max are as shown (either may be empty).
	Fixed, Currency, Min, Max string
	Methods                   []Choice
	Test                      bool
}

func (p StatusProps) t(id string, pairs ...string) string { return words.Say(p.Lang, id, pairs...) }

// explainDecline returns the text about a declined payment. Once money of it is sent back the merchant can't accept it
// any more, so that isn't suggested.
func (p StatusProps) explainDecline(text string) string {
	if len(p.Refunds) > 0 {
		return p.t("not_completed_text")
	}
	return text
}

func (p LinkPageProps) t(id string, pairs ...string) string { return words.Say(p.Lang, id, pairs...) }

// NetworkOption is a network that a payment can be paid on.
type NetworkOption struct {
	Code, Label string
	// Native is the coin that its fees are paid in, Fee the limit under which they usually stay, "" where that isn't
	// known. Time is how long a transfer takes until it is final.
	Native, Fee, Time string
	Chosen            bool
}

// otherNetworks lists the networks that the customer can choose in place of the chosen one.
func (p StatusProps) otherNetworks() (others []NetworkOption) {
	for _, n := range p.Networks {
		if !n.Chosen {
			others = append(others, n)
		}
	}
	return others
}

// describeNetwork says what a transfer on a network costs the customer, and how long it takes. A number and its unit
// stay on one line.
func (p StatusProps) describeNetwork(n NetworkOption) string {
	fee, final := words.KeepTogether(n.Fee), words.KeepTogether(n.Time)
	if fee == "" {
		return p.t("networks_option", "Native", n.Native, "Time", final)
	}
	return p.t("networks_option_fee", "Native", n.Native, "Fee", fee, "Time", final)
}

func (p StatusProps) path(end string) string {
	return "/pay/" + p.Token + end + carriedQuery(p.Lang, p.Chosen)
}

func (p LinkPageProps) path() string { return "/l/" + p.Code + carriedQuery(p.Lang, p.Chosen) }

// carriedQuery returns the query that keeps a language that was chosen.
func carriedQuery(lang string, chosen bool) string {
	if !chosen {
		return ""
	}
	return "?lang=" + lang
}

// addressFirst says that the first code is the plain address: for tokens some
// wallets send the money to the contract when they read a request.
func (p StatusProps) addressFirst() bool { return p.Coin == "USDT" }

func (p StatusProps) walletQR() ui.QRProps {
	qr := p.WalletQR
	qr.Alt = p.t("qr_wallet_alt", "Amount", p.Due, "Coin", p.Coin, "Address", p.Address)
	return qr
}

func (p StatusProps) addressQR() ui.QRProps {
	qr := p.AddressQR
	qr.Alt = p.t("qr_address_alt", "Address", p.Address)
	return qr
}

func (p StatusProps) left() string {
	left := max(0, int(p.Deadline.Sub(p.Now).Round(time.Second)/time.Second))
	seconds := strconv.Itoa(left % 60)
	return strconv.Itoa(left/60) + ":" + strings.Repeat("0", 2-len(seconds)) + seconds
}

func (p StatusProps) window() string {
	if p.Window <= 0 {
		return "420"
	}
	return strconv.Itoa(int(p.Window / time.Second))
}

// wait is the time that the missing confirmations take, in words, or "" where it is unknown.
func (p StatusProps) wait() string {
	minutes := int((p.Wait + time.Minute - 1) / time.Minute)
	hours := (minutes + 30) / 60
	switch {
	case minutes <= 0:
		return ""
	case minutes < 55:
		return words.SayCount(p.Lang, "wait_minutes", minutes)
	}
	return words.SayCount(p.Lang, "wait_hours", hours)
}

func unixText(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// clock writes an absolute time with its zone.
func (p StatusProps) clock(t time.Time) string { return words.FormatMoment(p.Lang, t) }

// refreshSeconds is after how many seconds browsers without JavaScript load the page again; 0 for never.
func (p StatusProps) refreshSeconds() int {
	if p.View.Final() || p.View == Confirm {
		return 0
	}
	return 15
}

func (p PageProps) shell() layout.CustomerProps {
	return layout.CustomerProps{
		Lang: p.Lang, Title: p.t("page_title", "Merchant", p.Merchant), Skip: p.t("skip"),
		Refresh: p.refreshSeconds(), RefreshTo: p.path(""), Stream: true,
		Test: p.Test, TestLabel: p.t("test_data"), TestText: p.t("test_band"), ThemeText: p.t("theme"),
	}
}

func (p LinkPageProps) shell() layout.CustomerProps {
	return layout.CustomerProps{
		Lang: p.Lang, Title: p.t("page_title", "Merchant", p.Merchant), Skip: p.t("skip"),
		Test: p.Test, TestLabel: p.t("test_data"), TestText: p.t("test_band"), ThemeText: p.t("theme"),
	}
}

func (p LinkPageProps) closed() (title, text string) {
	switch p.State {
	case LinkExpired:
		return p.t("link_expired_title"), p.t("link_expired_text", "Merchant", p.Merchant)
	case LinkUsedUp:
		return p.t("link_used_title"), p.t("link_used_text", "Merchant", p.Merchant)
	}
	return p.t("link_inactive_title"), p.t("link_inactive_text", "Merchant", p.Merchant)
}
