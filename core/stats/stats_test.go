package stats

import (
	"testing"
	"time"
)

// TestBuckets: buckets rise with the time, and their middles are right to a few percent.
func TestBuckets(t *testing.T) {
	last := -1
	for seconds := int64(0); seconds < 4_000_000; seconds += 1 + seconds/500 {
		took := time.Duration(seconds) * time.Second
		bucket := BucketOf(took)
		if bucket < last || bucket > last+1 {
			t.Fatalf("%s is in bucket %d, after %d", took, bucket, last)
		}
		last = bucket
		if off := (BucketMiddle(bucket) - took).Abs(); off*20 > took {
			t.Fatalf("the middle of %s is %s", took, BucketMiddle(bucket))
		}
	}
	if BucketOf(-time.Second) != 0 {
		t.Error("a time before the beginning")
	}
}

func TestMedian(t *testing.T) {
	for name, c := range map[string]struct {
		waits map[int]int64
		want  time.Duration
		known bool
	}{
		"none": {nil, 0, false}, "one": {map[int]int64{7: 1}, 7 * time.Second, true}, "even": {map[int]int64{3: 1, 9: 1}, 3 * time.Second, true},
		"odd": {map[int]int64{3: 1, 9: 1, 20: 1}, 9 * time.Second, true}, "many": {map[int]int64{3: 4, 9: 10, 20: 5}, 9 * time.Second, true},
		"taken back": {map[int]int64{3: 0, 9: 1}, 9 * time.Second, true},
	} {
		if got, known := (Figures{Waits: c.waits}).MedianTime(); got != c.want || known != c.known {
			t.Errorf("%s: %s, %v", name, got, known)
		}
	}
}
