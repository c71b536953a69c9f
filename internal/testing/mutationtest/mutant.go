package mutationtest

import (
	"fmt"
	"go/token"
	"strings"
)

// kind is the way in which a mutant changes its condition.
type kind string

const (
	always      kind = "always true"  // the condition holds whatever its operands are
	never       kind = "always false" // it doesn't
	negate      kind = "negate"       // a loop's condition is the other way round
	dropGuard   kind = "drop guard"   // always false, of an if without else: its body never runs
	dropCase    kind = "drop case"    // a case never matches
	dropOperand kind = "drop operand" // an operand of && or || is left out
	flip        kind = "flip"         // an operand's == is != and the reverse
	boundary    kind = "boundary"     // < is <=, > is >=, and the reverse; likewise Before and After
	dropSQL     kind = "drop in SQL"  // a condition of a statement holds for every row, or in an OR for none
	boundarySQL kind = "boundary in SQL"
)

// mutant is one change of one condition.
type mutant struct {
	number   int // in its package; the instrumented code knows it by this
	position token.Position
	name     string // see newName: it stays the same when lines are added elsewhere
	note     string // the condition that is changed
}

// formatPlace formats where the mutant's condition stands, for people.
func (m mutant) formatPlace() string {
	return fmt.Sprintf("%s:%d:%d", m.position.Filename, m.position.Line, m.position.Column)
}

// namer gives mutants their names.
type namer map[string]int

// newName names a mutant by file, function, kind and the text that is changed. A
// second mutant of the same name in a function gets "#2".
func (n namer) newName(file, function string, k kind, text string) string {
	name := fmt.Sprintf("%s %s: %s `%s`", file, function, k, flattenText(text))
	n[name]++
	if n[name] > 1 {
		name += fmt.Sprintf(" #%d", n[name])
	}
	return name
}

// flattenText writes a text of several lines on one.
func flattenText(text string) string { return strings.Join(strings.Fields(text), " ") }
