// Package spreadsheet writes tables for spreadsheet programs, row by row, as CSV or
// as an Excel workbook. Nothing is kept: a million rows need no more memory
// than ten. Texts can't become formulas, and numbers can be added up.
package spreadsheet

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The media types of the formats.
const (
	CSVType  = "text/csv; charset=utf-8"
	XLSXType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

// Kind is what a column holds.
type Kind int

// The kinds of columns. A Number has as many decimals as it is written with.
const (
	Text Kind = iota
	Number
	Time // on the clock of the zone that it is in; the title says which
)

// Column is a column's title and kind.
type Column struct {
	Title string
	Kind  Kind
	Width int // in characters, where the format has widths
}

// Cell is one value; Of and At make them.
type Cell struct {
	text string
	at   time.Time
}

// TextCell returns a text, or a number in decimal notation. An empty one is an empty cell.
func TextCell(text string) Cell { return Cell{text: text} }

// TimeCell returns a time. Nil is an empty cell.
func TimeCell(t *time.Time) Cell {
	if t == nil {
		return Cell{}
	}
	return Cell{at: *t}
}

// Writer takes the rows of one table, and Close ends it: without Close the file
// is not whole. Row needs a cell for each column.
type Writer interface {
	Row(cells []Cell) error
	Close() error
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// starters begin what spreadsheet programs take for a formula, or skip to find one.
const starters = "=+-@|%\t\r\n＝＋－＠"

// isRisky reports whether a spreadsheet program may take a text for a formula, also
// after characters that it doesn't show.
func isRisky(text string) bool {
	for _, rest := range []string{text, strings.TrimLeftFunc(text, isInvisible)} {
		first, _ := utf8.DecodeRuneInString(rest)
		if rest != "" && strings.ContainsRune(starters, first) {
			return true
		}
	}
	return false
}

func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
}
