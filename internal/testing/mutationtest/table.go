package mutationtest

import (
	"fmt"
	"io"
	"strings"
)

// least is the percentage of mutants that must be found, of those not proven equivalent.
const least = 95

// count is a line of the table.
type count struct {
	name                                           string
	mutants, killed, timeout, survived, equivalent int
}

// addResult counts one result. A mutant that is listed as equivalent counts as that even
// when a run of it timed out by chance.
func (c *count) addResult(o outcome, equivalent bool) {
	c.mutants++
	switch {
	case o == killed:
		c.killed++
	case o == timeout:
		c.timeout++
	case equivalent:
		c.equivalent++
	default:
		c.survived++
	}
}

// percentFound returns how many of the mutants that a test could find are found.
func (c count) percentFound() float64 {
	if c.mutants == c.equivalent {
		return 100
	}
	return 100 * float64(c.killed+c.timeout) / float64(c.mutants-c.equivalent)
}

// printTable prints a line for each piece, the sum, and each mutant that no test finds.
// It returns the percentage of the sum.
func printTable(out io.Writer, names []string, results map[string][]result, equivalents map[string]string) float64 {
	total := count{name: "all"}
	fmt.Fprintln(out, "\n| Package | Mutants | Killed | Timeout | Survived | Equivalent | Found "+
		"|\n|---|---|---|---|---|---|---|")
	line := func(c count) {
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %.1f %% |\n", c.name, c.mutants, c.killed, c.timeout,
			c.survived, c.equivalent, c.percentFound())
	}
	var open []result
	for _, name := range names {
		c := count{name: name}
		for _, r := range results[name] {
			_, equivalent := equivalents[r.name]
			c.addResult(r.Outcome, equivalent)
			total.addResult(r.Outcome, equivalent)
			if !r.Outcome.isFound() && !equivalent {
				open = append(open, r)
			}
		}
		line(c)
	}
	line(total)
	if len(open) > 0 {
		fmt.Fprintln(out, "\nNo test fails for:")
	}
	for _, r := range open {
		fmt.Fprintf(out, "%s %s (%s)\n", r.formatPlace(), strings.TrimPrefix(r.mutant.name, r.position.Filename+" "),
			strings.TrimSpace(string(r.Outcome)+" "+r.By))
	}
	return total.percentFound()
}
