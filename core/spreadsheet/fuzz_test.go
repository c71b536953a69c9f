package spreadsheet_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"

	"cointill/core/spreadsheet"
)

// FuzzSheets (AP-9) writes a text and a number as CSV and as a workbook: what a reader
// of the format reads is what was written, and nothing that a spreadsheet would run
// begins a cell.
//
//fuzz:inputs 10000
func FuzzSheets(f *testing.F) {
	for _, text := range append(evil, "", "order-1", `a,"b`, "a\r\nb", "\x00=1", "\v=1", "\u200b=1", "\ufeff-1", "\xff=1", `\.`, "']]>") {
		f.Add(text, "5000.00")
		f.Add("order-1", text)
	}
	f.Fuzz(func(t *testing.T, text, number string) {
		var table, book bytes.Buffer
		for begin, out := range map[string]*bytes.Buffer{"csv": &table, "xlsx": &book} {
			w, err := spreadsheet.NewCSV(out, columns)
			if begin == "xlsx" {
				w, err = spreadsheet.NewXLSX(out, columns)
			}
			if err != nil || w.Row(row(text, number, nil)) != nil || w.Close() != nil {
				t.Fatal("can't be written")
			}
		}
		lines, err := csv.NewReader(&table).ReadAll()
		if err != nil || len(lines) != 2 || len(lines[1]) != len(columns) {
			t.Fatalf("%q %v", lines, err)
		}
		for i, written := range []string{text, number} {
			read := lines[1][i]
			if bare := strings.ReplaceAll(written, "\r", ""); read != bare && read != "'"+bare { // line ends are as the format has them
				t.Errorf("%q is read as %q", written, read)
			}
			if starts := strings.TrimLeftFunc(read, isInvisible); i == 0 && starts != "" && strings.ContainsRune("=+-@|%＝＋－＠", []rune(starts)[0]) {
				t.Errorf("%q may be run", read)
			}
		}
		if cells := textsOf(t, part(t, book.Bytes(), "xl/worksheets/sheet1.xml")); text != "" && cells[len(columns)] != shown(text) {
			t.Errorf("%q is read as %q", text, cells[len(columns)])
		}
	})
}

// isInvisible reports characters that a spreadsheet may skip before it looks for a formula.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
}

// shown is a text without what XML can't hold.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\r\n", r) || r == 0xFFFE || r == 0xFFFF {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// textsOf are the texts of a sheet, cell by cell; a formula in it ends the test.
func textsOf(t *testing.T, sheet string) (texts []string) {
	t.Helper()
	var read struct {
		Rows []struct {
			Cells []struct {
				Text    *string   `xml:"is>t"`
				Formula *struct{} `xml:"f"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	if err := xml.Unmarshal([]byte(sheet), &read); err != nil {
		t.Fatal(err)
	}
	for _, r := range read.Rows {
		for _, c := range r.Cells {
			if c.Formula != nil {
				t.Fatalf("a formula in %s", sheet)
			}
			if c.Text != nil {
				texts = append(texts, *c.Text)
			}
		}
	}
	return texts
}
