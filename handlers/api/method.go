package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/payment/record"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/api/openapi"
)

// methodData is a payment method as the business has it.
type methodData struct {
	Code      string        `json:"code" enum:"crypto_bitcoin,crypto_ethereum,crypto_tether,crypto_ripple,crypto_dogecoin" example:"crypto_bitcoin" doc:"The payment_method to initiate with."`
	Currency  string        `json:"currency" enum:"BTC,ETH,USDT,XRP,DOGE" example:"BTC" doc:"The coin."`
	Name      string        `json:"name" example:"Bitcoin" doc:"The coin's name for people."`
	Network   networkCode   `json:"network" example:"bitcoin" doc:"The network that is preselected for customers."`
	Networks  []networkData `json:"networks" doc:"The networks that serve it in this domain, each with its switch."`
	Decimals  int           `json:"decimals" example:"8" doc:"How many decimals quotes have."`
	Enabled   bool          `json:"enabled" example:"true" doc:"Whether payments may use it in this domain."`
	Available bool          `json:"available" example:"true" doc:"Whether it works at this moment."`
	Remark    string        `json:"remark" example:"-" doc:"Why it isn't available, or a dash."`
	// Minimum has an entry for each currency; nil without a price.
	Minimum map[string]*string `json:"minimum" example:"{\"NGN\":\"500.00\",\"GHC\":\"4.00\",\"KES\":\"43.00\",\"USD\":\"1.00\"}" doc:"The smallest amount in each currency that the coin's network can carry at the current price; null without a price."`
}

// networkData is a network of a payment method.
type networkData struct {
	Code      networkCode `json:"code" example:"bitcoin" doc:"The network to initiate with."`
	Name      string      `json:"name" example:"Bitcoin" doc:"What wallets and exchanges call it for this coin."`
	Network   string      `json:"network" example:"sandbox-bitcoin" doc:"What transfers and sends call it."`
	Enabled   bool        `json:"enabled" example:"true" doc:"Whether payments may use it. Money on a network that isn't enabled is listed under Unmatched."`
	Available bool        `json:"available" example:"true" doc:"Whether it works at this moment."`
	Remark    string      `json:"remark" example:"-" doc:"Why it isn't available, or a dash."`
}

// rateData is the price of one whole coin now.
type rateData struct {
	PaymentMethod string    `json:"payment_method" enum:"crypto_bitcoin,crypto_ethereum,crypto_tether,crypto_ripple,crypto_dogecoin" example:"crypto_bitcoin" doc:"The payment method."`
	Coin          string    `json:"coin" enum:"BTC,ETH,USDT,XRP,DOGE" example:"BTC" doc:"The coin."`
	Currency      string    `json:"currency" enum:"NGN,GHC,KES,USD" example:"NGN" doc:"The fiat currency."`
	Available     bool      `json:"available" example:"true" doc:"Whether there is a price that can be trusted now; without one no payment can be initiated."`
	Price         *string   `json:"price" example:"90012345.67" doc:"Fiat units for one whole coin; null when not available."`
	Market        string    `json:"market" enum:"official,street,manual" example:"official" doc:"Whose fiat rate it is: published rates, the street's, or the business's own for a time."`
	MarketPrice   *string   `json:"market_price" example:"90012345.67" doc:"The price before the business's spread; null when not available."`
	SpreadPercent string    `json:"spread_percent" example:"0" doc:"By how much less than the market the coin is counted, in percent; negative for more."`
	QuotedAt      *string   `json:"quoted_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was computed; null when not available."`
	Remark        string    `json:"remark" example:"-" doc:"Why there is no price, or a dash."`
	Legs          []legData `json:"legs" doc:"The prices it is the product of."`
}

// legData is one price that a rate rests on, by ISO codes: GHS stands for GHC here.
type legData struct {
	Base    string       `json:"base" example:"BTC" doc:"What is priced."`
	Quote   string       `json:"quote" example:"USD" doc:"In units of what; ISO 4217 for fiat, so GHS for the cedi."`
	Value   string       `json:"value" example:"60008.23" doc:"Median of the sources that count."`
	Divides bool         `json:"divides" example:"false" doc:"Whether the price is divided by this leg, not multiplied."`
	Trusted string       `json:"trusted" example:"" doc:"The one source that the operator trusts alone, where fewer than two agree; else empty."`
	Sources []sourceData `json:"sources" doc:"What each source says."`
}

type sourceData struct {
	Source     string `json:"source" example:"sandbox-a" doc:"Name of the source."`
	Value      string `json:"value" example:"60008.23" doc:"Its price; empty where the source's terms forbid to pass it on."`
	At         string `json:"at" format:"date-time" example:"2026-01-31T11:59:50.000000Z" doc:"When it had this price."`
	AgeSeconds int64  `json:"age_seconds" example:"10" doc:"How old that is."`
	Via        string `json:"via" example:"" doc:"What it said in another unit, if the value was converted; else empty."`
	LeftOut    string `json:"left_out" example:"" doc:"Why it doesn't count; empty when it does."`
}

func (s *service) methodOperations() []*operation {
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/payment-methods", ID: "listPaymentMethods",
			Permission: apikey.ReadPayments, Tag: "Payment methods",
			Summary: "List payment methods", Message: "Payment methods found.",
			About: "The five payment methods, and whether this business may use them in the key's domain. They are " +
				"switched in the dashboard.",
			Data: methodData{}, Many: true}, run: listMethods},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/rates",
			ID: "listRates", Permission: apikey.ReadPayments, Tag: "Payment methods",
			Summary: "Current rates", Message: "Rates found.",
			About: "Today's price of one whole coin for each payment method and currency, with its sources and " +
				"their age. " +
				"A payment is priced when it is initiated, so its own rate can differ a little.",
			Params: []*huma.Param{enumParam("payment_method", "Only this payment method.", methodCodes()),
				enumParam("currency", "Only this currency.", openapi.CodeNames(money.Currencies()))},
			Data: rateData{}, Many: true}, run: listRates},
	}
}

func listMethods(c *call) error {
	found, err := c.api.Methods.Methods(c.ctx, c.scope)
	if err != nil {
		return err
	}
	policies, err := c.api.Quotes.Policies(c.ctx, c.scope)
	if err != nil {
		return err
	}
	items := make([]methodData, 0, len(found))
	for _, m := range found {
		networks, preselected, trouble := listNetworks(m)
		if m.Problem.IsZero() {
			m.Problem = trouble // of now
		}
		least, err := c.api.readMinimum(c.scope.Domain, m.Coin, policies)
		if err != nil {
			return err
		}
		items = append(items, methodData{
			Code: string(m.Coin.Method), Currency: string(m.Coin.Coin), Name: m.Coin.Name,
			Network:  networkCode(preselected),
			Networks: networks,
			Decimals: m.Coin.Display, Enabled: m.Enabled, Available: m.Problem.IsZero(),
			Remark: dashFor(m.Problem.String()), Minimum: least,
		})
	}
	return answerList(c, items, "")
}

// listNetworks describes the networks of a payment method, with the preselected one and why none can be paid on now.
func listNetworks(m account.Method) (list []networkData, preselected string, trouble fault.Message) {
	list, preselected = []networkData{}, string(m.Coin.Chain)
	works := false
	for _, n := range m.Networks {
		list = append(list, networkData{Code: networkCode(n.Code), Name: place.NameNetwork(m.Coin.Coin, n.Network),
			Network: n.Network, Enabled: n.Enabled, Available: n.Problem.IsZero(), Remark: dashFor(n.Problem.String())})
		if n.Preselected {
			preselected = string(n.Code)
		}
		works = works || n.Enabled && n.Problem.IsZero()
		if n.Enabled && trouble.IsZero() {
			trouble = n.Problem
		}
	}
	switch {
	case works:
		trouble = fault.Message{}
	case trouble.IsZero():
		trouble = fault.NewMessage("No network that serves it is on.")
	}
	return list, preselected, trouble
}

// readMinimum returns the smallest amount of each currency that a coin's network can carry now.
func (s *service) readMinimum(domain scope.Domain, coin money.CoinInfo,
	policies map[money.Currency]quote.Policy) (map[string]*string, error) {
	all := map[string]*string{}
	for _, in := range money.Currencies() {
		var q quote.Quote
		if coin.DustLimit > 0 {
			var err error
			q, err = s.Quotes.Price(domain, coin.Coin, in, policies[in])
			if fault.KindOf(err) == fault.Unavailable {
				all[string(in)] = nil
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		text := money.FormatFiat(coin.MinimumFiat(q.Price))
		all[string(in)] = &text
	}
	return all, nil
}

func listRates(c *call) error {
	q := c.newQuery()
	method := q.oneOf("payment_method", methodCodes())
	currency := q.oneOf("currency", openapi.CodeNames(money.Currencies()))
	if err := q.validationError(); err != nil {
		return err
	}
	policies, err := c.api.Quotes.Policies(c.ctx, c.scope)
	if err != nil {
		return err
	}
	items := []rateData{}
	for _, coin := range money.Coins() {
		for _, in := range money.Currencies() {
			if method != "" && method != string(coin.Method) || currency != "" && currency != string(in) {
				continue
			}
			item, err := readRate(c, coin, in, policies[in])
			if err != nil {
				return err
			}
			items = append(items, item)
		}
	}
	return answerList(c, items, "")
}

func readRate(c *call, coin money.CoinInfo, currency money.Currency, policy quote.Policy) (rateData, error) {
	item := rateData{PaymentMethod: string(coin.Method), Coin: string(coin.Coin), Currency: string(currency),
		Remark: "-", Legs: []legData{},
		Market: string(policy.At(currency, c.api.Clock())), SpreadPercent: quote.Percent(policy.Spread)}
	q, err := c.api.Quotes.Price(c.scope.Domain, coin.Coin, currency, policy)
	var none *fault.Fault
	if errors.As(err, &none) && none.Kind == fault.Unavailable {
		item.Remark = none.Sentence.String()
		return item, nil
	}
	if err != nil {
		return item, err
	}
	price, market := q.Price.String(), q.MarketPrice().String()
	item.Available, item.Price, item.MarketPrice, item.QuotedAt = true, &price, &market, formatStamp(&q.At)
	for _, leg := range q.Legs {
		item.Legs = append(item.Legs, showLeg(leg, q.At))
	}
	return item, nil
}

func showLeg(leg quote.Leg, now time.Time) legData {
	shown := legData{Base: leg.Base, Quote: leg.Quote, Value: leg.Value.String(), Divides: leg.Divides,
		Trusted: leg.Trusted, Sources: []sourceData{}}
	for _, r := range leg.Readings {
		value := r.Value.String()
		if r.Private {
			value = ""
		}
		shown.Sources = append(shown.Sources, sourceData{
			Source: r.Source, Value: value, At: clock.Format(r.At), AgeSeconds: int64(now.Sub(r.At) / time.Second),
			Via: r.Via, LeftOut: r.LeftOut,
		})
	}
	return shown
}

// dashFor returns a remark, or the dash of answers without one.
func dashFor(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// keyData is what a key may do, and for which business.
type keyData struct {
	Business    record.Business     `json:"business" doc:"The business that the key belongs to."`
	Domain      string              `json:"domain" enum:"test,live" example:"test" doc:"The domain that the key sees."`
	Name        string              `json:"name" example:"Web shop" doc:"The name that the key was given."`
	Permissions []apikey.Permission `json:"permissions" example:"[\"payments:read\",\"payments:write\"]" doc:"What the key may do."`
}

func (s *service) keyOperations() []*operation {
	return []*operation{{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/me",
		ID: "getKey", Tag: "Keys", Summary: "Get this key",
		Message: "Key found.", About: "The business, domain, name and permissions of the key that the request " +
			"came with.",
		Data: keyData{}}, run: getKey}}
}

func getKey(c *call) error {
	business, err := c.api.Methods.FindBusiness(c.ctx, c.scope)
	if err != nil {
		return err
	}
	domain := string(c.scope.Domain)
	of := record.Business{Name: business.Name, Code: business.Code, Domain: domain}
	return c.writeAnswer(keyData{Business: of, Domain: domain, Name: c.key.Name, Permissions: c.key.Permissions}, nil)
}
