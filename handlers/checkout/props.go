package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/models"
	"cointill/views/checkout"
	"cointill/views/ui"
	"cointill/views/words"
)

// about is what the page shows of a payment beside the payment itself.
type about struct {
	asker
	// Problem is why the coin can't be paid now; "" when it can.
	Problem string
	// AmountsUsedUp says that the problem is that every amount at the merchant's one address is held.
	AmountsUsedUp bool
	// TooSmallForOneAddress says that the problem is that no amount near the payment's can be told apart from it there.
	TooSmallForOneAddress bool
	// NoAddress says that the problem is that the merchant has no address left.
	NoAddress bool
	// Networks are those that the customer can choose among.
	Networks []networks.Served
	// Uncredited are transfers that the merchant has to deal with.
	Uncredited []models.Transfer
	// OtherCoins are the names of coins that can carry any amount, for a payment that is too small
	// for its own.
	OtherCoins []string
	// Link is the payment link that the payment was started from, if any.
	Link  *models.Link
	Claim checkout.ClaimProps
}

// pageProps is the payment page.
func pageProps(v payment.View, a about) checkout.PageProps {
	props := checkout.PageProps{
		StatusProps: statusProps(v, a), Reference: v.Payment.Reference,
		Test: v.Payment.Domain == string(scope.Test), Scenarios: listScenarios(a.Lang, v),
	}
	if v.Payment.LinkID == nil { // a link's payments have references that tell a customer nothing
		props.BusinessReference = v.Payment.BusinessReference
	}
	props.Shown = identifyShown(props)
	return props
}

// identifyShown identifies what a payment page's live part shows, apart from the time that is left. The page's script
// skips a message that says what the page shows already, as the first of each stream does: on a cheap phone, taking
// it in holds the page up.
func identifyShown(props checkout.PageProps) string {
	props.Now = props.Deadline
	sum := sha256.New()
	if err := checkout.Live(props).Render(context.Background(), sum); err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12])
}

// statusProps is the live part of the payment page.
func statusProps(v payment.View, a about) checkout.StatusProps {
	p, coin, currency := v.Payment, v.Coin(), money.Currency(v.Payment.Currency)
	where := v.Destination()
	zone := clock.LoadZone(v.Business.TimeZone)
	props := checkout.StatusProps{
		Lang: a.Lang, Chosen: a.Chosen, Token: a.Token, View: chooseView(v, a.Problem), Merchant: v.Business.Name,
		Contact: v.Business.ContactEmail, SupportURL: v.Business.SupportURL, LogoPath: settings.LogoPath(v.Business),
		Coin: p.Coin, CoinName: coin.Info().Name, Network: where.Network, Fiat: currency.FormatForPeople(v.Charged()),
		Asked: coin.Format(p.Due), Received: coin.Format(amountReceived(v)), Due: coin.Format(v.Rest()),
		ExactAmount: p.ExactAmount, AmountsUsedUp: a.AmountsUsedUp, TooSmallForOneAddress: a.TooSmallForOneAddress,
		NoAddress:      a.NoAddress,
		Difference:     coin.Format(p.Paid.Sub(p.Due).Abs()),
		DifferenceFiat: currency.FormatForPeople(v.PaidFiat().Sub(v.Charged()).Abs()),
		Now:            v.Now.In(zone), Deadline: p.ExpiresAt.In(zone), WatchUntil: p.AbandonsAt.In(zone),
		Window:        payment.Window,
		Confirmations: countConfirmations(v), Needed: int(v.Needed()), Hash: v.Record().Transaction.CryptoTransactionHash,
		Claim: a.Claim, Delayed: a.Problem != "", OtherCoins: strings.Join(a.OtherCoins, ", "),
	}
	if at := payment.CompletedAt(p); at != nil {
		props.PaidAt = at.In(zone)
	}
	for _, t := range a.Uncredited {
		props.Uncredited = append(props.Uncredited, checkout.UncreditedAmount{Amount: coin.Format(t.Amount),
			Network: place.NameNetwork(coin, t.Network), Hidden: t.Unmatched == payment.NoTransaction,
			NotEntered: t.Unmatched == payment.AddressNotEntered})
	}
	props.Refunds = noteRefunds(a.Lang, v)
	if v.SurplusSum.Sign() > 0 {
		props.Surplus = coin.Format(v.SurplusSum)
	}
	if a.Problem == "" {
		props.Wait = estimateWait(v)
	}
	if v.Business.ReceiptsEnabled {
		props.ReceiptEmail = maskEmail(p.CustomerEmail)
	}
	props.ReturnURL = returnURL(p, p.RedirectURL)
	if a.Link != nil {
		props.Item, props.ReturnURL = a.Link.Title, returnURL(p, a.Link.RedirectURL)
		if a.Link.Active {
			props.AgainURL = a.addLanguage("/l/" + a.Link.Code)
		}
	}
	if props.View == checkout.Waiting || props.View == checkout.Partial {
		payTo(&props, where)
		props.Networks = listNetworks(v, a.Networks)
	}
	return props
}

// listNetworks describes the networks that a payment can be paid on.
func listNetworks(v payment.View, offered []networks.Served) (options []checkout.NetworkOption) {
	for _, one := range offered {
		facts, _ := money.FindNetworkFacts(one.Code)
		final := facts.UsualTime(settings.IsLarge(v.Payment))
		text := strconv.Itoa(int(final.Seconds())) + " s"
		if final > 2*time.Minute {
			text = strconv.Itoa(int(final.Round(time.Minute).Minutes())) + " min"
		}
		options = append(options, checkout.NetworkOption{Code: string(one.Code),
			Label: place.NameNetwork(v.Coin(), one.Network), Native: string(facts.Native),
			Fee: facts.UsualFee(v.Coin()), Time: text, Chosen: one.Network == v.Payment.Network})
	}
	return options
}

// returnURL names the payment in the address to which the merchant wants its customer led.
func returnURL(p models.Payment, redirect string) string {
	u, err := url.Parse(redirect)
	if redirect == "" || err != nil {
		return ""
	}
	named := url.Values{"reference": {p.Reference}, "business_reference": {p.BusinessReference}}.Encode()
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+named, "&")
	return u.String()
}

// payTo adds where to pay. It is left out of every view that doesn't ask for
// money, so that no page that stayed open invites to pay too late.
func payTo(props *checkout.StatusProps, where place.Pay) {
	props.Address, props.XAddress, props.WalletURI = where.Address, where.XAddress, where.URI
	if where.Tag != nil {
		props.Tag = strconv.FormatInt(*where.Tag, 10)
	}
	props.AddressQR = ui.DrawQR(where.Address, "")
	if where.URI != "" {
		props.WalletQR = ui.DrawQR(where.URI, "")
	}
}

// amountReceived returns the received amount, also while a reorg keeps it out of the chain.
func amountReceived(v payment.View) money.Amount {
	sum := v.Payment.Paid
	if sum.Sign() > 0 || !mayReturn(v) {
		return sum
	}
	for _, t := range v.Transfers {
		if payment.Reason(t.GoneReason) == payment.Reorged || isDropped(t) {
			sum = sum.Add(t.Amount)
		}
	}
	return sum
}

// countConfirmations returns the number for the slowest counted transfer, at most the needed depth.
func countConfirmations(v payment.View) int {
	least := int64(-1)
	for _, t := range v.Transfers {
		if t.Gone || t.Reverted {
			continue
		}
		if n := v.Confirmations(t); least < 0 || n < least {
			least = n
		}
	}
	return int(min(max(least, 0), v.Needed()))
}

// paces are how long a block takes on average, by network. The sandbox mines
// every few seconds while a payment waits, and a private test network on request: no
// time is promised there.
var paces = map[string]time.Duration{
	"bitcoin-mainnet": 10 * time.Minute, "bitcoin-testnet4": 10 * time.Minute, "bitcoin-signet": 10 * time.Minute,
	"dogecoin-mainnet": time.Minute, "dogecoin-testnet": time.Minute,
}

// estimateWait returns how long the confirmations that are missing take on average. It is
// the same at every moment between two blocks: they come by chance.
func estimateWait(v payment.View) time.Duration {
	return time.Duration(v.Needed()-int64(countConfirmations(v))) * paces[v.Payment.Network]
}

// maskEmail hides most of an e-mail address: the page is open to everyone with its address.
func maskEmail(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at < 1 {
		return ""
	}
	return email[:1] + "•••" + email[at:]
}

// listScenarios returns the sandbox's buttons, in the customer's language where the dashboard has it too.
func listScenarios(lang string, v payment.View) (list []checkout.Scenario) {
	ctx := words.WithLanguage(context.Background(), lang)
	for _, s := range sandbox.Fitting(v) {
		list = append(list, checkout.Scenario{Code: s.Code, Label: words.ScenarioLabel(ctx, s.Code, s.Label),
			Text: words.ScenarioText(ctx, s.Variant, s.Explanation), Lang: words.CodedLanguage(lang)})
	}
	return list
}

// inWords translates the errors of the fields of a link's page to the customer's
// language. English keeps core's sentences, which are more specific.
func inWords(lang string, errors map[string][]string, p checkout.LinkPageProps) map[string][]string {
	if lang == words.Languages[0] {
		return errors
	}
	said := map[string][]string{}
	for field := range errors {
		said[field] = []string{fieldWords(lang, field, p)}
	}
	return said
}

// smallCoin stands for the field payment_method where its coin's network can't carry the amount.
const smallCoin = "small_coin"

func fieldWords(lang, field string, p checkout.LinkPageProps) string {
	switch field {
	case "amount":
		return words.Say(lang, "bad_amount", "Min", p.Min, "Max", p.Max)
	case "first_name", "last_name":
		return words.Say(lang, "bad_name")
	case "email":
		return words.Say(lang, "bad_email")
	case "payment_method":
		return words.Say(lang, "bad_coin")
	case smallCoin:
		return words.Say(lang, "small_coin")
	}
	return words.Say(lang, "refused")
}

// linkProps is the public page of a payment link.
func linkProps(public link.Public, in tongue, form ui.Form) checkout.LinkPageProps {
	l, currency := public.Link, money.Currency(public.Link.Currency)
	props := checkout.LinkPageProps{
		Form: form, Lang: in.Lang, Chosen: in.Chosen, Code: l.Code, State: checkout.LinkState(public.State),
		Merchant: public.Business.Name, LogoPath: settings.LogoPath(public.Business),
		Title: l.Title, Description: l.Description, Currency: l.Currency, Test: public.Scope.Domain == scope.Test,
	}
	if l.Amount != nil {
		props.Fixed = currency.FormatForPeople(decimal.NewFromInt(*l.Amount))
	} else {
		props.Min, props.Max = currency.FormatForPeople(decimal.NewFromInt(l.MinAmount)),
			currency.FormatForPeople(decimal.NewFromInt(l.MaxAmount))
	}
	props.Errors = inWords(in.Lang, form.Errors, props)
	if small, ok := props.Errors[smallCoin]; ok { // shown beside the coins
		props.Errors["payment_method"] = small
	}
	for _, info := range public.Methods {
		props.Methods = append(props.Methods, checkout.Choice{
			Code: string(info.Method), Coin: string(info.Coin), Name: info.Name, Network: info.Network,
		})
	}
	return props
}
