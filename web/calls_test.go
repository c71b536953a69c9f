package web_test

import (
	"strings"
	"testing"

	"cointill/core/apilog"
	"cointill/core/scope"
)

// TestPackedAnswersAreLogged: an answer that leaves packed stands in the log of
// API calls as its reader unpacks it.
func TestPackedAnswersAreLogged(t *testing.T) {
	b := setup(t, local)
	packings := []string{"", "gzip", "br", "deflate"}
	for _, packing := range packings {
		if answer, _ := b.do(t, "GET", "/v1/listed?packed="+packing, "", "Accept-Encoding", packing); answer.Header.Get("Content-Encoding") != packing {
			t.Errorf("%q: packed as %q", packing, answer.Header.Get("Content-Encoding"))
		}
	}
	if err := b.Calls.FlushQueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner := scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Owner}
	list, _, err := b.Calls.ListCalls(t.Context(), owner, apilog.Filter{})
	if err != nil || len(list) != len(packings) {
		t.Fatalf("list = %v, err = %v", list, err)
	}
	for _, row := range list {
		found, err := b.Calls.FindCall(t.Context(), owner, row.ID)
		if err != nil || found.Answered != `"`+strings.Repeat("long ", 1000)+`"` {
			t.Errorf("%s: %.60q, %v", row.Path, found.Answered, err)
		}
	}
}
