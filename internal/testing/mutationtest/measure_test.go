package mutationtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// till is a package with conditions of every kind, some of which its tests guard.
const till = `package till

import "time"

const query = "id = ? AND (gone OR height <= ?)"

type Row struct{ Amount, Due int; At time.Time; Gone bool }

func (r Row) Paid(now time.Time) bool {
	if r.Gone {
		return false
	}
	return r.Amount >= r.Due && !r.At.After(now)
}

func Name(kind int) string {
	switch kind {
	case 1, 2:
		return "small"
	}
	return "other"
}

func Query() string { return query }

func Last(list []int) (last int) {
	for i := 0; i < len(list); i++ {
		last = list[i]
	}
	return last
}
`

const tillTest = `package till

import ("testing"; "time")

func TestPaid(t *testing.T) {
	now := time.Unix(1, 0)
	if !(Row{5, 5, now, false}).Paid(now) || (Row{4, 5, now, false}).Paid(now) || (Row{5, 5, now.Add(1), false}).Paid(now) {
		t.Error("wrong")
	}
}

func TestName(t *testing.T) {
	if Name(1) != "small" || Name(3) != "other" {
		t.Error("wrong")
	}
}

func TestQuery(t *testing.T) {
	if got := Query(); len(got) != 32 {
		t.Error(got)
	}
}

func TestLast(t *testing.T) {
	if Last([]int{1, 2}) != 2 {
		t.Error("wrong")
	}
}

func TestBroken(t *testing.T) { t.Error("fails always") }
`

// writeModule writes a module with the package and its tests, and returns its root.
func writeModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{"go.mod": "module example\n\ngo 1.26\n", "till/till.go": till, "till/till_test.go": tillTest}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestMeasure measures a package of every kind of condition: which mutants its tests
// find, that a second run takes the results of the first, and that a change of the
// tests makes it run again.
func TestMeasure(t *testing.T) {
	want := map[string]outcome{
		"(package): drop in SQL `(gone OR height <= ?)`":                 killed,
		"(package): drop in SQL `gone`":                                  killed,
		"(package): drop in SQL `height <= ?`":                           killed,
		"(package): boundary in SQL `height <= ?`":                       killed,
		"(package): drop in SQL `id = ?`":                                killed,
		"Row.Paid: always true `r.Gone`":                                 killed,
		"Row.Paid: drop guard `r.Gone`":                                  unreached,
		"Row.Paid: always true `r.Amount >= r.Due && !r.At.After(now)`":  killed,
		"Row.Paid: always false `r.Amount >= r.Due && !r.At.After(now)`": killed,
		"Row.Paid: drop operand `r.Amount >= r.Due`":                     killed,
		"Row.Paid: boundary `r.Amount >= r.Due`":                         killed,
		"Row.Paid: drop operand `!r.At.After(now)`":                      killed,
		"Row.Paid: boundary `r.At.After(now)`":                           killed,
		"Name: drop case `kind == 1`":                                    killed,
		"Name: drop case `kind == 2`":                                    unreached,
		"Last: negate `i < len(list)`":                                   killed,
		"Last: boundary `i < len(list)`":                                 killed,
	}
	o := options{root: writeModule(t), state: t.TempDir(), workers: 2, out: &strings.Builder{}}
	p := piece{name: "till", folder: "till"}
	run := func() (lines string) {
		out := &strings.Builder{}
		o.out = out
		results, err := measurePiece(t.Context(), o, p)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]outcome{}
		for _, r := range results {
			got[strings.TrimPrefix(r.mutant.name, "till/till.go ")] = r.Outcome
		}
		for name := range maps.Keys(want) {
			if got[name] != want[name] {
				t.Errorf("%s: %q, want %q", name, got[name], want[name])
			}
			delete(got, name)
		}
		for name, outcome := range got {
			t.Errorf("%s: %q, want no such mutant", name, outcome)
		}
		return out.String()
	}
	if said := run(); !strings.Contains(said, "17 without a result") || !strings.Contains(said, "TestBroken fails without a mutant") {
		t.Errorf("the first run says %q, want that 17 mutants have no result and that TestBroken is left out", said)
	}
	if said := run(); !strings.Contains(said, " 0 without a result") {
		t.Errorf("the second run says %q, want that no mutant is without a result", said)
	}
	name := filepath.Join(o.root, "till", "more_test.go")
	more := "package till\n\nimport \"testing\"\n\nfunc TestGone(t *testing.T) {\n\tif (Row{Gone: true}).Paid(Row{}.At) {\n\t\tt.Error(1)\n\t}\n}\n"
	if err := os.WriteFile(name, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	want["Row.Paid: drop guard `r.Gone`"] = killed
	if said := run(); !strings.Contains(said, "17 without a result") {
		t.Errorf("after a change of tests the run says %q, want that 17 mutants have no result", said)
	}
	o.reuse = true
	if err := os.WriteFile(name, []byte(more+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := run(); !strings.Contains(said, " 1 without a result") {
		t.Errorf("a run that keeps what was found says %q, want that 1 mutant has no result", said)
	}
}

// TestPiecesAreSelectedByName: a piece is selected by its name, or by that in names of files.
func TestPiecesAreSelectedByName(t *testing.T) {
	for names, want := range map[string]string{
		"core/webhook": "[core/webhook]", "core-webhook": "[core/webhook]", "core-payment,core/account": "[core/payment core/account]",
		"core": "", "core/webhook,": "", ",": "",
	} {
		selected, err := selectPieces(names)
		var got []string
		for _, p := range selected {
			got = append(got, p.name)
		}
		if (err != nil) != (want == "") || err == nil && fmt.Sprint(got) != want {
			t.Errorf("selectPieces(%q) = %v, %v, want %s", names, got, err, want)
		}
	}
	if all, err := selectPieces(""); err != nil || len(all) != len(pieces) {
		t.Errorf("without a name %d pieces are selected, %v, want all %d", len(all), err, len(pieces))
	}
}

// TestConditionsOfSQL finds the conditions of statements, and changes them.
func TestConditionsOfSQL(t *testing.T) {
	for _, c := range []struct {
		text  string
		whole bool
		want  []string
	}{
		{"a = ? AND b IS NULL", true, []string{"(a = ? OR 1 = 1) AND b IS NULL", "a = ? AND (b IS NULL OR 1 = 1)"}},
		{"a = ? OR b > ?", true, []string{"(a = ? AND 1 = 0) OR b > ?", "a = ? OR (b > ? AND 1 = 0)", "a = ? OR b >= ?"}},
		{"a BETWEEN ? AND ?", true, []string{"(a BETWEEN ? AND ? OR 1 = 1)"}},
		{"DELETE FROM t WHERE id IN (SELECT id FROM t WHERE at <= ? ORDER BY at LIMIT ?)", false, []string{
			"DELETE FROM t WHERE (id IN (SELECT id FROM t WHERE at <= ? ORDER BY at LIMIT ?) OR 1 = 1)",
			"DELETE FROM t WHERE id IN (SELECT id FROM t WHERE (at <= ? OR 1 = 1) ORDER BY at LIMIT ?)",
			"DELETE FROM t WHERE id IN (SELECT id FROM t WHERE at < ? ORDER BY at LIMIT ?)"}},
		{"INSERT INTO t (k) VALUES (?) ON CONFLICT (k) DO UPDATE SET n = 1 WHERE t.at < ?", false, []string{
			"INSERT INTO t (k) VALUES (?) ON CONFLICT (k) DO UPDATE SET n = 1 WHERE (t.at < ? OR 1 = 1)",
			"INSERT INTO t (k) VALUES (?) ON CONFLICT (k) DO UPDATE SET n = 1 WHERE t.at <= ?"}},
		{"UPDATE t SET n = CASE WHEN at = ? THEN 1 ELSE 2 END", false, []string{"UPDATE t SET n = CASE WHEN (at = ? OR 1 = 1) THEN 1 ELSE 2 END"}},
		{"SELECT a FROM t", false, nil},
	} {
		var got []string
		for _, condition := range findConditions(c.text, c.whole) {
			for _, changed := range condition.listChanges(c.text) {
				got = append(got, changed.text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("mutants of %q:\n%s\nwant:\n%s", c.text, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestEquivalentsNeedProofs reads the list of equivalent mutants.
func TestEquivalentsNeedProofs(t *testing.T) {
	proofs, err := readEquivalents("# comment\n\na.go F: negate `x`\n\tNo test\n\tsees it.\n")
	if err != nil || len(proofs) != 1 || proofs["a.go F: negate `x`"] != "No test sees it." {
		t.Errorf("read %q, %v, want one mutant with its proof", proofs, err)
	}
	for _, text := range []string{"a\n", "a\nb\n\tproof\n", "\tproof\n", "a\n\tproof\na\n\tproof\n"} {
		if proofs, err := readEquivalents(text); err == nil {
			t.Errorf("read %q from %q, want an error", proofs, text)
		}
	}
}

// TestTable counts outcomes: only mutants that are listed as equivalent leave the percentage.
func TestTable(t *testing.T) {
	var results []result
	for i, o := range []outcome{killed, killed, timeout, survived, unreached, survived} {
		results = append(results, result{mutant{name: fmt.Sprint("f.go F: ", i)}, record{Outcome: o}})
	}
	var out strings.Builder
	found := printTable(&out, []string{"p"}, map[string][]result{"p": results}, map[string]string{"f.go F: 5": "proof", "f.go F: 0": "wrong"})
	if found != 60 || !strings.Contains(out.String(), "| p | 6 | 2 | 1 | 2 | 1 | 60.0 % |") || strings.Contains(out.String(), "F: 5") {
		t.Errorf("found %.1f %%, want 60 %%, in\n%s", found, out.String())
	}
}
