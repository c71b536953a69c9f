package developers

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"cointill/core/account/apikey"
	"cointill/core/apilog"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// callSearch is what the log of requests was asked for, as its address says it.
type callSearch struct {
	Class  string // "", "2", "4" or "5"
	Key    int64
	Path   string
	Before int64
	Wrong  []string
}

// callClasses are the choices of how a request ended.
func callClasses(ctx context.Context) []ui.Option {
	return []ui.Option{{Value: "2", Label: words.T(ctx, "calls.class_done")},
		{Value: "4", Label: words.T(ctx, "calls.class_refused")},
		{Value: "5", Label: words.T(ctx, "calls.class_failed")}}
}

// readCallSearch reads a search from an address. Unreadable parts are left out and named.
func readCallSearch(ctx context.Context, values url.Values) callSearch {
	var read listing.Search // for its messages about unreadable values
	s := callSearch{Path: page.CleanText(values.Get("path"))}
	s.Class = read.ReadOne(ctx, values, "status", "filters.no_kind_of_status",
		func(v string) bool { return v == "2" || v == "4" || v == "5" })
	positive := func(name, id string) (n int64) {
		read.ReadOne(ctx, values, name, id, func(v string) bool {
			parsed, err := strconv.ParseInt(v, 10, 64)
			n = max(parsed, 0)
			return err == nil && parsed > 0
		})
		return n
	}
	s.Key, s.Before = positive("key", "filters.no_key"), positive("before", "filters.no_page_begins")
	s.Wrong = read.Wrong
	return s
}

func (s callSearch) filter() apilog.Filter {
	return apilog.Filter{Class: max(page.ParseWholeNumber(s.Class), 0), Key: s.Key, Path: s.Path, Before: s.Before}
}

func (s callSearch) href() string {
	return listing.MakeHref(callsPath, map[string]string{"status": s.Class, "path": s.Path,
		"key": listing.FormatBound(s.Key), "before": listing.FormatBound(s.Before)})
}

// callFacts are what the log of requests shows.
type callFacts struct {
	Rows []models.APICall
	Next int64
	Keys []apikey.Key
	Zone *time.Location
}

func callsProps(ctx context.Context, shell layout.Page, s callSearch, f callFacts) dashboard.CallsProps {
	props := dashboard.CallsProps{Page: shell, Class: s.Class, Path: s.Path, Wrong: s.Wrong, Classes: callClasses(ctx),
		Zone: f.Zone.String(), Filtered: s.Class != "" || s.Key > 0 || s.Path != ""}
	props.Key = listing.FormatBound(s.Key)
	for _, key := range f.Keys {
		props.Keys = append(props.Keys, ui.Option{Value: strconv.FormatInt(key.ID, 10), Label: key.Name})
	}
	names := keyNames(f.Keys)
	for _, row := range f.Rows {
		props.Rows = append(props.Rows, callRow(ctx, row, names, f.Zone))
	}
	first, next := s, s
	first.Before, next.Before = 0, f.Next
	props.Pager = listing.MakePager(words.N(ctx, "calls.requests", len(props.Rows)), s.Before > 0, first.href(),
		f.Next > 0, next.href())
	return props
}

func callRow(ctx context.Context, row models.APICall, names map[int64]string, zone *time.Location) dashboard.CallRow {
	shown := dashboard.CallRow{ID: strconv.FormatInt(row.ID, 10), At: row.CreatedAt.In(zone), Method: row.Method,
		Path:   row.Path,
		Status: strconv.Itoa(row.Status), Code: row.Code, Took: tookText(ctx, row.Micros), Key: names[row.KeyID],
		Tone: ui.Good}
	switch {
	case row.Status >= 500:
		shown.Tone = ui.Bad
	case row.Status >= 400:
		shown.Tone = ui.Warn
	}
	return shown
}

// tookText writes a duration in milliseconds.
func tookText(ctx context.Context, micros int64) string {
	if micros < 1000 {
		return words.T(ctx, "calls.under_millisecond")
	}
	return words.T(ctx, "calls.milliseconds", "N", words.FormatThousands(ctx, (micros+500)/1000))
}
