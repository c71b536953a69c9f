//go:build unix

package app

import (
	"math"
	"syscall"
)

// maxDescriptors returns how many files the process may have open. Go's package syscall has raised
// the soft limit to the hard one before main began.
func maxDescriptors() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 {
		return math.MaxInt32
	}
	return int64(limit.Cur)
}
