package e2e

import (
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cointill/e2e/harness"
)

// TestLibreOffice has LibreOffice read the workbooks of transactions, statement and journal. Every cell
// must be the one of the CSV of the same rows: texts as texts, whatever they look like, times as times,
// and amounts as numbers that are shown with two decimals or more.
func TestLibreOffice(t *testing.T) {
	i := harness.New(t, false)
	i.Start("demo")
	owner := signInToDemo(t, i)
	for _, reference := range []string{"=1+1", "007", "1e5", "-12", "+3", "@home", "2026-03-01", "1.50"} {
		request := harness.NewRequest("crypto_ripple")
		request["business_reference"], request["amount"], request["first_name"] = reference, 1_000_000, "Ọlá"
		request["metadata"] = harness.Fields{"note": "a, \"b\"\n=c", "true": "TRUE"}
		i.SendRequest("POST", "/v1/payment/initiate", request, 201)
	}
	for name, path := range map[string]string{"transactions": "/dashboard/payments/export.", "statement": "/dashboard/statements.", "journal": "/dashboard/journal."} {
		heading, want := readTable(t, owner, path+"csv")
		workbook := owner.get(path + "xlsx")
		shown, stored := convertWorkbook(t, workbook, "true"), convertWorkbook(t, workbook, "false")
		if len(shown) != len(want)+1 || len(stored) != len(want)+1 || len(want) == 0 {
			t.Fatalf("%s: LibreOffice has %d and %d rows, want %d with the titles", name, len(shown), len(stored), len(want)+1)
		}
		numbers := 0
		for n, row := range want {
			for column, text := range row {
				c := officeCell{shown: shown[n+1][column].text, stored: stored[n+1][column].text, isText: stored[n+1][column].quoted}
				if problem := c.compare(heading[column], text); problem != "" {
					t.Errorf("%s: %s of row %d %s", name, heading[column], n+1, problem)
				}
				if isAmount(heading[column]) && text != "" {
					numbers++
				}
			}
		}
		t.Logf("%s: %d rows with %d cells, %d of them numbers", name, len(want), len(want)*len(heading), numbers)
	}
}

// officeCell is a cell as LibreOffice shows and stores it.
type officeCell struct {
	shown, stored string
	isText        bool
}

// compare returns what is wrong with a cell of a column, by what the CSV has; "" for nothing.
func (c officeCell) compare(title, want string) string {
	switch {
	case isAmount(title) && want != "":
		if c.isText || !isKept(c.stored, want) || c.shown != formatNumber(c.stored) {
			return fmt.Sprintf("is %s, shown as %s; want the number %s, shown with its decimals", c.stored, c.shown, want)
		}
	case strings.HasPrefix(title, "Created (") || strings.HasPrefix(title, "First seen (") || strings.HasPrefix(title, "Completed ("):
		if c.isText || c.shown != want {
			return fmt.Sprintf("is shown as %q, want the time %q", c.shown, want)
		}
	default:
		want = strings.TrimPrefix(want, "'") // it is for programs that read CSV
		if c.isText != (want != "") || c.shown != want || c.stored != want {
			return fmt.Sprintf("is %q, want the text %q", c.stored, want)
		}
	}
	return ""
}

// isKept reports whether a spreadsheet has the number of a text: all of it up to 15 significant digits, and the first
// 15 digits of a longer one, as those of rates are.
func isKept(stored, want string) bool {
	value, ok := new(big.Rat).SetString(stored)
	expected, wanted := new(big.Rat).SetString(want)
	if !ok || !wanted {
		return false
	}
	if digits := strings.TrimLeft(strings.Replace(strings.TrimPrefix(want, "-"), ".", "", 1), "0"); len(digits) <= 15 {
		return value.Cmp(expected) == 0
	}
	off := new(big.Rat).Sub(value, expected)
	off.Quo(off.Abs(off), expected.Abs(expected))
	return off.Cmp(big.NewRat(1, 1e14)) <= 0
}

// isAmount reports whether a column holds amounts.
func isAmount(title string) bool {
	return strings.HasPrefix(title, "Coin ") || strings.HasPrefix(title, "Booked ") && title != "Booked on" ||
		slices.Contains([]string{"Amount", "Amount paid", "Difference", "Refunded", "Reversed", "Rate", "Value"}, title)
}

// formatNumber writes a decimal number as the workbook's format shows it: with groups of thousands, and two to 18 decimals.
func formatNumber(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, part, _ := strings.Cut(text, ".")
	part = strings.TrimRight(part, "0")
	for len(part) < 2 {
		part += "0"
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return sign + whole + "." + part
}

// convertWorkbook has LibreOffice write a workbook as CSV, with the numbers as they are shown, or as they
// are stored and with quotation marks around texts alone.
func convertWorkbook(t *testing.T, workbook, asShown string) [][]csvCell {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "book.xlsx"), []byte(workbook), 0o600); err != nil {
		t.Fatal(err)
	}
	// Commas, quotation marks, UTF-8, from the first line, English, texts in quotation marks.
	filter := "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,true,true," + asShown
	command := exec.CommandContext(t.Context(), "soffice", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless", "--convert-to", filter, "--outdir", dir,
		filepath.Join(dir, "book.xlsx"))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("LibreOffice can't read the workbook: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "book.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return parseCells(string(text))
}

// csvCell is a cell of CSV, with or without quotation marks.
type csvCell struct {
	text   string
	quoted bool
}

// parseCells reads CSV and keeps which cells were quoted.
func parseCells(text string) (rows [][]csvCell) {
	var row []csvCell
	for len(text) > 0 {
		var cell csvCell
		if cell.quoted = text[0] == '"'; cell.quoted {
			text = text[1:]
			for {
				part, rest, _ := strings.Cut(text, `"`)
				cell.text, text = cell.text+part, rest
				if !strings.HasPrefix(text, `"`) {
					break
				}
				cell.text, text = cell.text+`"`, text[1:]
			}
		} else {
			end := strings.IndexAny(text+"\n", ",\n")
			cell.text, text = text[:end], text[end:]
		}
		row = append(row, cell)
		if strings.HasPrefix(text, ",") {
			text = text[1:]
			if text != "" && text[0] != '\n' {
				continue
			}
			row = append(row, csvCell{})
		}
		rows, row = append(rows, row), nil
		text = strings.TrimPrefix(text, "\n")
	}
	return rows
}
