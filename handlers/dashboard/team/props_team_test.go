package team

import (
	"testing"

	"cointill/views/words"
)

// TestRightsOfSendsAreListed holds the rows about sends against the table of contract section 9.
func TestRightsOfSendsAreListed(t *testing.T) {
	for lang, want := range map[string]map[string][5]string{
		"en": {
			"Ask for refunds and payouts, and withdraw them":   {"yes", "yes", "yes", "in test", ""},
			"Approve refunds and payouts, and set their rules": {"yes", "yes", "", "", ""},
			"Sign refunds and payouts with a wallet":           {"yes", "yes", "", "", ""},
		},
		"fr": {
			"Demander des remboursements et des versements, et les retirer":         {"oui", "oui", "oui", "en test", ""},
			"Approuver les remboursements et les versements, et fixer leurs règles": {"oui", "oui", "", "", ""},
			"Signer les remboursements et les versements avec un portefeuille":      {"oui", "oui", "", "", ""},
		},
	} {
		rows := map[string][5]string{}
		for _, row := range rightRows(words.WithLanguage(t.Context(), lang)) {
			rows[row.What] = row.May
		}
		for what, may := range want {
			if got, listed := rows[what]; !listed || got != may {
				t.Errorf("%s: %q is %q, want %q", lang, what, got, may)
			}
		}
	}
}
