package display

import (
	"context"
	"strconv"
	"time"

	"cointill/views/words"
)

// Moment is a moment, and the zone in which pages show times.
type Moment struct {
	Now  time.Time
	Zone *time.Location
}

// FormatEarlier writes how much earlier than a quote a reading was.
func FormatEarlier(ctx context.Context, quoted, read time.Time) string {
	switch d := quoted.Sub(read); {
	case d >= time.Second:
		return words.T(ctx, "units.before", "Age", FormatAge(ctx, d))
	case d <= -time.Second:
		return words.T(ctx, "units.after", "Age", FormatAge(ctx, -d))
	}
	return words.T(ctx, "units.at_once")
}

// FormatAge returns the age of something. Clocks differ, so a time ahead of ours counts as
// now.
func FormatAge(ctx context.Context, d time.Duration) string {
	number := func(unit time.Duration) string { return strconv.FormatInt(int64(d/unit), 10) }
	switch {
	case d < time.Second:
		return words.T(ctx, "units.seconds", "N", "0")
	case d < 2*time.Minute:
		return words.T(ctx, "units.seconds", "N", number(time.Second))
	case d < 2*time.Hour:
		return words.T(ctx, "units.minutes", "N", number(time.Minute))
	case d < 48*time.Hour:
		return words.T(ctx, "units.hours", "Hours", number(time.Hour), "Minutes",
			strconv.FormatInt(int64(d%time.Hour/time.Minute), 10))
	}
	return words.T(ctx, "units.days", "N", number(24*time.Hour))
}

// FormatAgo is a time that has passed, and ahead one that is still to come.
func FormatAgo(ctx context.Context, d time.Duration) string {
	return words.T(ctx, "units.ago", "Age", FormatAge(ctx, d))
}

func FormatAhead(ctx context.Context, d time.Duration) string {
	return words.T(ctx, "units.ahead", "Age", FormatAge(ctx, d))
}

// FormatDuration writes how long something lasted.
func FormatDuration(ctx context.Context, d time.Duration) string {
	ms := d.Milliseconds()
	switch {
	case ms < 1:
		return words.T(ctx, "units.under_millisecond")
	case ms < 1000:
		return words.T(ctx, "units.milliseconds", "N", strconv.FormatInt(ms, 10))
	}
	return words.T(ctx, "units.seconds", "N", strconv.FormatInt(ms/1000, 10)+"."+strconv.FormatInt(ms%1000/100, 10))
}
