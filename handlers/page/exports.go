package page

import (
	"context"
	"sync/atomic"
	"time"

	"cointill/core/fault"
	"cointill/core/spreadsheet"
	"cointill/views/words"
)

// maxExports is how many files one process makes at once.
const maxExports = 4

// Exports bounds how many files are made at once. The zero value is ready.
type Exports struct{ running atomic.Int32 }

// CheckWorkbook refuses a workbook of more rows than an Excel sheet has.
func CheckWorkbook(rows int64) error {
	if rows <= spreadsheet.MaxRows {
		return nil
	}
	return fault.New(fault.Invalid, "too_many_rows",
		"An Excel sheet has 1,048,576 rows, and this list has more. Download the CSV, or choose a shorter period.")
}

// BeginExport takes a place for one file; end gives it back. When all are taken, err is Unavailable.
func (e *Exports) BeginExport(ctx context.Context) (end func(), err error) {
	if e.running.Add(1) > maxExports {
		e.running.Add(-1)
		return nil, fault.Retry("too_many_exports", time.Minute, "%s", words.T(ctx, "filters.too_many_exports"))
	}
	return func() { e.running.Add(-1) }, nil
}
