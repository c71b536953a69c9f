//go:build race

package simulation_test

// usual is how many seeds a plain go test runs: few under the race detector,
// which makes each take many times as long.
const usual = 5

// usualSends is how many sends each of them has.
const usualSends = 3

// usualPayments is how many payments each of them has.
const usualPayments = 4
