package fault_test

import (
	"encoding/json"
	"errors"
	"testing"

	"cointill/core/fault"
)

// TestMessagesAreEnglishInJSON: the API's answers hold the sentences of fields with their values, in English.
func TestMessagesAreEnglishInJSON(t *testing.T) {
	fields := fault.Fields{}
	fields.Add("url", "May have at most %d characters.", 2048)
	fields.Add("url", "May not name a network interface (%%).")
	fields.AddMessage("mails", fault.NewMessage("%s: %s", "ada@", fault.NewMessage("Is required.")))
	fields.AddMessage("name", fault.Message{})
	fields.AddMessage("signed", fault.Verbatim("100% <wrong>"))
	got, err := json.Marshal(fields)
	want := `{"mails":["ada@: Is required."],"signed":["100% \u003cwrong\u003e"],` +
		`"url":["May have at most 2048 characters.","May not name a network interface (%)."]}`
	if err != nil || string(got) != want {
		t.Errorf("the fields are %s, %v, want %s", got, err, want)
	}
	if got := fields.InEnglish()["url"]; len(got) != 2 || got[0] != "May have at most 2048 characters." {
		t.Errorf("InEnglish has the sentences %q of the field url, want both", got)
	}
}

// TestRefuseField: a fault about one field is Invalid and has its sentence.
func TestRefuseField(t *testing.T) {
	var f *fault.Fault
	err := fault.RefuseField("amount", "Must be between %d and %d.", 1, 100)
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code != "validation_failed" || len(f.Fields) != 1 ||
		f.Fields["amount"][0].String() != "Must be between 1 and 100." {
		t.Errorf("RefuseField = %v, want validation_failed with one sentence of the field amount", err)
	}
}

// TestCodesOfFields: each sentence of a field has a code in its place, and one without its own the code invalid.
func TestCodesOfFields(t *testing.T) {
	fields := fault.Fields{}
	fields.Add("amount", "Must be between 1 and 100.")
	fields.Add("amount", "Is required.")
	fields.Add("note", "May have at most %d characters.", 7)
	fields.AddMessage("other", fault.Verbatim("Is required."))
	got, err := json.Marshal(fields.Codes())
	if want := `{"amount":["out_of_range","required"],"note":["too_long"],"other":["invalid"]}`; err != nil || string(got) != want {
		t.Errorf("the codes are %s, %v, want %s", got, err, want)
	}
	if got := (fault.Fields{}).Codes(); got != nil {
		t.Errorf("the codes of no fields are %v, want nil", got)
	}
}
