package mutationtest

import (
	_ "embed"
	"fmt"
	"strings"
)

// equivalentText lists mutants that no test can find: a line with the mutant's name,
// then lines that begin with a tab and hold the proof.
//
//go:embed equivalent.txt
var equivalentText string

// readEquivalents returns the proofs by the names of mutants.
func readEquivalents(text string) (map[string]string, error) {
	proofs := map[string]string{}
	name := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, "\t"):
			if name != "" && proofs[name] == "" {
				return nil, fmt.Errorf("equivalent.txt:%d: no proof for %s", i, name)
			}
			if _, twice := proofs[line]; twice {
				return nil, fmt.Errorf("equivalent.txt:%d: %s is listed twice", i+1, line)
			}
			name, proofs[line] = line, ""
		case name == "":
			return nil, fmt.Errorf("equivalent.txt:%d: a proof without a mutant", i+1)
		default:
			proofs[name] = strings.TrimSpace(proofs[name] + " " + strings.TrimSpace(line))
		}
	}
	if name != "" && proofs[name] == "" {
		return nil, fmt.Errorf("equivalent.txt: no proof for %s", name)
	}
	return proofs, nil
}
