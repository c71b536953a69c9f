package house_test

import "go/ast"

// exportedComments finds exported names without a comment in the packages that
// everybody reads: core, chain, models.
func exportedComments(t *tree) (found []string) {
	for _, s := range t.sources {
		if s.test() && !testPackage(s.folder()) || s.generated || !withinAny(s.path, documentedFolders) {
			continue
		}
		for _, d := range s.file.Decls {
			for _, name := range undocumented(d) {
				found = append(found, t.at(name.Pos(), "%s has no comment", name.Name))
			}
		}
	}
	return found
}

// undocumented lists the exported names of a declaration that have no comment
// of their own, nor one for their whole group.
func undocumented(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if d.Doc != nil || s.Doc != nil || s.Comment != nil {
					continue
				}
				for _, name := range s.Names {
					if name.IsExported() {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// exportedReceiver reports whether a function is none, or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	e := d.Recv.List[0].Type
	for {
		switch of := e.(type) {
		case *ast.StarExpr:
			e = of.X
		case *ast.IndexExpr: // a type parameter
			e = of.X
		case *ast.Ident:
			return of.IsExported()
		default:
			return false
		}
	}
}
