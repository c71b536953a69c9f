package chaintest

import (
	"bytes"
	"runtime"
)

// Allocated is how many bytes something allocates, in all that runs meanwhile:
// its tests run alone.
func Allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Filled is a text of some bytes: a beginning, one thing again and again, and an end.
func Filled(size int, begin, again, end string) []byte {
	return append(append([]byte(begin), bytes.Repeat([]byte(again), (size-len(begin)-len(end))/len(again))...), end...)
}
