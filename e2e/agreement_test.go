package e2e

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// TestFiguresAgree compares the figures of days and months, of the demo and of a business in another
// time zone, by the API and the downloads alone: journal, statement, overview, list and export of a
// period have the same amounts, to the cent and to the smallest unit. What the journal comes to is
// added up here.
func TestFiguresAgree(t *testing.T) {
	t.Parallel()
	for zone, begin := range map[string]func(*testing.T, *harness.Instance) *browserless{
		"Africa/Lagos": func(t *testing.T, i *harness.Instance) *browserless {
			i.Start("demo")
			return signInToDemo(t, i)
		},
		// The demo's journal has the days of Lagos, so this is a business without a past.
		"Pacific/Auckland": func(t *testing.T, i *harness.Instance) *browserless {
			i.CreateBusiness()
			i.Start()
			return signInAs(t, i, harness.Email, harness.Password)
		},
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			i := harness.New(t, false)
			owner := begin(t, i)
			owner.post("/dashboard/settings/payments", url.Values{"under": {"0.5"}, "over": {"0.5"}, "late_payments": {"accept"}, "currency": {"NGN"}, "time_zone": {zone}})
			spreadOverMonths(t, i, owner)
			entries := readJournal(t, i)
			if table := readJournalTable(t, owner); !slices.Equal(table, entries) {
				t.Fatalf("the table of the journal has %d entries, the API %d, or they differ", len(table), len(entries))
			}
			periods := listPeriods(entries)
			if len(periods) < 8 {
				t.Fatalf("the journal has the days and months %v, want 8 or more", periods)
			}
			compared := 0
			for _, p := range periods {
				want := sumJournal(t, entries, p)
				for _, s := range []source{
					{"statement", readStatement(t, i, p), "payments received reversed refunded declined", "opening received lost refunded closing sales pending declined unmatched"},
					{"statement's table", readStatementTable(t, owner, p), "payments received reversed refunded declined", "opening received lost refunded closing pending declined unmatched"},
					{"export", sumExport(t, owner, p), "payments received reversed refunded declined unmatched", "sales booked_refunded booked_declined booked_unmatched"},
					{"list", readLists(t, owner, p), "payments received reversed refunded declined", ""},
					{"overview", readOverview(t, owner, p), "received reversed refunded declined unmatched", ""},
				} {
					compared += s.compare(t, fmt.Sprintf("from %s to %s in %s", p.from, p.to, zone), want)
				}
			}
			t.Logf("%s: %d entries, %d days and months, %d figures compared", zone, len(entries), len(periods), compared)
		})
	}
}

// signInToDemo signs in with what the demo prints, and takes its key.
func signInToDemo(t *testing.T, i *harness.Instance) *browserless {
	t.Helper()
	email, password := readDemoSignIn(t, i)
	return signInAs(t, i, email, password)
}

// readDemoSignIn waits for what the demo prints, and takes its key.
func readDemoSignIn(t *testing.T, i *harness.Instance) (email, password string) {
	t.Helper()
	printed := regexp.MustCompile(`Sign in +(\S+)\n +Password +(\S+)\n +Test key +(\S+)`)
	var found []string
	harness.WaitFor(t, time.Minute, "the demo to print its sign-in", func() bool {
		found = printed.FindStringSubmatch(i.ReadLog())
		return found != nil
	})
	i.Key = found[3]
	return found[1], found[2]
}

// spreadOverMonths adds payments whose clocks are moved on, so that figures of several days and months
// change: sales, amounts held, surplus, refunds, reversals and money that returns.
func spreadOverMonths(t *testing.T, i *harness.Instance, owner *browserless) {
	t.Helper()
	weeks := func(reference string, n int) {
		for range n {
			advance(t, i, reference, 7*24*time.Hour)
		}
	}
	simulate := func(t *testing.T, method, reference, scenario, state, reason string) {
		t.Helper()
		play(scenario)(t, i, reference)
		i.SendRequest("POST", "/v1/sandbox/mine", harness.Fields{"payment_method": method, "blocks": 6}, 200)
		reach(t, i, reference, state, reason)
	}
	// Each has a method of its own, because a reorganisation changes what happens to others on its chain.
	harness.RunEach(t, map[string]func(*testing.T, string, string){
		"crypto_ripple": func(t *testing.T, method, accepted string) {
			simulate(t, method, accepted, "overpay", "declined", "overpaid")
			weeks(accepted, 4)
			owner.post("/dashboard/payments/"+accepted+"/accept", nil)
			reach(t, i, accepted, "successful", "accepted_by_user")
		},
		"crypto_dogecoin": func(t *testing.T, method, returned string) {
			simulate(t, method, returned, "surplus", "successful", "")
			weeks(returned, 2)
			simulate(t, method, returned, "reorg", "successful", "reversed")
			weeks(returned, 3)
			simulate(t, method, returned, "reorg", "successful", "")
		},
		"crypto_bitcoin": func(t *testing.T, method, lost string) {
			simulate(t, method, lost, "two_parts", "successful", "")
			weeks(lost, 5)
			simulate(t, method, lost, "reorg", "successful", "reversed")
		},
		"crypto_tether": func(t *testing.T, method, late string) {
			simulate(t, method, late, "after_abandoned", "declined", "after_abandoned")
		},
	}, func(t *testing.T, method string, drive func(*testing.T, string, string)) {
		drive(t, method, initiated(t, i, method))
	})
	refunded := initiated(t, i, "crypto_tether")
	simulate(t, "crypto_tether", refunded, "underpay", "declined", "underpaid")
	at := "/dashboard/payments/" + refunded + "/refund"
	owner.get(at)
	fields := url.Values{"amount": {"1.234567"}, "note": {"in cash"}}
	once := regexp.MustCompile(`name="once" value="([^"]+)"`).FindStringSubmatch(owner.post(at+"/review", fields))
	if once == nil {
		t.Fatalf("the refund of %s has no form to confirm", refunded)
	}
	fields.Set("once", once[1])
	owner.post(at, fields)
}

// journalEntry is what the test reads of an entry.
type journalEntry struct {
	BookedOn  string `json:"booked_on"`
	Kind      string
	Debit     string
	Credit    string
	Coin      string
	Network   string
	Amount    string
	Currency  string
	Value     string
	Reference string
}

// readJournal reads all entries by the API.
func readJournal(t *testing.T, i *harness.Instance) (entries []journalEntry) {
	t.Helper()
	for cursor := ""; ; {
		var page struct {
			Data []journalEntry
			Meta struct {
				NextCursor string `json:"next_cursor"`
			}
		}
		i.DecodeOutput(string(i.SendRequest("GET", "/v1/journal?limit=100&cursor="+cursor, nil, 200).Body), &page)
		entries = append(entries, page.Data...)
		if cursor = page.Meta.NextCursor; cursor == "" {
			return entries
		}
	}
}

// readTable reads a downloaded CSV without its heading, which it returns apart.
func readTable(t *testing.T, owner *browserless, path string) (heading []string, rows [][]string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(owner.get(path), "\ufeff"))).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s has %d rows (%v)", path, len(rows), err)
	}
	return rows[0], rows[1:]
}

// readJournalTable reads all entries from the download.
func readJournalTable(t *testing.T, owner *browserless) (entries []journalEntry) {
	t.Helper()
	_, rows := readTable(t, owner, "/dashboard/journal.csv?from=2020-01-01&to=2099-12-31")
	for _, r := range rows {
		entries = append(entries, journalEntry{BookedOn: r[0], Kind: r[2], Debit: r[3], Credit: r[4], Amount: r[5], Coin: r[6], Network: r[7], Value: r[8], Currency: r[9],
			Reference: r[10]})
	}
	return entries
}

// days is a period, both days included.
type days struct{ from, to string }

func (p days) query(from, to string) string { return from + "=" + p.from + "&" + to + "=" + p.to }

// listPeriods lists the days of entries, their months, and all time between the first and the last.
func listPeriods(entries []journalEntry) (list []days) {
	found := map[days]bool{}
	first, last := "9999", ""
	for _, e := range entries {
		found[days{e.BookedOn, e.BookedOn}] = true
		if begin, err := time.Parse("2006-01", e.BookedOn[:7]); err == nil {
			found[days{begin.Format(time.DateOnly), begin.AddDate(0, 1, -1).Format(time.DateOnly)}] = true
		}
		first, last = min(first, e.BookedOn), max(last, e.BookedOn)
	}
	found[days{first, last}] = true
	return slices.SortedFunc(maps.Keys(found), func(a, b days) int { return strings.Compare(a.from+a.to, b.from+b.to) })
}

// figures are amounts by currency, or by coin and network, and name: "NGN received".
type figures map[string]*big.Rat

func (f figures) add(t *testing.T, of, name, amount string, sign int64) {
	t.Helper()
	key := of + " " + name
	if f[key] == nil {
		f[key] = new(big.Rat)
	}
	f[key].Add(f[key], new(big.Rat).Mul(exact(t, amount), big.NewRat(sign, 1)))
}

// source is where figures of a period were read.
type source struct {
	name string
	figures
	byCurrency, byCoin string // the names of all figures that it has; one that is left out is nothing
}

// compare compares all figures that a source has with those of the journal, and returns their number.
func (s source) compare(t *testing.T, period string, want figures) (compared int) {
	t.Helper()
	keys := map[string]bool{}
	for key := range s.figures {
		keys[key] = true
	}
	for key := range want {
		of, name := key[:strings.LastIndexByte(key, ' ')], key[strings.LastIndexByte(key, ' ')+1:]
		has := s.byCoin
		if signs[of] != "" {
			has = s.byCurrency
		}
		if slices.Contains(strings.Fields(has), name) {
			keys[key] = true
		}
	}
	zero := new(big.Rat)
	for key := range keys {
		got, expected := cmp.Or(s.figures[key], zero), cmp.Or(want[key], zero)
		if got.Cmp(expected) != 0 {
			t.Errorf("the %s %s: %s is %s, and %s by the journal", s.name, period, key, got.FloatString(18), expected.FloatString(18))
		}
	}
	return len(keys)
}

// sumJournal adds up the entries of a period, and the balances at its end.
func sumJournal(t *testing.T, entries []journalEntry, p days) figures {
	t.Helper()
	sums, sold := figures{}, map[string]bool{}
	for _, e := range entries {
		if e.BookedOn > p.to {
			continue
		}
		of, within := e.Coin+" "+e.Network, e.BookedOn >= p.from
		for account, sign := range map[string]int64{e.Debit: -1, e.Credit: 1} {
			switch account {
			case "wallet", "in_flight":
				sums.add(t, of, "closing", e.Amount, -sign)
				if !within {
					sums.add(t, of, "opening", e.Amount, -sign)
				}
			case "pending", "declined", "unmatched":
				sums.add(t, of, account, e.Amount, sign)
			case "sales", "reversed":
				if within {
					sums.add(t, of, "sales", e.Amount, sign)
				}
			}
			if within && e.Currency != "" && (account == "sales" || account == "reversed") {
				sums.add(t, e.Currency, "received", e.Value, sign)
			}
			if within && e.Currency != "" && account == "reversed" {
				sums.add(t, e.Currency, "reversed", e.Value, -sign)
			}
			if within && e.Currency != "" && (account == "declined" || account == "unmatched") {
				sums.add(t, e.Currency, account, e.Value, sign)
				sums.add(t, of, "booked_"+account, e.Amount, sign)
			}
		}
		if !within {
			continue
		}
		switch e.Kind {
		case "received":
			sums.add(t, of, "received", e.Amount, 1)
		case "lost", "left":
			sums.add(t, of, "lost", e.Amount, 1)
		case "restored":
			sums.add(t, of, "lost", e.Amount, -1)
		}
		refunded := e.Kind == "refunded" || e.Kind == "completed" && e.Debit != "payouts" // recorded, or by a send
		if refunded {
			sums.add(t, of, "refunded", e.Amount, 1)
		}
		if refunded && e.Currency != "" {
			sums.add(t, e.Currency, "refunded", e.Value, 1)
			sums.add(t, of, "booked_refunded", e.Amount, 1)
		}
	}
	for _, e := range entries { // in the order in which they were posted
		if e.Credit == "sales" && !sold[e.Reference] {
			sold[e.Reference] = true
			if e.BookedOn >= p.from && e.BookedOn <= p.to {
				sums.add(t, e.Currency, "payments", "1", 1)
			}
		}
	}
	return sums
}

// readStatement reads the figures of a statement by the API.
func readStatement(t *testing.T, i *harness.Instance, p days) figures {
	t.Helper()
	var s struct {
		Currencies, Coins []map[string]any
	}
	i.SendRequest("GET", "/v1/statements/"+p.from+".."+p.to, nil, 200).DecodeData(t, &s)
	found := figures{}
	for _, line := range s.Currencies {
		for _, name := range []string{"payments", "received", "reversed", "refunded", "declined"} {
			found.add(t, fmt.Sprint(line["currency"]), name, fmt.Sprint(line[name]), 1)
		}
	}
	for _, line := range s.Coins {
		for _, name := range []string{"opening", "received", "lost", "refunded", "paid_out", "paid_twice", "closing", "in_flight", "sales", "pending", "declined", "unmatched"} {
			found.add(t, fmt.Sprint(line["coin"], " ", line["network"]), name, fmt.Sprint(line[name]), 1)
		}
	}
	return found
}

// readStatementTable reads the figures of a statement from its download.
func readStatementTable(t *testing.T, owner *browserless, p days) figures {
	t.Helper()
	names := map[string]string{"Payments": "payments", "Received": "received", "Received on chain": "received", "Reversed": "reversed", "Refunded": "refunded", "Declined, held": "declined", "Declined, change": "declined", "Opening": "opening",
		"Left the chain": "lost", "Closing": "closing", "Paid out": "paid_out", "Paid twice": "paid_twice", "In flight": "in_flight", "Pending": "pending", "Unmatched, held": "unmatched"}
	_, rows := readTable(t, owner, "/dashboard/statements.csv?"+p.query("from", "to"))
	found := figures{}
	for _, r := range rows {
		if name := names[r[0]]; name != "" {
			found.add(t, strings.TrimSpace(r[1]+" "+r[2]), name, r[3], 1)
		}
	}
	return found
}

// sumExport adds up the export of the payments that were booked in a period.
func sumExport(t *testing.T, owner *browserless, p days) figures {
	t.Helper()
	heading, rows := readTable(t, owner, "/dashboard/payments/export.csv?"+p.query("booked_from", "booked_to"))
	found := figures{}
	for _, r := range rows {
		row := map[string]string{}
		for i, title := range heading {
			row[title] = r[i]
		}
		for _, name := range []string{"received", "reversed", "refunded", "declined", "unmatched"} {
			found.add(t, row["Currency"], name, row["Booked "+name], 1)
		}
		if exact(t, row["Booked due"]).Sign() > 0 {
			found.add(t, row["Currency"], "payments", "1", 1)
		}
		of := row["Coin"] + " " + row["Network"]
		found.add(t, of, "sales", row["Booked coin sales"], 1)
		for _, name := range []string{"refunded", "declined", "unmatched"} {
			found.add(t, of, "booked_"+name, row["Booked coin "+name], 1)
		}
	}
	return found
}

// signs are the currencies, as pages write their amounts.
var signs = map[string]string{"NGN": "₦", "GHC": "GH₵", "KES": "KSh", "USD": "$"}

// readAmount reads an amount of a page.
func readAmount(t *testing.T, shown string) string {
	t.Helper()
	kept := strings.Map(func(r rune) rune {
		switch {
		case r == '−':
			return '-'
		case r == '.' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, shown)
	exact(t, kept)
	return kept
}

var (
	listTotal  = regexp.MustCompile(`<dt class="muted">([^<]+)</dt>\s*<dd[^>]*><bdi[^>]*>([^<]+)</bdi>`)
	listTotals = regexp.MustCompile(`(?s)<dl id="totals".*?</dl>`)
)

// readLists reads what stands above the lists of the payments of a period, a list for each currency.
func readLists(t *testing.T, owner *browserless, p days) figures {
	t.Helper()
	names := map[string]string{"Successful": "payments", "Received": "received", "Declined, held": "declined", "Refunded": "refunded", "Reversed": "reversed"}
	found := figures{}
	for currency := range signs {
		page := owner.get("/dashboard/payments?currency=" + currency + "&" + p.query("booked_from", "booked_to"))
		for _, total := range listTotal.FindAllStringSubmatch(listTotals.FindString(page), -1) {
			if name := names[total[1]]; name != "" {
				found.add(t, currency, name, readAmount(t, total[2]), 1)
			}
		}
	}
	return found
}

var (
	overviewFigures  = regexp.MustCompile(`(?s)<dl class="figures">.*?</dd>`)
	overviewReceived = regexp.MustCompile(`<span class="num[^"]*">([^<]+)</span>`)
	overviewMoney    = regexp.MustCompile(`(?s)<h2 id="money".*?</table>`)
	overviewCell     = regexp.MustCompile(`<td[^>]*class="r num[^>]*><bdi dir="ltr">([^<]+)</bdi></td>`)
)

// readOverview reads the figures of the overview, which has a table of one currency at a time.
func readOverview(t *testing.T, owner *browserless, p days) figures {
	t.Helper()
	found := figures{}
	for currency, sign := range signs {
		page := owner.get("/dashboard?currency=" + currency + "&" + p.query("from", "to"))
		for _, shown := range overviewReceived.FindAllStringSubmatch(overviewFigures.FindString(page), -1) {
			if strings.HasPrefix(strings.TrimPrefix(shown[1], "−"), sign) {
				found.add(t, currency, "received", readAmount(t, shown[1]), 1)
			}
		}
		names := []string{"received", "declined", "unmatched", "refunded", "reversed"}
		cells := overviewCell.FindAllStringSubmatch(overviewMoney.FindString(page), -1)
		if len(cells) < len(names) { // nothing but sales: there is no table
			continue
		}
		for n, cell := range cells[len(cells)-len(names):] {
			if n > 0 {
				found.add(t, currency, names[n], readAmount(t, cell[1]), 1)
			} else if amount, above := exact(t, readAmount(t, cell[1])), cmp.Or(found[currency+" received"], new(big.Rat)); amount.Cmp(above) != 0 {
				t.Errorf("the overview from %s to %s has %s %s received above and %s in its table", p.from, p.to, above, currency, amount)
			}
		}
	}
	return found
}
