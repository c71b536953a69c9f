package spreadsheet

import (
	"encoding/csv"
	"io"
	"time"
)

type csvWriter struct {
	out     *csv.Writer
	columns []Column
	line    []string
}

// NewCSV begins a table in CSV: UTF-8, commas, lines that end as RFC 4180 says. A
// text that could be taken for a formula has an apostrophe before it.
func NewCSV(w io.Writer, columns []Column) (Writer, error) {
	c := &csvWriter{out: csv.NewWriter(w), columns: columns, line: make([]string, len(columns))}
	c.out.UseCRLF = true
	for i, column := range columns {
		c.line[i] = column.Title
	}
	return c, c.out.Write(c.line)
}

// Row writes one row.
func (c *csvWriter) Row(cells []Cell) error {
	for i, column := range c.columns {
		c.line[i] = cells[i].formatCSV(column.Kind)
	}
	return c.out.Write(c.line)
}

// Close writes the buffered rows.
func (c *csvWriter) Close() error {
	c.out.Flush()
	return c.out.Error()
}

func (c Cell) formatCSV(kind Kind) string {
	switch {
	case kind == Time && !c.at.IsZero():
		return c.at.Format(time.DateTime)
	case kind == Number && decimal.MatchString(c.text):
		return c.text
	case isRisky(c.text):
		return "'" + c.text
	}
	return c.text
}
