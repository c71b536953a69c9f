package source

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSources holds every source against what all of them must be.
func TestSources(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	documents := 0
	for _, s := range All() {
		if !name.MatchString(s.Name) || seen[s.Name] {
			t.Errorf("%q is no name, or comes twice", s.Name)
		}
		seen[s.Name] = true
		if s.Title == "" || s.Terms.IsZero() || !strings.HasPrefix(s.Docs, "https://") {
			t.Errorf("%s: title %q, terms %q, docs %q", s.Name, s.Title, s.Terms, s.Docs)
		}
		origin, err := url.Parse(s.Origin)
		if err != nil || origin.Scheme != "https" || s.Origin != "https://"+origin.Host {
			t.Errorf("%s: origin %q", s.Name, s.Origin)
		}
		documents += len(s.Documents)
		for _, d := range s.Documents {
			if u, err := url.Parse(s.Origin + d.Path); err != nil || u.Host != origin.Host || len(d.Pairs) == 0 || d.Read == nil {
				t.Errorf("%s: document %q with %v: %v", s.Name, d.Path, d.Pairs, err)
			}
		}
		checkPace(t, s)
		if found, ok := Named(s.Name); !ok || found.Title != s.Title {
			t.Errorf("%s isn't found by its name", s.Name)
		}
	}
	if documents > maxKept {
		t.Errorf("%d documents, but only %d are kept", documents, maxKept)
	}
	if _, ok := Named("nobody"); ok {
		t.Error("found a source that isn't there")
	}
}

// checkPace: with prices of coins, one failed exchange must not make them
// staler than a minute; daily tables are asked once or twice an hour.
func checkPace(t *testing.T, s Source) {
	t.Helper()
	lowest, highest := time.Minute, time.Hour
	for _, p := range s.Pairs() {
		if slices.Contains(coins, p.Base) {
			lowest, highest = 15*time.Second, 20*time.Second
		}
	}
	if s.Every < lowest || s.Every > highest {
		t.Errorf("%s is asked every %s", s.Name, s.Every)
	}
}

// TestPairs (FX-5): no source ever deals in GHC, and currencies other than the dollar
// are always what something costs, never what is priced.
func TestPairs(t *testing.T) {
	t.Parallel()
	for _, s := range All() {
		seen := map[Pair]bool{}
		for _, p := range s.Pairs() {
			if seen[p] {
				t.Errorf("%s has %s twice", s.Name, p)
			}
			seen[p] = true
			if strings.EqualFold(p.Base, "GHC") || strings.EqualFold(p.Quote, "GHC") {
				t.Errorf("%s prices %s", s.Name, p)
			}
			base := append([]string{"USD"}, coins...)
			quote := append([]string{"USD", "USDT"}, fiat...)
			if !slices.Contains(base, p.Base) || !slices.Contains(quote, p.Quote) || p.Base == p.Quote {
				t.Errorf("%s prices %s", s.Name, p)
			}
			if street := slices.Contains(coins, p.Base) && slices.Contains(fiat, p.Quote); street != s.Street {
				t.Errorf("%s prices %s, and is for the street: %v", s.Name, p, s.Street)
			}
		}
		for _, d := range s.Documents {
			if strings.Contains(strings.ToUpper(d.Path), "GHC") {
				t.Errorf("%s is asked for GHC: %s", s.Name, d.Path)
			}
		}
	}
}

// TestEnough: every coin in dollars has at least four independent exchanges
// (Binance's by USDT's own market), every currency three publishers.
func TestEnough(t *testing.T) {
	t.Parallel()
	count := map[Pair]int{}
	for _, s := range Standard() {
		if s.Street {
			t.Errorf("%s is for the street", s.Name)
		}
		for _, p := range s.Pairs() {
			count[p]++
		}
	}
	for _, p := range inDollars(coins...) {
		if count[p] < 4 {
			t.Errorf("%s has %d sources", p, count[p])
		}
	}
	for _, p := range dollarsIn(fiat...) {
		if count[p] < 3 {
			t.Errorf("%s has %d sources", p, count[p])
		}
	}
	if len(All())-len(Standard()) != 2 {
		t.Errorf("%d of %d are standard", len(Standard()), len(All()))
	}
}
