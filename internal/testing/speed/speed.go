// Package speed says how large the tests are that need a size to prove something:
// rows for a plan, blocks for a reorganisation, attempts for a guess. They are small
// in make test, and in make test-all as large as the claim that they prove.
package speed

// Pick returns how large a test is: small, or full when the tests were built with
// the tag full, as make test-all builds them.
func Pick[T any](small, full T) T {
	if Full {
		return full
	}
	return small
}
