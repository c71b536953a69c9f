package page_test

import (
	"testing"

	"cointill/core/fault"
	"cointill/handlers/page"
)

func TestAFifthExportWaitsForAPlace(t *testing.T) {
	t.Parallel()
	var exports page.Exports
	var ends []func()
	for n := range 4 {
		end, err := exports.BeginExport(t.Context())
		if err != nil {
			t.Fatalf("export %d: %v", n+1, err)
		}
		ends = append(ends, end)
	}
	if _, err := exports.BeginExport(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("the fifth export at once: got %v, want Unavailable", err)
	}
	ends[0]()
	if _, err := exports.BeginExport(t.Context()); err != nil {
		t.Errorf("an export after another one ended: %v", err)
	}
}
