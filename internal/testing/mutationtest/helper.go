package mutationtest

import _ "embed"

// helperSource is a Go file that is added to each instrumented package.
//
//go:embed helper.go.txt
var helperSource string

// The helper reads which mutant is active, and where to write which ones were reached.
const (
	activeVariable = "COINTILL_MUTANT"
	traceVariable  = "COINTILL_MUTANT_TRACE"
)
