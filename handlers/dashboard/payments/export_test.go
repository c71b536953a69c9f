package payments

import (
	"strings"
	"testing"
	"time"

	"cointill/handlers/page"
	"cointill/views/layout"
)

func TestFileName(t *testing.T) {
	for query, want := range map[string]string{
		"": "olas-shop-sons-transactions-live-until-2026-03-01", "from=2026-01-01&to=2026-01-31": "olas-shop-sons-transactions-live-2026-01-01-to-2026-01-31",
		"from=2026-02-01": "olas-shop-sons-transactions-live-2026-02-01-to-2026-03-01", "period=last_month": "olas-shop-sons-transactions-live-2026-02-01-to-2026-02-28",
		"booked_from=2026-01-01&booked_to=2026-01-31": "olas-shop-sons-transactions-booked-live-2026-01-01-to-2026-01-31", "booked_to=2026-01-31": "olas-shop-sons-transactions-booked-live-until-2026-01-31",
	} {
		if got := fileName("Ọlá's Shop & \"Sons\"\r\n/..", "live", readQuery(t, query), time.UTC, noon); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	if page.FileSlug("商店") != "business" || len(page.FileSlug(strings.Repeat("ab ", 99))) > 41 {
		t.Error(page.FileSlug("商店"), page.FileSlug(strings.Repeat("ab ", 99)))
	}
}

func TestExportProps(t *testing.T) {
	s := readQuery(t, "q=x&older=PAY_1").FirstPage()
	p := exportProps(t.Context(), layout.Page{}, s, 1_048_576, time.UTC)
	if !p.TooMany || p.CSVHref != "/dashboard/payments/export.csv?q=x" || p.BackHref != "/dashboard/payments?q=x" || exportProps(t.Context(), layout.Page{}, s, 1_048_575, time.UTC).TooMany {
		t.Errorf("%+v", p)
	}
}

func TestNewsText(t *testing.T) {
	for n, want := range map[int]string{1: "1 new payment – show", 2: "2 new payments – show", 100: "100 or more new payments – show"} {
		if got := newsText(t.Context(), n); got != want {
			t.Errorf("newsText(n): got = %v", got)
		}
	}
}
