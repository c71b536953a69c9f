// Package openapi describes the interface: it makes the OpenAPI document, and the pages of the
// reference, of the endpoints' table.
package openapi

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
)

// Operation is one endpoint: its place and its documentation.
type Operation struct {
	Method, Path string // Path as OpenAPI writes it
	ID, Tag      string
	Permission   apikey.Permission // that the key must have; "" where every key may call
	Summary      string
	About        string // Markdown
	Message      string // of the success envelope
	Status       int    // of success
	Params       []*huma.Param
	Request      any  // the body's struct; nil when there is none
	Bodiless     bool // the body may be left out
	Sample       any  // an example of the body
	Data         any  // the answer's data; one item of it where Many
	Many         bool // Data is an array, with Meta
	Refusals     []int
}

// Meta is what a list says of itself.
type Meta struct {
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor to get the next page; null on the last one." example:"q83vEjRWeJA"`
	HasMore    bool    `json:"has_more" doc:"Whether there is a next page." example:"true"`
}

// describe returns what the operation does and which permission it needs.
func (op *Operation) describe() string {
	if op.Permission == "" {
		return strings.TrimSpace(op.About) + "\n\nPermission: none."
	}
	return strings.TrimSpace(op.About) + "\n\nPermission: `" + string(op.Permission) + "`."
}

// CodeNames turns a list of codes into strings.
func CodeNames[T ~string](codes []T) []string {
	out := make([]string, 0, len(codes))
	for _, code := range codes {
		out = append(out, string(code))
	}
	return out
}
