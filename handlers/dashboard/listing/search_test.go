package listing

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/payment/list"
)

func address(t *testing.T, query string) Search {
	t.Helper()
	values, _ := url.ParseQuery(query)
	return ReadSearch(t.Context(), values)
}

// TestSearchComesBack: an address that was read is written the same, and each
// chip leads to the list without its filter, from the first page on.
func TestSearchComesBack(t *testing.T) {
	const want = "booked_from=2026-04-01&booked_to=2026-04-30&col=customer&col=fiat&currency=GHC&from=2026-03-01&max=900&method=crypto_ripple&min=10&older=PAY_7&q=a+b%26c&size=50&status=declined&status=failed&to=2026-03-31"
	s := address(t, want)
	if got := s.Href(); got != "/dashboard/payments?"+want || len(s.Wrong) > 0 {
		t.Errorf("s.Href(): got = %v, s.Wrong = %v", got, s.Wrong)
	}
	var texts []string
	for i, chip := range s.DescribeFilters(t.Context()) {
		texts = append(texts, chip.Text)
		if strings.Contains(chip.RemoveHref, "older") || !strings.Contains(chip.RemoveHref, "size=50") {
			t.Errorf("%s leads to %s", chip.Text, chip.RemoveHref)
		}
		without := address(t, chip.RemoveHref[strings.Index(chip.RemoveHref, "?")+1:])
		if rest := without.DescribeFilters(t.Context()); len(rest) != len(s.DescribeFilters(t.Context()))-1 || i < len(rest) && rest[i].Text == chip.Text {
			t.Errorf("without %s: %+v", chip.Text, rest)
		}
	}
	if got := strings.Join(texts, ", "); got != "a b&c, Status: Declined, Status: Failed, Method: XRP, Currency: GHC, Created: 1 Mar 2026 to 31 Mar 2026, Booked: 1 Apr 2026 to 30 Apr 2026, Amount: 10 to 900" {
		t.Errorf(`strings.Join(texts, ", "): got = %v`, got)
	}
	if (Search{}).Href() != "/dashboard/payments" || address(t, "col=business&col=customer&col=method&col=fiat&col=coin&col=created&size=25").Href() != "/dashboard/payments" {
		t.Error("what is usual stands in the address")
	}
}

// TestStrangeAddresses (AP-20): what can't be read is left out and named, never guessed.
func TestStrangeAddresses(t *testing.T) {
	for query, want := range map[string]string{
		"status=nonsense": "There is no status “nonsense”.", "method=crypto_gold": "There is no payment method “crypto_gold”.", "currency=GHS": "There is no currency “GHS”.",
		"period=ever": "There is no period “ever”.", "from=2026-02-30": "This is not a date: “2026-02-30”.", "to=31.3.2026": "This is not a date: “31.3.2026”.", "from=0001-01-01": "This is not a date: “0001-01-01”.",
		"from=2026-03-02&to=2026-03-01": "The start date is after the end date: “2026-03-02 to 2026-03-01”.", "booked_from=2026-02-30": "This is not a date: “2026-02-30”.", "booked_from=2026-03-02&booked_to=2026-03-01": "The start date is after the end date: “2026-03-02 to 2026-03-01”.", "min=1.50": "This is not a whole amount: “1.50”.", "max=-1": "This is not a whole amount: “-1”.",
		"min=99999999999999999999": "This is not a whole amount: “99999999999999999999”.", "min=5&max=4": "The minimum amount is above the maximum: “5 and 4”.",
		"max=0": "This is not a whole amount: “0”.", "min=5&min=10": "A filter is in the address more than once: “10, 5”.", "q=a&q=b": "A filter is in the address more than once: “a, b”.",
		"method=crypto_ripple&method=crypto_bitcoin": "A filter is in the address more than once: “crypto_bitcoin, crypto_ripple”.", "min=0": "", "method=": "",
		"q=" + strings.Repeat("é", 257): "The search text is longer than 256 characters: “" + strings.Repeat("é", 60) + "”.",
		"older=12":                      "No page starts at “12”.", "newer=PAY_" + strings.Repeat("A", 99): "No page ends at “PAY_" + strings.Repeat("A", 56) + "”.", "status=%00%FF%3Cb%3E": "There is no status “<b>”.", "status=a%E2%80%AEb": "There is no status “ab”.",
	} {
		if s := address(t, query); strings.Join(s.Wrong, " ") != want || s.Href() != "/dashboard/payments" {
			t.Errorf("%s: %q, %s", query, s.Wrong, s.Href())
		}
	}
	if s := address(t, "period=7d&from=2026-03-01"); s.From != "" || strings.Join(s.Wrong, " ") != "Choose dates or a period, not both: “2026-03-01”." {
		t.Errorf(`address(t, "period=7d&from=2026-03-01"): s.From = %v, s.Wrong = %v`, s.From, s.Wrong)
	}
	many := address(t, strings.Repeat("status=x&", 500)+"col=nothing&size=7&q="+strings.Repeat("a", 1000))
	if len(many.Wrong) > 5 || many.Query != "" || many.Size != PageSize || many.Columns != nil {
		t.Errorf("%+v", many)
	}
	if s := address(t, "min=45,300&max=45+300&status=failed&status=failed&status="); s.Least != 45300 || s.Most != 45300 || len(s.States) != 1 || s.DescribeFilters(t.Context())[1].Text != "Amount: 45300" {
		t.Errorf("%+v", s)
	}
}

// TestDays are those of the merchant's clock, its summer time too.
func TestDays(t *testing.T) {
	lagos, _ := time.LoadLocation("Africa/Lagos")
	cairo, _ := time.LoadLocation("Africa/Cairo")
	now := time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC) // 2 March in Lagos
	for query, want := range map[string]string{
		"period=today": "2026-03-01T23:00 2026-03-02T23:00", "period=yesterday": "2026-02-28T23:00 2026-03-01T23:00", "period=7d": "2026-02-23T23:00 2026-03-02T23:00",
		"period=30d": "2026-01-31T23:00 2026-03-02T23:00", "period=month": "2026-02-28T23:00 2026-03-02T23:00", "period=last_month": "2026-01-31T23:00 2026-02-28T23:00",
		"from=2026-01-15&to=2026-01-15": "2026-01-14T23:00 2026-01-15T23:00", "from=2026-01-15": "2026-01-14T23:00 -", "to=2026-12-31": "- 2026-12-31T23:00", "": "- -",
	} {
		if got := bounds(address(t, query).Filter(lagos, now)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	// Cairo's clocks go forward on 24 April 2026, at midnight: the day has 23 hours.
	if got := bounds(address(t, "from=2026-04-24&to=2026-04-24").Filter(cairo, now)); got != "2026-04-23T22:00 2026-04-24T21:00" {
		t.Errorf(`bounds(address(t, "from=2026-04-24&to=2026-04-24").Filter(cairo, now)): got = %v`, got)
	}
}

// TestDaysBeginAfterAMissingMidnight covers zones whose clocks are put forward at midnight: a payment of the hour before
// is of the day before.
func TestDaysBeginAfterAMissingMidnight(t *testing.T) {
	for _, c := range []struct{ zone, days, want string }{
		{"America/Santiago", "from=2026-09-06&to=2026-09-06", "2026-09-06T04:00 2026-09-07T03:00"},
		{"America/Santiago", "from=2026-09-05&to=2026-09-05", "2026-09-05T04:00 2026-09-06T04:00"},
		{"America/Havana", "from=2026-03-08&to=2026-03-08", "2026-03-08T05:00 2026-03-09T04:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := bounds(address(t, c.days).Filter(zone, time.Time{})); got != c.want {
			t.Errorf("%s of %s are %s, want %s", c.days, c.zone, got, c.want)
		}
	}
}

func bounds(f list.Filter) string {
	text := func(at *time.Time) string {
		if at == nil {
			return "-"
		}
		return at.UTC().Format("2006-01-02T15:04")
	}
	return text(f.From) + " " + text(f.To)
}
