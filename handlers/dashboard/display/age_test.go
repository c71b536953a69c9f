package display

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Minute: "0 s", 12*time.Second + 900*time.Millisecond: "12 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min",
		2*time.Hour + 5*time.Minute: "2 h 5 min", 72 * time.Hour: "3 days",
	} {
		if got := FormatAge(t.Context(), d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "at once", 12 * time.Second: "12 s before", -3 * time.Second: "3 s after"} {
		if got := FormatEarlier(t.Context(), noon, noon.Add(-d)); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
