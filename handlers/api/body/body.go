// Package body reads the JSON body of a request strictly: one object in UTF-8, no name twice,
// each field of the JSON type that the request's struct gives it, all errors at once. What a
// value may be is for core to say.
package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/core/fault"
)

// shape is a field of a request body that knows its JSON type. read takes the
// field's value as it stands in the body and answers with a sentence when it
// has another type. What the value may be is for core to say.
type shape interface {
	readValue(raw jsontext.Value) (problem fault.Message)
}

// optional is the value of a field that may be left out.
type optional[T any] struct {
	Given bool
	Value T
}

// Pointer returns the value; nil when it was left out or null.
func (o optional[T]) Pointer() *T {
	if !o.Given {
		return nil
	}
	return &o.Value
}

// Text is a field that must be a JSON string.
type Text struct{ optional[string] }

func (t *Text) readValue(raw jsontext.Value) fault.Message {
	if raw.Kind() != '"' {
		return fault.NewMessage("Must be a string.")
	}
	plain, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return fault.NewMessage("Must be a string.")
	}
	t.Given, t.Value = true, string(plain)
	return fault.Message{}
}

// Schema documents the type.
func (Text) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// Integer is a field that must be a JSON number without point or exponent.
// One beyond 64 bits becomes the nearest of them, which every range refuses.
type Integer struct{ optional[int64] }

func (i *Integer) readValue(raw jsontext.Value) fault.Message {
	if raw.Kind() != '0' {
		return fault.NewMessage("Must be a number, not %s.", kindName(raw.Kind()))
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fault.NewMessage("Must be a whole number, written without a point or an exponent.")
	}
	i.Given, i.Value = true, n
	return fault.Message{}
}

// Schema documents the type.
func (Integer) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
}

// Flag is a field that must be true or false.
type Flag struct{ optional[bool] }

func (f *Flag) readValue(raw jsontext.Value) fault.Message {
	if kind := raw.Kind(); kind != 't' && kind != 'f' {
		return fault.NewMessage("Must be true or false.")
	}
	f.Given, f.Value = true, raw.Kind() == 't'
	return fault.Message{}
}

// Schema documents the type.
func (Flag) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean} }

// Moment is a field that must be an RFC 3339 time.
type Moment struct{ optional[time.Time] }

func (m *Moment) readValue(raw jsontext.Value) fault.Message {
	var t Text
	problem := t.readValue(raw)
	at, err := ParseTime(t.Value)
	if !problem.IsZero() || err != nil {
		return fault.NewMessage("Must be a time such as 2026-01-31T12:00:00Z.")
	}
	m.Given, m.Value = true, at
	return fault.Message{}
}

// Schema documents the type.
func (Moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// ParseTime reads RFC 3339, within the years that both databases can hold.
func ParseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && (at.Year() < 1970 || at.Year() > 9000) {
		err = errors.New("year out of range")
	}
	return at.UTC(), err
}

// ParseMoment reads a time as ParseTime does, or a day, which stands for its beginning in UTC.
func ParseMoment(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		text = day.Format(time.RFC3339)
	}
	return ParseTime(text)
}

// Texts is a field that must be an array of strings.
type Texts struct {
	Given  bool
	Values []string
}

// maxTexts bounds an array; core's rules are stricter.
const maxTexts = 100

func (t *Texts) readValue(raw jsontext.Value) fault.Message {
	problem := fault.NewMessage("Must be an array of strings.")
	if raw.Kind() != '[' {
		return problem
	}
	values := []string{}
	in := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := in.ReadToken(); err != nil {
		return problem
	}
	for in.PeekKind() != ']' {
		item, err := in.ReadValue()
		var one Text
		if err != nil || !one.readValue(item).IsZero() || len(values) == maxTexts {
			return problem
		}
		values = append(values, one.Value)
	}
	t.Given, t.Values = true, values
	return fault.Message{}
}

// Schema documents the type.
func (Texts) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}
}

// Verbatim is a field that must be an object or an array and is kept as it is
// written, with the order of its keys and the spelling of its numbers.
type Verbatim struct {
	Value []byte
}

func (v *Verbatim) readValue(raw jsontext.Value) fault.Message {
	if kind := raw.Kind(); kind != '{' && kind != '[' {
		return fault.NewMessage("Must be an object or an array. Leave it out when there is none.")
	}
	v.Value = bytes.Clone(raw)
	return fault.Message{}
}

// Schema documents the type.
func (Verbatim) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeObject, AdditionalProperties: true}, {Type: huma.TypeArray, Items: &huma.Schema{}},
	}}
}

// Read reads a body strictly into a request struct, whose exported fields are
// shapes named by their json tags: required unless the tag says omitempty, null
// only where a tag nullable says that it empties the field. problems holds the
// errors by field, and unknown the names that are not fields of the struct, in order; err is
// an Unreadable fault, or Invalid for a body that is not an object.
func Read[T any](text []byte) (request T, problems fault.Fields, unknown []string, err error) {
	fields, err := readMembers(text)
	if err != nil {
		return request, nil, nil, err
	}
	problems = fault.Fields{}
	into := reflect.ValueOf(&request).Elem()
	for i := range into.NumField() {
		field := into.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		name, optional := FieldName(field)
		raw, given := fields[name]
		delete(fields, name)
		switch {
		case !given && !optional:
			problems.Add(name, "Is required.")
		case !given:
		case raw.Kind() == 'n' && field.Tag.Get("nullable") == "true":
			markNull(into, field.Name)
		default:
			problems.AddMessage(name, into.Field(i).Addr().Interface().(shape).readValue(raw))
		}
	}
	return request, problems, slices.Sorted(maps.Keys(fields)), nil
}

// markNull notes in the request's field nulls which fields were given as null.
func markNull(into reflect.Value, name string) {
	if nulls, ok := into.Addr().Interface().(interface{ SetNull(string) }); ok {
		nulls.SetNull(name)
	}
}

// FieldName is a request field's JSON name and whether it may be left out.
func FieldName(field reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name, options == "omitempty"
}

// readMembers reads the body's one object: a value for each name, none twice.
func readMembers(body []byte) (map[string]jsontext.Value, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errUnreadable("The body is empty. Send a JSON object.")
	}
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return nil, errUnreadable("The body begins with a byte order mark. Send UTF-8 without one.")
	}
	in := jsontext.NewDecoder(bytes.NewReader(body))
	whole, err := in.ReadValue()
	if err != nil {
		return nil, explainError(body, err)
	}
	whole = whole.Clone()
	if _, err := in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errUnreadable("Something follows the JSON object. Send one object and nothing else.")
	}
	if whole.Kind() != '{' {
		return nil, fault.RefuseField("body", "Must be a JSON object, not %s.", kindName(whole.Kind()))
	}
	fields := map[string]jsontext.Value{}
	in = jsontext.NewDecoder(bytes.NewReader(whole))
	if _, err := in.ReadToken(); err != nil {
		return nil, explainError(body, err)
	}
	for in.PeekKind() != '}' {
		name, err := in.ReadToken()
		if err != nil {
			return nil, explainError(body, err)
		}
		key := name.String()
		value, err := in.ReadValue()
		if err != nil {
			return nil, explainError(body, err)
		}
		fields[key] = value.Clone()
	}
	return fields, nil
}

// maxDepth is how deep jsontext reads values within values. jsontext doesn't export it.
const maxDepth = 10_000

// explainError returns what makes a body unreadable, without repeating any of it.
func explainError(body []byte, err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return errUnreadable("The body ends before the JSON is complete.")
	}
	at := fmt.Sprintf(" (near byte %d)", syntax.ByteOffset)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errUnreadable("The JSON names a field twice in one object" + at + ".")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errUnreadable("The body ends before the JSON is complete.")
	}
	offset, depth := readLeniently(body)
	switch {
	case offset > syntax.ByteOffset:
		return errUnreadable("The body holds text that is not valid UTF-8" + at + ".")
	case depth >= maxDepth:
		return errUnreadable("The JSON is nested too deeply" + at + ".")
	}
	return errUnreadable("The body is not valid JSON" + at + ".")
}

// readLeniently reads a body that was refused once more, with texts that are not valid UTF-8 allowed. It returns
// how far it came and how deep in the JSON it was there.
func readLeniently(body []byte) (offset int64, depth int) {
	in := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true))
	for {
		if _, err := in.ReadToken(); err != nil {
			return in.InputOffset(), in.StackDepth()
		}
	}
}

func errUnreadable(sentence string) error {
	return fault.New(fault.Unreadable, "unreadable_json", "%s", sentence)
}

// kindName is what people call a kind of JSON value.
func kindName(kind jsontext.Kind) string {
	switch kind {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	case '[':
		return "an array"
	}
	return "an object"
}

// JoinRefusals makes one fault of the errors of shapes and values. A field with a wrong
// shape has no value to check.
func JoinRefusals(shapes, values fault.Fields) error {
	all := fault.Fields{}
	for name, sentences := range values {
		all[name] = sentences
	}
	for name, sentences := range shapes {
		all[name] = sentences
	}
	return fault.Validation(all)
}

// RefuseAll is refuse for an operation whose core has no check apart from the
// act itself. The caller has made sure that core refuses the request in any
// case, because a field whose shape is wrong arrives as a value that is wrong too.
func RefuseAll(shapes fault.Fields, refused error) error {
	var values *fault.Fault
	if errors.As(refused, &values) && values.Kind == fault.Invalid {
		return JoinRefusals(shapes, values.Fields)
	}
	return JoinRefusals(shapes, nil)
}
