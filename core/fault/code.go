package fault

import (
	_ "embed" // of the codes
	"sync"

	"github.com/BurntSushi/toml"
)

//go:embed codes.toml
var codesFile string

// readCodes returns the codes of messages by their texts.
var readCodes = sync.OnceValues(func() (map[string]string, error) {
	var table map[string][]string
	_, err := toml.Decode(codesFile, &table)
	codes := map[string]string{}
	for code, texts := range table {
		for _, text := range texts {
			codes[text] = code
		}
	}
	return codes, err
})

// Code is what a message says about a field, for programs: one of FieldCodes (contract, section 3).
func (m Message) Code() string {
	codes, err := readCodes()
	if err != nil { // a test reads them
		return otherCode
	}
	if code, known := codes[m.Text]; known {
		return code
	}
	return otherCode
}

// otherCode is the code of messages that have none of their own.
const otherCode = "invalid"

// Codes returns the codes of each field's sentences, in their order.
func (f Fields) Codes() map[string][]string {
	if len(f) == 0 {
		return nil
	}
	all := make(map[string][]string, len(f))
	for field, messages := range f {
		for _, m := range messages {
			all[field] = append(all[field], m.Code())
		}
	}
	return all
}

// FieldCode is a code of a field, and what it means.
type FieldCode struct{ Code, Meaning string }

// FieldCodes lists the codes of fields.
func FieldCodes() []FieldCode {
	return []FieldCode{
		{"required", "It is missing or empty."},
		{"wrong_type", "It is of another JSON type."},
		{"wrong_format", "It isn't written as it must be, or has characters that it may not have."},
		{"too_long", "It has too many characters, bytes or entries."},
		{"out_of_range", "The number, amount or time is too small or too large."},
		{"unknown_value", "It is none of the values that there are."},
		{"not_found", "It names nothing that is here."},
		{"conflicting", "It contradicts another field."},
		{"already_used", "It was used before, or is given twice."},
		{"differs", "The signed transaction has another value than the approved send."},
		{"not_allowed", "It is right, and can't be used here or now. The sentence says why."},
		{"unknown_parameter", "The endpoint has no such query parameter."},
		{"repeated", "The query parameter or header is given more than once."},
		{otherCode, "Another reason, which the sentence says."},
	}
}
