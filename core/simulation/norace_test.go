//go:build !race

package simulation_test

// usual is how many seeds a plain go test runs.
const usual = 200
