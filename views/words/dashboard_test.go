package words_test

import (
	"context"
	"slices"
	"testing"

	"cointill/views/words"
)

// TestT: a message of the dashboard comes with its blanks filled, and what
// nobody wrote shows as its id rather than as nothing.
func TestT(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ got, want string }{
		{words.T(ctx, "customers.title"), "Customers"},
		{words.T(words.WithLanguage(ctx, "fr"), "customers.title"), "Customers"},
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
		{words.N(words.WithLanguage(ctx, "fr"), "payments.counted", 2), "2 payments"},
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
