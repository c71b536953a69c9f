package views_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestStatementAmountsAreLabelled: on a narrow screen the tables of a statement have no head, so each amount names its
// column.
func TestStatementAmountsAreLabelled(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	if err := booksPages()["statement"].Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	amounts := regexp.MustCompile(`<td class="r num[^>]*>`).FindAllString(page.String(), -1)
	if len(amounts) < 2*7+4*7 {
		t.Errorf("the statement has %d amounts, want 7 in each of 6 rows or more", len(amounts))
	}
	for _, cell := range amounts {
		if !strings.Contains(cell, "data-label=") {
			t.Errorf("the cell %s has no label", cell)
		}
	}
	if tables := strings.Count(page.String(), `<table class="table-plain cards`); tables != 2 {
		t.Errorf("%d tables become cards on a narrow screen, want 2", tables)
	}
}
