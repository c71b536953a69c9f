// Package mutationtest measures which conditions of the product no test guards. It
// changes one condition at a time (a mutant), runs the tests that reach it, and
// reports the mutants that no test fails for.
//
// All mutants of a package are compiled into one test binary: each condition is
// rewritten in an overlay of its file so that an environment variable chooses which
// mutant is active. The working tree is never changed. A first run of each test
// records which mutants it reaches, so that a mutant runs only with tests that can
// see it. Results are kept in a state folder; an interrupted run goes on where it
// ended. make mutate runs everything.
//
// equivalent.txt lists the mutants that no test can find, each with its proof; only
// those leave the percentage. A mutant's name there is its file, a space, and what
// make mutate prints behind its place.
package mutationtest
