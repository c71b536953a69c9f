package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"unicode/utf8"

	"cointill/core/fault"
	"cointill/handlers/api/body"
)

// FuzzRead (AP-15) holds the strict reader against the standard library's lenient one:
// what is taken is valid UTF-8 and JSON, reads the same there, and metadata is a piece
// of the body as it was written.
//
//fuzz:inputs 5000
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, string(initiateSample), `{"amount":1.0}`, `{"amount":-0}`, `{"amount":1e3,"amount":1}`, `{"\u0061mount":5}`, `{"AMOUNT":5,"amount":7}`,
		`{"first_name":"\ud800"}`, `{"first_name":"\ud83d\ude00\u0000"}`, `{"metadata":[1.50, {"a" : "b"}]}`, "\ufeff{}", "{}x", "{\"a\":\"\xff\"}", `{"amount":9223372036854775808}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		in, problems, _, err := body.Read[initiateRequest](sent)
		if err != nil {
			var own *fault.Fault
			if !errors.As(err, &own) || own.Kind != fault.Unreadable && own.Kind != fault.Invalid || own.Kind == fault.Unreadable != (own.Code == "unreadable_json") {
				t.Fatalf("%v is no refusal", err)
			}
			if own.Kind == fault.Invalid && !json.Valid(sent) {
				t.Fatal("unreadable, but called a wrong type")
			}
			return
		}
		var lenient map[string]json.RawMessage
		if !utf8.Valid(sent) || json.Unmarshal(sent, &lenient) != nil {
			t.Fatal("taken, but not JSON in UTF-8")
		}
		if in.Amount.Given {
			want, err := strconv.ParseInt(string(lenient["amount"]), 10, 64)
			if (err != nil && !errors.Is(err, strconv.ErrRange)) || want != in.Amount.Value {
				t.Fatalf("amount %s was read as %d", lenient["amount"], in.Amount.Value)
			}
		}
		if in.FirstName.Given {
			var want string
			if json.Unmarshal(lenient["first_name"], &want) != nil || want != in.FirstName.Value {
				t.Fatalf("first_name %s was read as %q", lenient["first_name"], in.FirstName.Value)
			}
		}
		if in.Metadata.Value != nil && !bytes.Contains(sent, in.Metadata.Value) {
			t.Fatal("metadata is not as it was written")
		}
		for _, name := range []string{"amount", "first_name", "metadata"} {
			_, given := lenient[name]
			if _, wrong := problems[name]; !given && name != "metadata" && !wrong {
				t.Fatalf("%s is missing and nobody says so", name)
			}
		}
	})
}
