package contact_test

import (
	"testing"

	"cointill/core/contact"
)

func TestFold(t *testing.T) {
	for name, want := range map[string]string{
		"Ngozi Okafor": "ngozi okafor", " Ọlá   ADÉ ": "ola ade", "Ọla\u0301": "ola", "ﬁ": "fi", "محمد": "محمد", "": "", "\u0301": "",
	} {
		if got := contact.FoldName(name); got != want {
			t.Errorf("%q folds to %q, want %q", name, got, want)
		}
	}
}
