// Package apitest holds answers of /v1 against the OpenAPI document, for tests.
package apitest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// Contract is the document, ready to be held against answers.
type Contract struct{ router routers.Router }

// loaded holds the contract of each document that was loaded. Checking a document
// takes 0.2 s, and most tests of a process serve the same one.
var loaded sync.Map

// Load reads the document and fails the test when it is no valid OpenAPI. Its
// servers are left out, so that answers from any address can be checked.
func Load(t testing.TB, document []byte) *Contract {
	t.Helper()
	if contract, ok := loaded.Load(string(document)); ok {
		return contract.(*Contract)
	}
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(document)
	if err != nil {
		t.Fatalf("the document can't be loaded: %v", err)
	}
	if err := doc.Validate(loader.Context); err != nil {
		t.Fatalf("the document is not valid: %v", err)
	}
	doc.Servers = nil
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	contract := &Contract{router}
	loaded.Store(string(document), contract)
	return contract
}

// Validate fails the test unless the document allows the answer to the
// request: its status, headers and every field. Answers to addresses and
// methods that the document doesn't know must be 404 and 405.
func (c *Contract) Validate(t testing.TB, request *http.Request, answer *http.Response) {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := c.router.FindRoute(request)
	if err != nil {
		if answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s %s answered %d and is not in the document: %v", request.Method, request.URL.Path,
				answer.StatusCode, err)
		}
		return
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: params,
			Route: route},
		Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	if err := openapi3filter.ValidateResponse(t.Context(), input); err != nil {
		var schema *openapi3.SchemaError
		if errors.As(err, &schema) {
			schema.Schema = nil // too long to read
		}
		t.Errorf("%s %s answered %d against the document: %v\n%s", request.Method, request.URL.Path, answer.StatusCode,
			err, body)
	}
}
