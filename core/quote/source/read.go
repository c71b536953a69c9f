package source

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/money"
)

const (
	// maxText bounds how long a number is written.
	maxText = 40
	// maxDigits bounds the digits of a value before its point, and those after it.
	maxDigits = 30
)

// decodeJSON reads a whole document strictly: it refuses repeated names, text
// that isn't UTF-8, data after the document, and nesting without end. A
// byte order mark before it is no fault: it says nothing about the prices.
func decodeJSON(body []byte, into any) error {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if start := bytes.TrimLeft(body, " \t\r\n"); len(start) > 0 && start[0] == '<' {
		return &failure{webPage, nil}
	}
	err := json.Unmarshal(body, into)
	var other *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &other):
		return &failure{otherShape, err}
	}
	return &failure{unreadable, err}
}

// number is a number of a document as it is written there. Sources write them
// as numbers and as strings; whatever else stands in its place reads as "",
// which is no price, so that one pair's null does not cost the others.
type number string

// UnmarshalJSONFrom takes the next value, whatever it is.
func (n *number) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	kind := d.PeekKind()
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	*n = ""
	switch kind {
	case '0':
		*n = number(value)
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return err
		}
		*n = number(text)
	}
	return nil
}

// written is how a value may be written: as JSON's numbers are. The exponent is
// so short that it can be counted with.
var written = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$`)

// parseValue reads a value. It looks at the size before it counts with the
// number, for which 1e999999999 would take all memory. Zero and negative values
// pass: the checks of prices can then name the problem.
func parseValue(text string) (decimal.Decimal, error) {
	if len(text) > maxText {
		return decimal.Zero, errors.New("the number is too long")
	}
	parts := written.FindStringSubmatch(text)
	if parts == nil {
		return decimal.Zero, errors.New("not a number")
	}
	exponent := 0
	if parts[3] != "" {
		var err error
		if exponent, err = strconv.Atoi(parts[3]); err != nil {
			return decimal.Zero, err
		}
	}
	if len(parts[1])+exponent > maxDigits || len(parts[2])-exponent > maxDigits {
		return decimal.Zero, errors.New("the number is out of bounds")
	}
	return decimal.NewFromString(text)
}

// quoted is one price in a document. Its value and its time are as the source
// writes them, read already or absent.
type quoted struct {
	value decimal.Decimal
	at    time.Time
	err   error // why it can't be read
}

// newQuoted returns a quoted price of a number and a time that is known.
func newQuoted(n number, at time.Time) quoted {
	value, err := parseValue(string(n))
	return quoted{value, at, err}
}

// withTime returns a quoted price with its time. A price without a readable time may be
// stale, so it counts as missing.
func (q quoted) withTime(at time.Time, err error) quoted {
	return quoted{q.value, at, errors.Join(q.err, err)}
}

// lookUp finds the price of a pair in a document; false where there is none.
type lookUp func(Pair) (quoted, bool)

// newDocument returns a document that is JSON of a type. read takes it apart; its error says that the document
// isn't what its source publishes.
func newDocument[JSON any](path string, pairs []Pair, read func(from JSON, asked time.Time) (lookUp, error)) Document {
	return Document{Path: path, Pairs: pairs, Read: func(body []byte, asked time.Time) ([]Price, error) {
		var from JSON
		if err := decodeJSON(body, &from); err != nil {
			return nil, err
		}
		look, err := read(from, asked)
		if err != nil {
			return nil, err
		}
		return pickPrices(pairs, look)
	}}
}

// pickPrices takes what a document holds of the pairs, in their order. Those that
// look doesn't find, and those that can't be read, are left out; when nothing
// is left, the document is worth nothing.
func pickPrices(pairs []Pair, look lookUp) ([]Price, error) {
	var prices []Price
	var causes []error
	for _, pair := range pairs {
		q, ok := look(pair)
		switch {
		case !ok:
			causes = append(causes, fmt.Errorf("%s: missing", pair))
		case q.err != nil:
			causes = append(causes, fmt.Errorf("%s: %w", pair, q.err))
		default:
			prices = append(prices, Price{pair, q.value, clock.Trim(q.at)})
		}
	}
	if len(prices) == 0 {
		return nil, &failure{priceless, errors.Join(causes...)}
	}
	return prices, nil
}

// byName orders rows by their names. Two rows with one name are two prices for
// one pair, and neither is used.
func byName[Row any](rows []Row, name func(Row) string) (map[string]Row, error) {
	named := make(map[string]Row, len(rows))
	for _, row := range rows {
		if _, twice := named[name(row)]; twice {
			return nil, shapeFailure("a name comes twice")
		}
		named[name(row)] = row
	}
	return named, nil
}

// half and wide are for the middle of a book.
var (
	half = decimal.New(5, -1)
	wide = decimal.New(11, -1) // an ask of 1.1 bids
)

// middlePrice returns the price between the best bid and the best ask, which holds now,
// while the last trade may be of any age and most sources don't tell it. A book
// that is crossed or wider than a tenth has no price. A side that isn't
// positive is passed on alone: halving it with the other would make a price.
func middlePrice(bid, ask number, at time.Time) quoted {
	low, err := parseValue(string(bid))
	if err != nil {
		return quoted{err: fmt.Errorf("bid: %w", err)}
	}
	high, err := parseValue(string(ask))
	if err != nil {
		return quoted{err: fmt.Errorf("ask: %w", err)}
	}
	switch {
	case !low.IsPositive() || !high.IsPositive():
		return quoted{value: decimal.Min(low, high), at: at}
	case low.GreaterThan(high):
		return quoted{err: errors.New("the book is crossed")}
	case high.GreaterThan(low.Mul(wide)):
		return quoted{err: errors.New("the book is too wide")}
	}
	return quoted{value: low.Add(high).Mul(half).Truncate(maxDigits), at: at}
}

// Times before Bitcoin and after this century are no times of prices, and
// not all of them can be written.
var (
	earliest = time.Date(2009, 1, 3, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// checkTime refuses times that no price has.
func checkTime(at time.Time, err error) (time.Time, error) {
	if err == nil && (at.Before(earliest) || !at.Before(latest)) {
		err = errors.New("no time of a price")
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("its time: %w", err)
	}
	return at, nil
}

// parseSeconds and milliseconds read a time that is counted from 1970.
func parseSeconds(n number) (time.Time, error) {
	count, err := strconv.ParseInt(string(n), 10, 64)
	return checkTime(time.Unix(count, 0), err)
}

func parseMilliseconds(n number) (time.Time, error) {
	count, err := strconv.ParseInt(string(n), 10, 64)
	return checkTime(time.UnixMilli(count), err)
}

// parseDay reads a date. A price of a day counts from the day's first moment: the
// source doesn't say that it is younger.
func parseDay(text string) (time.Time, error) { return checkTime(time.Parse(time.DateOnly, text)) }

// coins are those that are paid with, fiat the currencies beside the dollar, by
// their ISO 4217 codes: no source is ever asked for GHC, the cedi of before 2007.
var coins, fiat = listCodes()

func listCodes() (coins, fiat []string) {
	for _, info := range money.Coins() {
		coins = append(coins, string(info.Coin))
	}
	for _, currency := range money.Currencies() {
		if currency != money.USD {
			fiat = append(fiat, currency.ISOCode())
		}
	}
	return coins, fiat
}

// inDollars pairs coins with the dollar; dollarsIn the dollar with currencies.
func inDollars(bases ...string) (pairs []Pair) {
	for _, base := range bases {
		pairs = append(pairs, Pair{base, "USD"})
	}
	return pairs
}

func dollarsIn(quotes ...string) (pairs []Pair) {
	for _, quote := range quotes {
		pairs = append(pairs, Pair{"USD", quote})
	}
	return pairs
}
