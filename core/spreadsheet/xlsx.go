package spreadsheet

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// MaxRows is how many rows a sheet of Excel has below its titles.
const MaxRows = 1<<20 - 1

// ErrFull is what one row too many for Excel costs.
var ErrFull = errors.New("sheet: more rows than a sheet of Excel has")

// The parts of a workbook beside its sheet (ECMA-376, part 1). The styles are, in
// their order: plain, title, time, number, and a text that looks like a formula.
var parts = [][2]string{
	{"[Content_Types].xml", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`},
	{"_rels/.rels", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Transactions" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`},
	{"xl/styles.xml", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/><numFmt numFmtId="165" formatCode="#,##0.00################"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" quotePrefix="1"/></cellXfs></styleSheet>`},
}

// The styles of cells, by their place in the parts.
const (
	styleTitle  = "1"
	styleTime   = "2"
	styleNumber = "3"
	styleQuoted = "4"
)

type xlsxWriter struct {
	file    *zip.Writer
	sheet   *bufio.Writer
	columns []Column
	rows    int // with the titles
}

// NewXLSX begins a table as an Excel workbook with one sheet. It is sent on as it
// is made, without a file in between, which is why no library makes it. Numbers
// and times are such to Excel, everything else is text.
func NewXLSX(w io.Writer, columns []Column) (Writer, error) {
	x := &xlsxWriter{file: zip.NewWriter(w), columns: columns}
	for _, part := range parts {
		out, err := x.file.Create(part[0])
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(out, part[1]); err != nil {
			return nil, err
		}
	}
	out, err := x.file.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return nil, err
	}
	x.sheet = bufio.NewWriterSize(out, 32<<10)
	return x, x.writeHead()
}

func (x *xlsxWriter) writeHead() error {
	x.writeTexts(xml.Header, `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`)
	for i, column := range x.columns {
		n := strconv.Itoa(i + 1)
		x.writeTexts(`<col min="`, n, `" max="`, n, `" width="`, strconv.Itoa(max(column.Width, 8)), `" customWidth="1"/>`)
	}
	x.writeTexts(`</cols><sheetData>`)
	x.beginRow()
	for i, column := range x.columns {
		x.writeText(i, styleTitle, column.Title)
	}
	return x.endRow()
}

// writeTexts writes texts; what goes wrong stays with the writer, and end tells it.
func (x *xlsxWriter) writeTexts(texts ...string) {
	for _, text := range texts {
		_, _ = x.sheet.WriteString(text)
	}
}

func (x *xlsxWriter) beginRow() {
	x.rows++
	x.writeTexts(`<row r="`, strconv.Itoa(x.rows), `">`)
}

func (x *xlsxWriter) endRow() error {
	_, err := x.sheet.WriteString(`</row>`)
	return err
}

// Row writes one row.
func (x *xlsxWriter) Row(cells []Cell) error {
	if x.rows > MaxRows {
		return ErrFull
	}
	x.beginRow()
	for i, column := range x.columns {
		switch c := cells[i]; {
		case column.Kind == Time && !c.at.IsZero():
			x.writeValue(i, styleTime, excelTime(c.at))
		case c.text == "":
		case column.Kind == Number && decimal.MatchString(c.text):
			x.writeValue(i, styleNumber, c.text)
		case isRisky(c.text):
			x.writeText(i, styleQuoted, c.text)
		default:
			x.writeText(i, "0", c.text)
		}
	}
	return x.endRow()
}

func (x *xlsxWriter) writeValue(column int, style, value string) {
	x.writeTexts(`<c r="`, columnName(column), strconv.Itoa(x.rows), `" s="`, style, `"><v>`, value, `</v></c>`)
}

func (x *xlsxWriter) writeText(column int, style, text string) {
	x.writeTexts(`<c r="`, columnName(column), strconv.Itoa(x.rows), `" s="`, style,
		`" t="inlineStr"><is><t xml:space="preserve">`)
	_ = xml.EscapeText(x.sheet, []byte(text)) // characters that XML can't hold become U+FFFD
	x.writeTexts(`</t></is></c>`)
}

// columnName returns a column's name: A … Z, AA …
func columnName(column int) string {
	name := ""
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// excelTime returns a time as Excel counts: days since the end of 1899 on the time's
// own clock, and the part of the day, in whole seconds.
func excelTime(t time.Time) string {
	const epoch = 25_569 // 1 January 1970
	_, offset := t.Zone()
	seconds := t.Unix() + int64(offset)
	days, rest := seconds/86_400, seconds%86_400
	return fmt.Sprintf("%d.%010d", days+epoch, (rest*10_000_000_000+43_200)/86_400)
}

// Close ends the sheet and the file.
func (x *xlsxWriter) Close() error {
	last := columnName(len(x.columns)-1) + strconv.Itoa(x.rows)
	x.writeTexts(`</sheetData><autoFilter ref="A1:`, last, `"/></worksheet>`)
	if err := x.sheet.Flush(); err != nil {
		return err
	}
	return x.file.Close()
}
