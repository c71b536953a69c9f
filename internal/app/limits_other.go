//go:build !unix

package app

import "math"

// maxDescriptors returns how many files the process may have open: there is no limit that
// counts on other systems.
func maxDescriptors() int64 { return math.MaxInt32 }
