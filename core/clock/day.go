package clock

import (
	"sort"
	"time"
)

// FindDayStart returns the first moment of a day (2006-01-02) in a time zone, some days on: the first at which its
// clocks show that day. It is later than midnight where clocks are put forward at midnight; the zero time for no day.
func FindDayStart(day string, zone *time.Location, on int) time.Time {
	midnight, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}
	}
	midnight = midnight.AddDate(0, 0, on)
	day = midnight.Format(time.DateOnly)
	before := midnight.AddDate(0, 0, -1).In(zone) // no zone is a day ahead of UTC
	seconds := sort.Search(2*24*60*60, func(i int) bool {
		return before.Add(time.Duration(i)*time.Second).Format(time.DateOnly) >= day
	})
	return before.Add(time.Duration(seconds) * time.Second)
}
