package page_test

import (
	"testing"

	"cointill/core/fault"
	"cointill/handlers/page"
)

// TestRefusalNamesItsFields: away from the form, what is wrong with each field stands behind its name, in an order that
// stays the same.
func TestRefusalNamesItsFields(t *testing.T) {
	for _, c := range []struct {
		fields fault.Fields
		want   string
	}{
		{fault.Fields{"name": {"Is required."}}, "Name: Is required."},
		{fault.Fields{"time_zone": {"Is no time zone."}, "name": {"Is required.", "Choose another."}, "": {"Nothing was saved."}},
			"Nothing was saved. Name: Is required. Choose another. Time zone: Is no time zone."},
	} {
		said, status, err := page.DescribeRefusal(fault.Validation(c.fields))
		if err != nil || status != 422 || said.Text != c.want {
			t.Errorf("DescribeRefusal(%v) = %q, %d, %v, want %q and 422", c.fields, said.Text, status, err, c.want)
		}
	}
}
