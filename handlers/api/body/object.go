package body

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Object is JSON that an answer passes on as it was written.
type Object struct{ json.RawMessage }

// NewObject returns JSON text as an Object.
func NewObject(text string) Object { return Object{json.RawMessage(text)} }

// Schema documents any object.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// EncodeJSON writes JSON as answers carry it: text stays readable, and what a
// merchant gave as metadata keeps its order and the spelling of its numbers.
func EncodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err := to.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
