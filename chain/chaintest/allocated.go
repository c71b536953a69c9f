package chaintest

import (
	"bytes"
	"runtime"
)

// AllocatedBytes returns how many bytes a function allocates, with everything that runs meanwhile. Tests
// that use it run alone.
func AllocatedBytes(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FillBytes returns a text of size bytes: a beginning, one repeated part, and an end.
func FillBytes(size int, begin, again, end string) []byte {
	return append(append([]byte(begin), bytes.Repeat([]byte(again), (size-len(begin)-len(end))/len(again))...), end...)
}
