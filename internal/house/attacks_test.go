package house_test

import (
	"flag"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var write = flag.Bool("write", false, "write docs/security.md")

// attack is one way to cheat, break or mislead a payment service.
type attack struct {
	id, what string
	open     string // what of it no test asserts, or what holds less than one may hope; "" for nothing
}

// proof is a test whose doc comment names attacks, right after its own name:
// "TestX (ID, ID): …".
type proof struct {
	ids          []string
	name, folder string
}

var (
	attackID = regexp.MustCompile(`\b(?:XRP|ETH|BTC|DOGE|FX|T|WH|AP|SD)-\d+\b`)
	tagged   = regexp.MustCompile(`^(\w+) \(((?:[A-Z]+-\d+, )*[A-Z]+-\d+)\)[: ]`)
	aTest    = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z]`)
)

// proofs collects the tests that name attacks.
func proofs(t *tree) (all []proof) {
	for _, s := range t.sources {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil || !s.test() || !aTest.MatchString(f.Name.Name) {
				continue
			}
			if m := tagged.FindStringSubmatch(oneLine(f.Doc.Text())); m != nil && m[1] == f.Name.Name {
				all = append(all, proof{strings.Split(m[2], ", "), m[1], s.folder()})
			}
		}
	}
	return all
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// attackIDs finds comments that name an attack where proofs doesn't look for it,
// or one that isn't in the list: either would be missing in docs/security.md.
func attackIDs(t *tree) (found []string) {
	for _, s := range t.sources {
		read := map[*ast.CommentGroup]string{} // doc comments that proofs understands
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil && s.test() && aTest.MatchString(f.Name.Name) {
				if m := tagged.FindStringSubmatch(oneLine(f.Doc.Text())); m != nil && m[1] == f.Name.Name {
					read[f.Doc] = m[2]
				}
			}
		}
		for _, c := range s.file.Comments {
			for _, id := range attackID.FindAllString(c.Text(), -1) {
				if !slices.ContainsFunc(attacks, func(a attack) bool { return a.id == id }) {
					found = append(found, t.at(c.Pos(), "%s is no attack of attacks_list_test.go", id))
				} else if !strings.Contains(read[c]+",", id+",") {
					found = append(found, t.at(c.Pos(), "%s stands where nobody looks: begin a test's comment with TestX (%[1]s)", id))
				}
			}
		}
	}
	return found
}

// TestSecurityPage holds docs/security.md against the list of attacks and the
// tests that name them. Each attack has a test.
func TestSecurityPage(t *testing.T) {
	tree, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	if len(attacks) != 121 {
		t.Errorf("%d attacks are listed, want 121", len(attacks))
	}
	tests := map[string]map[string][]string{} // by attack and folder
	for _, p := range proofs(tree) {
		for _, id := range p.ids {
			if tests[id] == nil {
				tests[id] = map[string][]string{}
			}
			tests[id][p.folder] = append(tests[id][p.folder], p.name)
		}
	}
	var want strings.Builder
	want.WriteString(securityHead)
	for i, a := range attacks {
		if len(tests[a.id]) == 0 {
			t.Errorf("%s has no test", a.id)
		}
		if i == 0 || family(a.id) != family(attacks[i-1].id) {
			fmt.Fprintf(&want, "\n## %s\n\n| | What happens | What shows that it does no harm |\n|---|---|---|\n", families[family(a.id)])
		}
		fmt.Fprintf(&want, "| %s | %s | %s |\n", a.id, a.what, shows(a, tests[a.id]))
	}
	if *write {
		if err := os.WriteFile("../../docs/security.md", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("../../docs/security.md"); err != nil || string(got) != want.String() {
		t.Errorf("docs/security.md is not what the tests say (%v): go test ./internal/house -run SecurityPage -write writes it", err)
	}
}

// shows writes the last column: the tests by folder, and what they leave open.
func shows(a attack, tests map[string][]string) string {
	var parts []string
	for _, folder := range slices.Sorted(maps.Keys(tests)) {
		names := slices.Compact(slices.Sorted(slices.Values(tests[folder])))
		if folder == "." {
			folder = "the root"
		}
		parts = append(parts, folder+": `"+strings.Join(names, "`, `")+"`")
	}
	if a.open != "" {
		parts = append(parts, "*Open:* "+a.open)
	}
	return strings.Join(parts, "<br>")
}

func family(id string) string { name, _, _ := strings.Cut(id, "-"); return name }

var families = map[string]string{"XRP": "XRP Ledger", "ETH": "Ether and USDT", "BTC": "Bitcoin and Dogecoin", "DOGE": "Dogecoin alone",
	"FX": "Prices", "T": "Time", "WH": "Webhooks", "AP": "API and pages",
	"SD": "Sends", "TL": "The till"}

const securityHead = `# Attacks, and the tests that answer them

Each row is something that somebody does, or that a network, a node or a library does by itself, and that would cost money, trust or service somewhere. Beside it stand the tests which show that it does no harm here: ` + "`go test -run NAME ./FOLDER`" + ` runs one, those in e2e as ` + "`make test-all`" + ` does. What no test shows, or what is measured and not asserted, is called open.

This page is made from the comments of the tests, and checked: ` + "`go test ./internal/house -run SecurityPage -write`" + ` writes it.
`
