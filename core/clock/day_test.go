package clock_test

import (
	"archive/zip"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
)

// TestDayStart pins starts of days that are no ordinary midnights.
func TestDayStart(t *testing.T) {
	for _, c := range []struct {
		zone, day string
		on        int
		want      string
	}{
		{"Africa/Lagos", "2026-09-06", 0, "2026-09-05T23:00:00Z"},
		{"Africa/Lagos", "2026-02-28", 1, "2026-02-28T23:00:00Z"},
		{"Africa/Lagos", "2026-03-01", -1, "2026-02-27T23:00:00Z"},
		{"America/Santiago", "2026-09-06", 0, "2026-09-06T04:00:00Z"}, // 00:00 to 01:00
		{"America/Santiago", "2026-09-05", 1, "2026-09-06T04:00:00Z"},
		{"America/Havana", "2026-03-08", 0, "2026-03-08T05:00:00Z"},
		{"America/Asuncion", "2023-10-01", 0, "2023-10-01T04:00:00Z"},
		{"Africa/Cairo", "2026-04-24", 0, "2026-04-23T22:00:00Z"},
		{"America/Havana", "2026-11-01", 0, "2026-11-01T04:00:00Z"},   // 00:00 comes twice
		{"America/Santiago", "2026-04-05", 0, "2026-04-05T04:00:00Z"}, // 23:00 came twice
		{"Pacific/Apia", "2011-12-30", 0, "2011-12-30T10:00:00Z"},     // a day that did not exist
		{"Pacific/Apia", "2011-12-31", 0, "2011-12-30T10:00:00Z"},
		{"UTC", "", 0, "0001-01-01T00:00:00Z"},
		{"UTC", "2026-02-30", 0, "0001-01-01T00:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := clock.FindDayStart(c.day, zone, c.on).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("FindDayStart(%q, %s, %d) = %s, want %s", c.day, c.zone, c.on, got, c.want)
		}
	}
}

// TestDaysMeetAtEveryChangeOfClocks compares the bounds of days with the dates that a zone's clocks show, at every
// change of every zone for eleven years: a filter of days has a payment if its date is one of them.
func TestDaysMeetAtEveryChangeOfClocks(t *testing.T) {
	first, last := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	zones, changes := readZones(t), 0
	for _, zone := range zones {
		_, was := first.In(zone).Zone()
		for at := first.In(zone); at.Before(last); at = at.AddDate(0, 0, 1) {
			if _, offset := at.Zone(); offset != was { // the clocks were changed in the last day
				was, changes = offset, changes+1
				checkDays(t, at, zone)
			}
		}
	}
	if len(zones) < 300 || changes < 2000 {
		t.Errorf("%d zones with %d changes were read, want those of the world", len(zones), changes)
	}
}

// checkDays compares the bounds of the days before and after a time with the dates of moments in them.
func checkDays(t *testing.T, at time.Time, zone *time.Location) {
	t.Helper()
	starts := map[string][2]time.Time{} // of a day and of the next one
	for on := -2; on <= 1; on++ {
		day := at.AddDate(0, 0, on).Format(time.DateOnly)
		start := clock.FindDayStart(day, zone, 0)
		starts[day] = [2]time.Time{start, clock.FindDayStart(day, zone, 1)}
		before := start.Add(-time.Nanosecond)
		if start.Format(time.DateOnly) != day || before.Format(time.DateOnly) >= day {
			t.Errorf("%s: %s begins at %s, and the moment before is %s", zone, day, start, before)
		}
	}
	for day, bounds := range starts {
		for paid := bounds[0]; paid.Before(bounds[1]); paid = paid.Add(15 * time.Minute) {
			if date := paid.Format(time.DateOnly); date != day {
				t.Errorf("%s: %s is in %s, which is from %s to before %s", zone, paid, day, bounds[0], bounds[1])
			}
		}
	}
}

// readZones reads every time zone that Go brings along, without other names of the same.
func readZones(t *testing.T) (zones []*time.Location) {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	read := map[string]bool{}
	for _, file := range archive.File {
		if strings.HasSuffix(file.Name, "/") {
			continue
		}
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(content)
		content.Close()
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocationFromTZData(file.Name, data)
		if err != nil {
			t.Fatalf("the zone %s can't be read: %v", file.Name, err)
		}
		if read[string(data)] {
			continue
		}
		read[string(data)] = true
		zones = append(zones, zone)
	}
	return zones
}
