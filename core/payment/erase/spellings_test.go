package erase

import (
	"testing"

	"cointill/models"
)

// TestWritingIsReplaced checks replacements in texts and in JSON: whole names and addresses
// everywhere, first and last names in fields for names and in free texts.
func TestWritingIsReplaced(t *testing.T) {
	t.Parallel()
	w := newSpellings(models.Customer{Code: "CUS_Ab1", FirstName: "Test", LastName: "Ọlá", Email: "test@mail.example"})
	w.addPayment(models.Payment{CustomerName: "Ada 7", CustomerEmail: "TEST@mail.example"})
	const address = "cus_ab1@erased.invalid"
	for _, c := range []struct {
		text string
		free bool
		want string
	}{
		{"", true, ""},
		{"paid by TEST ỌLÁ, <Test@Mail.Example>", false, "paid by Erased Customer, <" + address + ">"},
		{"t…@mail.example asked", false, address + " asked"},
		{"Test paid 7 USD", false, "Test paid 7 USD"},
		{"Test's “Ọlá” paid 7 USD, not Tests", true, "Erased's “Customer” paid 7 USD, not Tests"},
		{`{"domain": "test", "n": 1.50}`, false, `{"domain": "test", "n": 1.50}`},
		{`{"domain":"test","first_name":"test","x":["Ọlá"]}`, false, `{"domain":"test","first_name":"Erased","x":["Ọlá"]}`},
		{`{"metadata":{"a":["Ada"]},"b":"Ada","note":"Ada","c":"Ada"}`, false,
			`{"metadata":{"a":["Erased"]},"b":"Ada","note":"Erased","c":"Ada"}`},
		{` ["\u0041da 7", 12345678901234567890]`, false, `["Erased Customer",12345678901234567890]`},
		{`{"first_name": "Ada","full_name":"Ada 7","domain":"te`, false,
			`{"first_name":"Erased","full_name":"Erased Customer","domain":"te`},
	} {
		if got := w.replaceCustomer(c.text, c.free); got != c.want {
			t.Errorf("rewrite(%q, %v) = %q, want %q", c.text, c.free, got, c.want)
		}
	}
}
