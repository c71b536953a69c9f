package spreadsheet_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"cointill/core/spreadsheet"
)

var columns = []spreadsheet.Column{{Title: "Reference", Width: 20}, {Title: "Amount", Kind: spreadsheet.Number}, {Title: "Created (EAT)", Kind: spreadsheet.Time}}

var eat = time.FixedZone("EAT", 3*3600)

func at(t time.Time) *time.Time { return &t }

func row(text, number string, t *time.Time) []spreadsheet.Cell {
	return []spreadsheet.Cell{spreadsheet.TextCell(text), spreadsheet.TextCell(number), spreadsheet.TimeCell(t)}
}

// evil are texts that spreadsheet programs would run.
var evil = []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\u00a0=1", "＝1+1", "|calc", "%0A=1", `=HYPERLINK("http://x","y")`}

// TestCSV (AP-9): no text begins so that a spreadsheet would run it, and what was
// written is read back.
func TestCSV(t *testing.T) {
	var out bytes.Buffer
	w, err := spreadsheet.NewCSV(&out, columns)
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 3, 1, 12, 30, 59, 999, time.UTC).In(eat)
	for _, r := range [][]spreadsheet.Cell{row("order-1", "5000.00", &noon), row(`Ọlá, "the" one`, "-0.00000001", nil), row("a=b", "=1", nil)} {
		if err := w.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range evil {
		if err := w.Row(row(text, "", nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if begin := "Reference,Amount,Created (EAT)\r\norder-1,5000.00,2026-03-01 15:30:59\r\n\"Ọlá, \"\"the\"\" one\",-0.00000001,\r\na=b,'=1,\r\n"; !strings.HasPrefix(out.String(), begin) {
		t.Errorf("%q", out.String())
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(lines) != 4+len(evil) {
		t.Fatalf("len(lines) = %v, err = %v", len(lines), err)
	}
	for _, line := range lines[4:] {
		if !strings.HasPrefix(line[0], "'") {
			t.Errorf("%q may be run", line[0])
		}
	}
}

// part is one part of a workbook.
func part(t *testing.T, file []byte, name string) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestXLSX (AP-9): text is stored as text, never as a formula, in XML that reads well.
func TestXLSX(t *testing.T) {
	var out bytes.Buffer
	w, err := spreadsheet.NewXLSX(&out, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][]spreadsheet.Cell{row("a<&>\x00b", "5000.00", at(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).In(eat))), row("=1+1", "x", at(time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC)))} {
		if err := w.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml", "xl/worksheets/sheet1.xml"} {
		for d := xml.NewDecoder(strings.NewReader(part(t, out.Bytes(), name))); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	text := part(t, out.Bytes(), "xl/worksheets/sheet1.xml")
	for _, want := range []string{
		`<c r="A2" s="0" t="inlineStr"><is><t xml:space="preserve">a&lt;&amp;&gt;` + "\uFFFD" + `b</t></is></c><c r="B2" s="3"><v>5000.00</v></c><c r="C2" s="2"><v>46082.5000000000</v></c></row>`,
		`<c r="A3" s="4" t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c><c r="B3" s="0" t="inlineStr"><is><t xml:space="preserve">x</t></is></c><c r="C3" s="2"><v>25569.0000115741</v></c>`,
		`<autoFilter ref="A1:C3"/>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheet lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<f>") {
		t.Error("a formula was written")
	}
}

type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("the client left")
	}
	return len(p), nil
}

// TestSheetsTellOfFailure keeps a file that could not be written from looking whole.
func TestSheetsTellOfFailure(t *testing.T) {
	for name, begin := range map[string]func(io.Writer, []spreadsheet.Column) (spreadsheet.Writer, error){"csv": spreadsheet.NewCSV, "xlsx": spreadsheet.NewXLSX} {
		w, err := begin(&failing{left: 20_000}, columns)
		for range 1_000_000 {
			if err != nil {
				break
			}
			err = w.Row(row("some text that differs "+name, "1.00", nil))
		}
		if err == nil {
			t.Errorf("%s: nobody told", name)
		}
	}
}

// TestSheetsAreBounded writes many rows in little memory, and no more than Excel reads.
func TestSheetsAreBounded(t *testing.T) {
	w, err := spreadsheet.NewXLSX(io.Discard, columns[:1])
	if err != nil {
		t.Fatal(err)
	}
	cells := []spreadsheet.Cell{{}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range spreadsheet.MaxRows {
		if err := w.Row(cells); err != nil {
			t.Fatalf("w.Row(cells): n = %v, err = %v", n, err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+8<<20 {
		t.Errorf("%d bytes more are held", after.HeapAlloc-before.HeapAlloc)
	}
	if err := w.Row(cells); !errors.Is(err, spreadsheet.ErrFull) {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
