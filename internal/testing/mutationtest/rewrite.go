package mutationtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// insertion is text that the instrumented file has around a range of the original,
// or in place of it. Of several around the same range, the first is outermost.
type insertion struct {
	from, to       int
	before, behind string
	replaces       bool // the range itself is left out
}

// rewriter finds the mutants of a package's files and instruments the files.
type rewriter struct {
	positions *token.FileSet
	names     namer
	mutants   []mutant

	path       string // of the file that is read, from the root of the repository
	text       string
	function   string
	insertions []insertion
	seen       map[ast.Node]bool // conditions that their statement has handled
}

func newRewriter() *rewriter {
	return &rewriter{positions: token.NewFileSet(), names: namer{}}
}

// rewriteFile adds the file's mutants and returns its instrumented text.
func (r *rewriter) rewriteFile(name, text string) (string, error) {
	file, err := parser.ParseFile(r.positions, name, text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	r.path, r.text, r.insertions, r.seen = name, text, nil, map[ast.Node]bool{}
	for _, declaration := range file.Decls {
		r.function = "(package)"
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			r.function = functionName(d)
		case *ast.GenDecl:
			if d.Tok == token.CONST && !r.makeVariable(d) {
				continue
			}
		}
		ast.Inspect(declaration, r.visitNode)
	}
	return applyInsertions(text, r.insertions), nil
}

// functionName is a function's name behind its receiver's type.
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// makeVariable makes a variable of a constant that holds the text of conditions, and
// reports whether it is one.
func (r *rewriter) makeVariable(d *ast.GenDecl) bool {
	found := false
	for _, spec := range d.Specs {
		for _, value := range spec.(*ast.ValueSpec).Values {
			literal, ok := value.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return false
			}
			found = found || looksLikeSQL.MatchString(literal.Value)
		}
	}
	if found {
		from := r.offsetOf(d.TokPos)
		r.insertions = append(r.insertions, insertion{from: from, to: from + len("const"), before: "var",
			replaces: true})
	}
	return found
}

func (r *rewriter) visitNode(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.DeclStmt:
		if d, ok := n.Decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
			return r.makeVariable(d)
		}
	case *ast.ArrayType:
		return false
	case *ast.IfStmt:
		if n.Else == nil {
			r.addCondition(n.Cond, dropGuard, always)
		} else {
			r.addCondition(n.Cond, never, always)
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			r.addCondition(n.Cond, negate) // one that is always true would never end
		}
	case *ast.SwitchStmt:
		r.addCases(n)
	case *ast.BinaryExpr, *ast.UnaryExpr:
		if isCondition(n.(ast.Expr)) {
			r.addCondition(n.(ast.Expr), never, always)
		}
	}
	return r.visitText(n)
}

// visitText looks for SQL, and for comparisons of times that are no part of a condition.
func (r *rewriter) visitText(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.Field:
		if n.Tag != nil {
			r.seen[n.Tag] = true
		}
	case *ast.BinaryExpr:
		if n.Op == token.ADD {
			r.addStatement(n)
		}
	case *ast.BasicLit:
		r.addStatement(n)
	case *ast.CallExpr:
		if !r.seen[n] {
			r.timeBoundary(n)
		}
	}
	return true
}

// isCondition reports whether an expression is one by its operator alone.
func isCondition(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.LAND || e.Op == token.LOR || isComparison(e.Op)
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	}
	return false
}

func isComparison(op token.Token) bool {
	return slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}, op)
}

// addCondition adds the mutants of a whole condition, of the given kinds, and of its parts.
func (r *rewriter) addCondition(e ast.Expr, kinds ...kind) {
	if r.seen[e] {
		return
	}
	for _, k := range kinds {
		n := r.addMutant(e.Pos(), k, r.sourceText(e))
		switch k {
		case always: // reached only when the condition is false
			r.insertAround(e, "((", fmt.Sprintf(") || mutantActive(%d))", n))
		case negate:
			r.insertAround(e, "((", fmt.Sprintf(") != mutantActive(%d))", n))
		default: // reached only when it is true
			r.insertAround(e, "((", fmt.Sprintf(") && !mutantActive(%d))", n))
		}
	}
	r.addParts(e, true)
}

// addParts adds the mutants of the operands of a condition. The whole of a condition
// that is one comparison is always true and always false already.
func (r *rewriter) addParts(e ast.Expr, whole bool) {
	r.seen[e] = true
	switch e := e.(type) {
	case *ast.ParenExpr:
		r.addParts(e.X, whole)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			r.addParts(e.X, true)
		}
	case *ast.BinaryExpr:
		switch {
		case e.Op == token.LAND || e.Op == token.LOR:
			for _, operand := range r.listOperands(e, e.Op) {
				r.addOperand(operand, e.Op)
			}
		case e.Op == token.EQL || e.Op == token.NEQ:
			if !whole {
				n := r.addMutant(e.Pos(), flip, r.sourceText(e))
				r.insertAround(e, "((", fmt.Sprintf(") != mutantActive(%d))", n))
			}
		case isComparison(e.Op):
			r.addBoundary(e)
		}
	case *ast.CallExpr:
		r.timeBoundary(e)
	}
}

// listOperands returns the operands of a chain of one operator.
func (r *rewriter) listOperands(e ast.Expr, op token.Token) []ast.Expr {
	if both, ok := e.(*ast.BinaryExpr); ok && both.Op == op {
		r.seen[both] = true
		return append(r.listOperands(both.X, op), r.listOperands(both.Y, op)...)
	}
	return []ast.Expr{e}
}

// addOperand adds the mutant that leaves an operand out, and the mutants within the operand.
func (r *rewriter) addOperand(e ast.Expr, op token.Token) {
	n := r.addMutant(e.Pos(), dropOperand, r.sourceText(e))
	if op == token.LAND {
		r.insertAround(e, "((", fmt.Sprintf(") || mutantActive(%d))", n))
	} else {
		r.insertAround(e, "((", fmt.Sprintf(") && !mutantActive(%d))", n))
	}
	r.addParts(e, false)
}

// addBoundary makes a function call of an order comparison, which knows both forms.
func (r *rewriter) addBoundary(e *ast.BinaryExpr) {
	n := r.addMutant(e.Pos(), boundary, r.sourceText(e))
	functions := map[token.Token]string{token.LSS: "mutantLess", token.LEQ: "mutantLessOrEqual",
		token.GTR: "mutantGreater", token.GEQ: "mutantGreaterOrEqual"}
	r.insertAround(e, fmt.Sprintf("%s(%d, ", functions[e.Op], n), ")")
	at := r.offsetOf(e.OpPos)
	r.insertions = append(r.insertions, insertion{from: at, to: at + len(e.Op.String()), before: ",", replaces: true})
}

// timeBoundary lets a call of Before or After hold for equal times.
func (r *rewriter) timeBoundary(e *ast.CallExpr) {
	method, ok := e.Fun.(*ast.SelectorExpr)
	if !ok || len(e.Args) != 1 || method.Sel.Name != "Before" && method.Sel.Name != "After" {
		return
	}
	if of, ok := method.X.(*ast.Ident); ok && of.Name == "time" {
		return // the function time.After
	}
	n := r.addMutant(e.Pos(), boundary, r.sourceText(e))
	equal := fmt.Sprintf(" || mutantActive(%d) && (%s).Equal(%s))", n, r.sourceText(method.X), r.sourceText(e.Args[0]))
	r.insertAround(e, "(", equal)
}

// addCases adds the mutants of a switch's cases. One with a value to compare becomes one
// without, so that each comparison can be left out.
func (r *rewriter) addCases(s *ast.SwitchStmt) {
	value := ""
	if s.Tag != nil {
		if s.Init != nil || !slices.ContainsFunc(s.Body.List,
			func(c ast.Stmt) bool { return c.(*ast.CaseClause).List != nil }) {
			return
		}
		value = fmt.Sprintf("mutantValue%d", r.offsetOf(s.Pos()))
		r.insertAround(s.Tag, value+" := ", ";")
	}
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			if s.Tag == nil {
				r.addCondition(e, dropCase, always)
				continue
			}
			n := r.addMutant(e.Pos(), dropCase, r.sourceText(s.Tag)+" == "+r.sourceText(e))
			r.insertAround(e, fmt.Sprintf("(%s == (", value), fmt.Sprintf(")) && !mutantActive(%d)", n))
		}
	}
}

// addMutant adds a mutant and returns its number.
func (r *rewriter) addMutant(at token.Pos, k kind, text string) int {
	m := mutant{number: len(r.mutants) + 1, position: r.positions.Position(at),
		name: r.names.newName(r.path, r.function, k, text), note: fmt.Sprintf("%s `%s`", k, flattenText(text))}
	r.mutants = append(r.mutants, m)
	return m.number
}

// insertAround inserts text before and behind an expression.
func (r *rewriter) insertAround(e ast.Node, before, behind string) {
	r.insertions = append(r.insertions, insertion{from: r.offsetOf(e.Pos()), to: r.offsetOf(e.End()), before: before,
		behind: behind})
}

func (r *rewriter) offsetOf(at token.Pos) int { return r.positions.Position(at).Offset }

// sourceText returns the original text of a node.
func (r *rewriter) sourceText(n ast.Node) string {
	return r.text[r.offsetOf(n.Pos()):r.offsetOf(n.End())]
}

// applyInsertions writes the text with its insertions.
func applyInsertions(text string, insertions []insertion) string {
	type piece struct {
		at, order int
		text      string
		skip      int
	}
	var pieces []piece
	for i, in := range insertions {
		if in.replaces {
			pieces = append(pieces, piece{in.from, i, in.before, in.to - in.from})
			continue
		}
		pieces = append(pieces, piece{in.from, i, in.before, 0}, piece{in.to, -i - 1, in.behind, 0})
	}
	// What ends at a place comes before what begins there, the inner end first.
	slices.SortStableFunc(pieces,
		func(a, b piece) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var out strings.Builder
	from := 0
	for _, p := range pieces {
		out.WriteString(text[from:p.at])
		out.WriteString(p.text)
		from = p.at + p.skip
	}
	out.WriteString(text[from:])
	return out.String()
}

// buildHelper returns the source of the functions that instrumented files call.
func buildHelper(packageName string) string {
	return strings.Replace(helperSource, "package helper", "package "+packageName, 1)
}

// helperName is the file that holds them.
func helperName(folder string) string { return path.Join(folder, "zz_mutants.go") }
