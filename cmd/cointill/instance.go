package main

import (
	"errors"
	"strings"

	"cointill/core/fault"
)

// explainFault writes a fault with its fields for a terminal.
func explainFault(err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err
	}
	lines := []string{f.Sentence.String()}
	for field, sentences := range f.Fields {
		for _, sentence := range sentences {
			lines = append(lines, "  "+field+": "+sentence.String())
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}
