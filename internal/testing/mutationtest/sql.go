package mutationtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// looksLikeSQL matches text that holds a condition of a statement.
var looksLikeSQL = regexp.MustCompile(
	`[\w)"] ?(=|<>|<|>|<=|>=|IN|LIKE|ANY) ?\(*(\?|'|excluded)|\bIS (NOT )?NULL\b|\bWHERE\b`)

// isStatement matches a statement or a part of one, where conditions follow a WHERE.
var isStatement = regexp.MustCompile(`\b(SELECT|UPDATE|INSERT|DELETE|WITH|WHERE|VALUES)\b`)

// addStatement adds the mutants of a text, or of a sum of texts, that looks like SQL.
func (r *rewriter) addStatement(e ast.Expr) {
	var texts strings.Builder
	ast.Inspect(e, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && !r.seen[n] {
			texts.WriteString(literal.Value)
		}
		_, call := n.(*ast.CallExpr)
		return !call
	})
	if text := texts.String(); looksLikeSQL.MatchString(text) {
		r.statementText(e, !isStatement.MatchString(text), false, false)
	}
}

// statementText adds the mutants of the literals in a sum. An open end is one at which
// other text follows, so that a condition there may be a part of a longer one.
func (r *rewriter) statementText(e ast.Expr, whole, openLeft, openRight bool) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			r.statementText(e.X, whole, openLeft, true)
			r.statementText(e.Y, whole, true, openRight)
		}
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil || e.Kind != token.STRING || r.seen[e] {
			return
		}
		r.seen[e] = true
		var pairs strings.Builder
		for _, c := range findConditions(text, whole) {
			if openLeft && strings.TrimSpace(text[:c.from]) == "" || openRight && strings.TrimSpace(text[c.to:]) == "" {
				continue
			}
			for _, changed := range c.listChanges(text) {
				n := r.addMutant(e.Pos(), changed.kind, text[c.from:c.to])
				fmt.Fprintf(&pairs, ", %d, %q", n, changed.text)
			}
		}
		if pairs.Len() > 0 {
			r.insertAround(e, "mutantText(", pairs.String()+")")
		}
	}
}

// sqlCondition is one operand of AND or OR in a statement's text.
type sqlCondition struct {
	from, to int
	or       bool // it stands beside OR
	operator int  // the place of its one order comparison, -1 without
	length   int  // of that operator
}

// change is the statement's text with a mutant.
type change struct {
	kind kind
	text string
}

func (c sqlCondition) listChanges(text string) []change {
	replaced := func(by string) string { return text[:c.from] + by + text[c.to:] }
	all := "(" + text[c.from:c.to] + " OR 1 = 1)"
	if c.or {
		all = "(" + text[c.from:c.to] + " AND 1 = 0)"
	}
	changes := []change{{dropSQL, replaced(all)}}
	if c.operator >= 0 {
		other := map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[text[c.operator:c.operator+c.length]]
		changes = append(changes, change{boundarySQL, text[:c.operator] + other + text[c.operator+c.length:]})
	}
	return changes
}

// sqlToken is a word, a quoted text, an operator or a sign.
type sqlToken struct {
	text     string // of words in capitals
	from, to int
}

var sqlTokens = regexp.MustCompile(`'[^']*'|[\w.]+|->>|->|<=|>=|<>|\|\||\S`)

// sqlReader finds conditions in a statement.
type sqlReader struct {
	tokens []sqlToken
	found  []sqlCondition
}

// findConditions finds the conditions in a statement, or in the text of one condition.
func findConditions(text string, whole bool) []sqlCondition {
	r := &sqlReader{}
	for _, at := range sqlTokens.FindAllStringIndex(text, -1) {
		r.tokens = append(r.tokens, sqlToken{strings.ToUpper(text[at[0]:at[1]]), at[0], at[1]})
	}
	if whole {
		r.readCondition(0)
	} else {
		r.readStatement(0, len(r.tokens))
	}
	slices.SortFunc(r.found, func(a, b sqlCondition) int { return a.from - b.from })
	return r.found
}

// readStatement finds where conditions begin in a range of tokens.
func (r *sqlReader) readStatement(from, to int) {
	for i := from; i < to; i++ {
		switch r.tokens[i].text {
		case "WHERE", "HAVING", "WHEN":
			i = r.readCondition(i+1) - 1
		case "ON":
			if i+1 < to && r.tokens[i+1].text != "CONFLICT" {
				i = r.readCondition(i+1) - 1
			}
		}
	}
}

// endWords end a condition.
var endWords = []string{"ORDER", "GROUP", "LIMIT", "RETURNING", "ON", "UNION", "HAVING", "FOR", "THEN", "ELSE", "END",
	"DO",
	"LEFT", "JOIN", "CROSS", "INNER", "WHERE", ";", ")", ","}

// readCondition adds the operands of a condition and returns the place behind it.
func (r *sqlReader) readCondition(from int) (end int) {
	type operand struct{ from, to int }
	var operands []operand
	var operators []string
	begin, i, between := from, from, false
	for ; i < len(r.tokens); i++ {
		word := r.tokens[i].text
		switch {
		case word == "(":
			closing := r.findClosing(i)
			r.readParentheses(i+1, closing)
			i = closing
			continue
		case word == "BETWEEN":
			between = true
			continue
		case word == "AND" && between:
			between = false
			continue
		case word == "AND" || word == "OR":
			operands, operators = append(operands, operand{begin, i}), append(operators, word)
			begin = i + 1
			continue
		case !slices.Contains(endWords, word):
			continue
		}
		break
	}
	operands = append(operands, operand{begin, min(i, len(r.tokens))})
	for at, o := range operands {
		if o.from >= o.to {
			continue
		}
		or := at > 0 && operators[at-1] == "OR" || at < len(operators) && operators[at] == "OR"
		and := at > 0 && operators[at-1] == "AND" || at < len(operators) && operators[at] == "AND"
		r.addOperand(o.from, o.to, or && !and)
	}
	return i
}

// addOperand adds one operand.
func (r *sqlReader) addOperand(from, to int, or bool) {
	c := sqlCondition{from: r.tokens[from].from, to: r.tokens[to-1].to, or: or, operator: -1}
	for i := from; i < to; i++ {
		switch r.tokens[i].text {
		case "(":
			i = r.findClosing(i)
		case "<", "<=", ">", ">=":
			c.operator, c.length = r.tokens[i].from, r.tokens[i].to-r.tokens[i].from
		}
	}
	r.found = append(r.found, c)
}

// readParentheses reads the content of parentheses: a condition of several operands, or
// something that may hold a statement.
func (r *sqlReader) readParentheses(from, to int) {
	for i := from; i < to && r.tokens[from].text != "SELECT"; i++ {
		switch r.tokens[i].text {
		case "(":
			i = r.findClosing(i)
		case "AND", "OR":
			r.readCondition(from)
			return
		}
	}
	r.readStatement(from, to)
}

// findClosing finds the place of the parenthesis that closes the one at a place.
func (r *sqlReader) findClosing(from int) int {
	depth := 0
	for i := from; i < len(r.tokens); i++ {
		switch r.tokens[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(r.tokens) - 1
}
