//go:build !race

package simulation_test

import "cointill/internal/testing/speed"

// usual is how many seeds a plain go test runs.
var usual = speed.Pick(20, 200)

// usualSends is how many sends each of them has.
var usualSends = speed.Pick(3, 25)

// usualPayments is how many payments each of them has: 20,000 in all at the full size.
var usualPayments = speed.Pick(4, 100)
