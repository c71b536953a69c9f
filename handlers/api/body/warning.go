package body

import (
	"reflect"

	"cointill/core/spelling"
)

const (
	maxWarnings = 10 // about unknown fields
	maxNamed    = 64 // characters of an unknown field that are repeated
)

// WarnOfFields returns warnings about names that are not fields of a request's type.
func WarnOfFields(names []string, request reflect.Type) (warnings []string) {
	for _, name := range names[:min(len(names), maxWarnings)] {
		warnings = append(warnings, warnOfField(name, request))
	}
	return warnings
}

// warnOfField is the warning about a name that is not a field of a request's type. A name that
// is cut is compared with none: that would take time by its length.
func warnOfField(name string, request reflect.Type) string {
	if runes := []rune(name); len(runes) > maxNamed {
		return string(runes[:maxNamed]) + " is not a field of this request."
	}
	var known []string
	for i := range request.NumField() {
		if field := request.Field(i); field.IsExported() {
			name, _ := FieldName(field)
			known = append(known, name)
		}
	}
	if meant, changes := spelling.Nearest(name, known); changes <= len(meant)/3 {
		return name + " is not a field of this request; did you mean " + meant + "?"
	}
	return name + " is not a field of this request."
}
