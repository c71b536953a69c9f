package words_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/views/words"
)

// TestT: a message of the dashboard comes with its blanks filled, and what
// nobody wrote shows as its id rather than as nothing.
func TestT(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ got, want string }{
		{words.T(ctx, "customers.title"), "Customers"},
		{words.T(words.WithLanguage(ctx, "fr"), "customers.title"), "Clients"},
		{words.T(words.WithLanguage(ctx, "ha"), "customers.title"), "Customers"},
		{words.T(words.WithLanguage(ctx, ""), "customers.title"), "Customers"},
		{words.T(ctx, "customers.none_begins", "Query", "Ada"), "No customers found for “Ada”"},
		{words.T(words.WithLanguage(ctx, "ar"), "customers.none_begins", "Query", "Ada"), "No customers found for “\u2068Ada\u2069”"},
		{words.T(ctx, "customers.never_written"), "customers.never_written"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestN: a number takes the form of plural that it wants, and may be written
// with separators.
func TestN(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ got, want string }{
		{words.N(ctx, "payments.counted", 0), "0 payments"},
		{words.N(ctx, "payments.counted", 1), "1 payment"},
		{words.N(words.WithLanguage(ctx, "fr"), "payments.counted", 2), "2 paiements"},
		{words.N(words.WithLanguage(ctx, "fr"), "payments.counted", 1_000_000), "1000000 paiements"},
		{words.N(ctx, "payments.counted", 1203442, "N", "1,203,442"), "1,203,442 payments"},
		{words.N(ctx, "payment.confirmations_of", 1, "Seen", "0"), "0 of 1 confirmation"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestParts: a message is cut where its blanks stand, so that a sentence can
// hold markup there.
func TestParts(t *testing.T) {
	want := []words.Part{{Blank: "By"}, {Text: " invites you as "}, {Blank: "Role"}, {Text: "."}}
	if got := words.Parts(context.Background(), "enter.invites_you_as"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestFormatTime: months, weekdays and separators are the language's.
func TestFormatTime(t *testing.T) {
	at := time.Date(2026, 11, 27, 13, 7, 0, 0, time.UTC)
	ctx, french := context.Background(), words.WithLanguage(context.Background(), "fr")
	for _, c := range []struct{ got, want string }{
		{words.FormatTime(ctx, at, "2 Jan 2006, 15:04"), "27 Nov 2026, 13:07"},
		{words.FormatTime(french, at, "2 Jan 2006, 15:04"), "27 nov. 2026, 13:07"},
		{words.FormatTime(french, at, "Monday 2 January 2006"), "vendredi 27 novembre 2026"},
		{words.FormatTime(french, at.AddDate(0, 0, 2), "Mon 2 Jan"), "dim. 29 nov."},
		{words.FormatTime(french, at, "15:04"), "13:07"},
		{words.FormatThousands(ctx, 1203442), "1,203,442"},
		{words.FormatThousands(french, 1203442), "1\u202f203\u202f442"},
		{words.FormatThousands(french, -999), "-999"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	for _, lang := range words.DashboardLanguages() {
		for id, want := range map[string]int{"units.months": 12, "units.months_short": 12, "units.weekdays": 7, "units.weekdays_short": 7} {
			if got := len(strings.Fields(words.T(words.WithLanguage(ctx, lang), id))); got != want {
				t.Errorf("%s: %s has %d names, want %d", lang, id, got, want)
			}
		}
	}
}
