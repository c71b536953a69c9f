package request

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cointill/core/fault"
	"cointill/core/money"
)

// Bounds of a file of payouts (contract section 7).
const (
	MaxRows  = 1_000
	MaxBytes = 1 << 20
)

// TooLarge is said of a file with more than MaxBytes.
var TooLarge = fault.NewMessage("The file is larger than 1 MiB.")

// The columns of a file of payouts. ColumnCoin and ColumnAddress are required.
const (
	ColumnCoin      = "coin"
	ColumnNetwork   = "network"
	ColumnAmount    = "amount"
	ColumnFiat      = "fiat_amount"
	ColumnCurrency  = "currency"
	ColumnAddress   = "address"
	ColumnTag       = "tag"
	ColumnReference = "business_reference"
	ColumnNote      = "note"
)

var columns = []string{ColumnCoin, ColumnNetwork, ColumnAmount, ColumnFiat, ColumnCurrency, ColumnAddress, ColumnTag,
	ColumnReference, ColumnNote}

// Example is a file of payouts with every column.
const Example = "coin,network,amount,fiat_amount,currency,address,tag,business_reference,note\n" +
	"USDT,ethereum,120.50,,,0x52908400098527886E0F7030069857D2E4169EE7,,invoice-17,Rent for May\n" +
	"XRP,,,250.00,USD,rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe,4201,invoice-18,\n"

// RowError is an error in a row of a file. Row 1 has the names of the columns.
type RowError struct {
	Row      int
	Column   string // "" for the whole row
	Sentence fault.Message
}

// FileError lists everything that is wrong in a file, in the order of its rows.
type FileError struct{ Rows []RowError }

// Error implements error.
func (e *FileError) Error() string {
	return fmt.Sprintf("request: %d errors in a file of payouts", len(e.Rows))
}

// addError adds an error of a row.
func (e *FileError) addError(row int, column, text string, args ...any) {
	e.Rows = append(e.Rows, RowError{Row: row, Column: column, Sentence: fault.NewMessage(text, args...)})
}

// SortRows puts the errors in the order of their rows.
func (e *FileError) SortRows() {
	slices.SortStableFunc(e.Rows, func(a, b RowError) int { return cmp.Compare(a.Row, b.Row) })
}

// AddFields adds the errors of a request's fields.
func (e *FileError) AddFields(row int, fields fault.Fields) {
	for _, column := range append(slices.Clone(columns), "") {
		name := column
		if column == ColumnCoin {
			name = "payment_method"
		}
		for _, sentence := range fields[name] {
			e.Rows = append(e.Rows, RowError{Row: row, Column: column, Sentence: sentence})
		}
	}
}

// AddFault adds the errors of a row's fields and of a refusal, without those in values that are known to be wrong.
// It returns an error that is of no row.
func (e *FileError) AddFault(row int, known, fields fault.Fields, err error) error {
	var said *fault.Fault
	if errors.As(err, &said) && (said.Kind == fault.Invalid || said.Kind == fault.Conflict) {
		if len(said.Fields) == 0 {
			e.Rows = append(e.Rows, RowError{Row: row, Sentence: said.Sentence})
		}
		for name, sentences := range said.Fields {
			fields[name] = append(fields[name], sentences...)
		}
	} else if err != nil {
		return err
	}
	for name := range known {
		delete(fields, name)
	}
	e.AddFields(row, fields)
	return nil
}

// Payouts are the requests of a file, with the row of each.
type Payouts struct {
	Requests []Request
	Rows     []int
	Wrong    []fault.Fields // the errors in the values of each request; empty for one without errors
}

// ReadPayouts reads a CSV file of payouts: names of columns first, in any order, then a row for each
// payout, with commas or semicolons between the values. It begins with a byte order mark where a
// spreadsheet wrote one. The error is a *FileError with everything that the rows alone show to be
// wrong. The payouts of all rows that could be read are returned with it, also of rows with errors: the caller checks
// their other values.
func ReadPayouts(file []byte) (Payouts, error) {
	wrong := &FileError{}
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	switch {
	case len(file) > MaxBytes:
		return Payouts{}, &FileError{Rows: []RowError{{Sentence: TooLarge}}}
	case !utf8.Valid(file) || bytes.ContainsRune(file, 0):
		wrong.addError(0, "", "The file is no CSV text in UTF-8. Export it as “CSV UTF-8” from your spreadsheet.")
		return Payouts{}, wrong
	}
	reader := csv.NewReader(bytes.NewReader(file))
	reader.FieldsPerRecord = -1
	if line, _, _ := bytes.Cut(file, []byte("\n")); bytes.Count(line, []byte(";")) > bytes.Count(line, []byte(",")) {
		reader.Comma = ';'
	}
	header, err := reader.Read()
	if err != nil {
		wrong.addError(1, "", "The file is empty. Its first row has the names of the columns.")
		return Payouts{}, wrong
	}
	names := readHeader(header[:min(len(header), maxColumns)], wrong)
	if len(wrong.Rows) > 0 {
		return Payouts{}, wrong
	}
	return readRows(reader, names, wrong)
}

// maxColumns bounds the columns whose names are read. As many are wrong, as they are more than there are.
const maxColumns = 100

// readHeader reads the names of the columns.
func readHeader(header []string, wrong *FileError) []string {
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = strings.ToLower(strings.TrimSpace(name))
		switch {
		case !slices.Contains(columns, names[i]):
			wrong.addError(1, "", "There is no column %.40q. The columns are %s.", name, strings.Join(columns, ", "))
		case slices.Contains(names[:i], names[i]):
			wrong.addError(1, names[i], "The column is there twice.")
		}
	}
	for _, name := range []string{ColumnCoin, ColumnAddress} {
		if !slices.Contains(names, name) {
			wrong.addError(1, name, "The column is missing.")
		}
	}
	return names
}

// readRows reads the rows below the header.
func readRows(reader *csv.Reader, names []string, wrong *FileError) (p Payouts, err error) {
	references := map[string]int{}
	for read := 0; ; read++ {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			wrong.addError(broken.Line, "", "The quotation marks of this row are wrong. Nothing after it was read.")
			break
		}
		row, _ := reader.FieldPos(0)
		if read == MaxRows {
			wrong.addError(row, "", "The file has more than 1,000 payouts. Divide it.")
			break
		}
		if len(record) == 1 && len(names) > 1 {
			wrong.addError(row, "", "It has one value, and there are %d columns.", len(names))
			continue
		}
		if len(record) != len(names) {
			wrong.addError(row, "", "It has %d values, and there are %d columns.", len(record), len(names))
			continue
		}
		r, fields := readRecord(names, record)
		for name, sentences := range r.Check() {
			if len(fields[name]) == 0 {
				fields[name] = sentences
			}
		}
		if first, again := references[r.BusinessReference]; again && r.BusinessReference != "" {
			fields.Add("business_reference", "Is the same as in row %d.", first)
		}
		references[r.BusinessReference] = row
		wrong.AddFields(row, fields)
		p.Requests, p.Rows, p.Wrong = append(p.Requests, r), append(p.Rows, row), append(p.Wrong, fields)
	}
	if len(p.Requests) == 0 && len(wrong.Rows) == 0 {
		wrong.addError(2, "", "The file has no payout below the names of the columns.")
	}
	if len(wrong.Rows) > 0 {
		return p, wrong
	}
	return p, nil
}

// readRecord reads the values of a row.
func readRecord(names, record []string) (Request, fault.Fields) {
	fields, values := fault.Fields{}, map[string]string{}
	for i, name := range names {
		values[name] = strings.TrimSpace(record[i])
	}
	r := Request{Kind: Payout, Amount: StripGroups(values[ColumnAmount]), FiatAmount: StripGroups(values[ColumnFiat]),
		Currency: strings.ToUpper(values[ColumnCurrency]), Address: values[ColumnAddress],
		Network: strings.ToLower(values[ColumnNetwork]), BusinessReference: values[ColumnReference],
		Note: values[ColumnNote]}
	if info := money.Coin(strings.ToUpper(values[ColumnCoin])).Info(); info.Coin != "" {
		r.Method = string(info.Method)
	} else {
		fields.Add("payment_method", "Must be one of BTC, ETH, USDT, XRP, DOGE.")
	}
	if r.FiatAmount != "" {
		r.Rate = RateToday
	}
	r.Tag = ParseTag(values[ColumnTag], fields)
	return r, fields
}

// ParseTag reads a destination tag; nil for none. Its range follows from the network.
func ParseTag(text string, fields fault.Fields) *int64 {
	if text == "" {
		return nil
	}
	tag, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fields.Add("tag", "Must be a whole number from 0 to 4294967295.")
	}
	return &tag
}

// StripGroups leaves out the commas between thousands. Another text stays for Check to refuse.
func StripGroups(text string) string {
	if digits, err := money.StripGroups(text); err == nil {
		return digits
	}
	return text
}
