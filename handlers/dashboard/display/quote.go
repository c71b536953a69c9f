package display

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/words"
)

var percentForm = regexp.MustCompile(`^([-−+]?)([0-9]{1,2})(?:\.([0-9]{1,2}))?$`)

// ParseBasisPoints reads percent in decimal digits, exactly.
func ParseBasisPoints(text string) (int, bool) {
	found := percentForm.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[2] + (found[3] + "00")[:2])
	if found[1] == "-" || found[1] == "−" {
		n = -n
	}
	return n, err == nil
}

// DescribeMarket names whose rate a stored quote was made with.
func DescribeMarket(ctx context.Context, q quote.Quote) string {
	switch {
	case q.Currency == money.USD:
		return words.T(ctx, "rates.market_none")
	case q.Market == quote.Street:
		return words.T(ctx, "rates.market_street")
	case q.Market == quote.Manual:
		return words.T(ctx, "rates.market_own")
	}
	return words.T(ctx, "rates.market_official")
}

// FormatSpread is a spread by itself.
func FormatSpread(ctx context.Context, basisPoints int) string {
	if basisPoints == 0 {
		return words.T(ctx, "rates.spread_none")
	}
	return strings.TrimSpace(FormatMinus(quote.Percent(basisPoints)) + " %")
}

// FormatMinus writes a negative number as people do.
func FormatMinus(text string) string { return strings.Replace(text, "-", "−", 1) }

// FindPublisher is a source as people know it, with its publisher's site: some let
// their prices be shown only beside a link to it.
func FindPublisher(ctx context.Context, name string) (title, href string) {
	from, known := source.Named(name)
	if !known {
		return PublisherName(ctx, name), ""
	}
	return from.Title, SiteName(from.Docs)
}

func PublisherName(ctx context.Context, name string) string {
	if from, known := source.Named(name); known {
		return from.Title
	}
	if name == string(quote.Manual) {
		return words.T(ctx, "rates.market_own")
	}
	return name
}

// SiteName is the front page of where an address leads; "" when it is none.
func SiteName(address string) string {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "https" {
		return ""
	}
	return (&url.URL{Scheme: at.Scheme, Host: at.Host}).String()
}

const RatesPath = "/dashboard/rates"

// Legs gives what the sources say of a pair.
type Legs interface {
	Leg(domain scope.Domain, p quote.Pair) (quote.Leg, error)
}

// FindUnpriced tells why live methods that are on can't be priced in any currency,
// by coin. In the test domain everything has a price.
func FindUnpriced(ctx context.Context, quotes Legs, sc scope.Scope,
	methods []account.Method) (map[money.Coin]string, error) {
	reasons := map[money.Coin]string{}
	if sc.Domain != scope.Live {
		return reasons, nil
	}
	for _, m := range methods {
		if !m.Enabled {
			continue
		}
		_, err := quotes.Leg(sc.Domain, quote.Pair{Base: string(m.Coin.Coin), Quote: string(money.USD)})
		why, err := DescribeUnavailable(ctx, err)
		if err != nil {
			return nil, err
		}
		if why != "" {
			reasons[m.Coin.Coin] = why
		}
	}
	return reasons, nil
}

// DescribeUnavailable is why there is no price, in the language of the context; other errors are passed on.
func DescribeUnavailable(ctx context.Context, err error) (why string, unexpected error) {
	if err == nil || fault.KindOf(err) != fault.Unavailable {
		return "", err
	}
	return page.ExplainError(err).SentenceIn(ctx), nil
}
