// Package speed chooses the size of tests that need many rows, payments or attempts to
// prove a claim. make test runs them at a small size, make test-all also at their full size.
package speed

// Pick returns the size of a test: small, or full when the tests were built with the tag
// full. make test-all sets that tag.
func Pick[T any](small, full T) T {
	if Full {
		return full
	}
	return small
}
