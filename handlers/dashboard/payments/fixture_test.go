package payments

import (
	"net/url"
	"testing"
	"time"

	"cointill/handlers/dashboard/listing"
)

var lagos = time.FixedZone("WAT", 3600)

// readQuery reads a search from the query of an address.
func readQuery(t *testing.T, query string) listing.Search {
	t.Helper()
	values, _ := url.ParseQuery(query)
	return listing.ReadSearch(t.Context(), values)
}
