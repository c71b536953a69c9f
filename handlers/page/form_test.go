package page_test

import (
	"testing"

	"cointill/core/fault"
	"cointill/handlers/page"
	"cointill/views/words"
)

// TestRefusalNamesItsFields: away from the form, what is wrong with each field stands behind its name, in an order that
// stays the same.
func TestRefusalNamesItsFields(t *testing.T) {
	for _, c := range []struct {
		fields fault.Fields
		want   string
	}{
		{fault.Fields{"name": {fault.NewMessage("Is required.")}}, "Name: Is required."},
		{fault.Fields{"time_zone": {fault.NewMessage("Is no time zone.")}, "name": {fault.NewMessage("Is required."),
			fault.NewMessage("Choose another.")}, "": {fault.NewMessage("Nothing was saved.")}},
			"Nothing was saved. Name: Is required. Choose another. Time zone: Is no time zone."},
	} {
		said, status, err := page.DescribeRefusal(t.Context(), fault.Validation(c.fields))
		if err != nil || status != 422 || said.Text != c.want {
			t.Errorf("DescribeRefusal(%v) = %q, %d, %v, want %q and 422", c.fields, said.Text, status, err, c.want)
		}
	}
	fields := fault.Fields{"name": {fault.NewMessage("Is required.")}, "of_no_form": {fault.NewMessage("Is required.")}}
	const want = "Nom\u00a0: Ce champ est obligatoire. Ce champ est obligatoire."
	said, _, err := page.DescribeRefusal(words.WithLanguage(t.Context(), "fr"), fault.Validation(fields))
	if err != nil || said.Text != want {
		t.Errorf("DescribeRefusal(%v) = %q, %v in French, want %q", fields, said.Text, err, want)
	}
}
