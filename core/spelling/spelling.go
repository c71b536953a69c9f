// Package spelling finds the known name that a mistyped one was probably meant to be.
package spelling

// Nearest returns the name with the fewest changes to get from one to the other, and how many
// those are; "" when there are no names.
func Nearest(name string, names []string) (best string, changes int) {
	for i, candidate := range names {
		if d := countChanges(name, candidate); i == 0 || d < changes {
			best, changes = candidate, d
		}
	}
	return best, changes
}

// countChanges returns the Levenshtein distance of two texts, in bytes.
func countChanges(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
