package chaintest

import (
	"bytes"
	"runtime"
)

// Allocated returns how many bytes a function allocates, with everything that runs meanwhile. Tests
// that use it run alone.
func Allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Filled returns a text of size bytes: a beginning, one repeated part, and an end.
func Filled(size int, begin, again, end string) []byte {
	return append(append([]byte(begin), bytes.Repeat([]byte(again), (size-len(begin)-len(end))/len(again))...), end...)
}
