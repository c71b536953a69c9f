package api

import (
	"github.com/danielgtaylor/huma/v2"

	"cointill/core/money"
	"cointill/handlers/api/body"
)

// networkText is a field of a request that is the code of a network, of any coin.
type networkText struct{ body.Text }

// Schema lists the codes in the document.
func (networkText) Schema(huma.Registry) *huma.Schema { return describeNetworkCode() }

// networkCode is the code of a network in an answer.
type networkCode string

// Schema lists the codes in the document.
func (networkCode) Schema(huma.Registry) *huma.Schema { return describeNetworkCode() }

// describeNetworkCode returns the schema of a network's code.
func describeNetworkCode() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, code := range money.ListNetworks() {
		s.Enum = append(s.Enum, string(code))
	}
	return s
}
