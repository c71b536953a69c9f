package money

import (
	"fmt"
	"regexp"
	"strings"
)

// grouped is a number whose digits are in groups of three.
var grouped = regexp.MustCompile(`^[0-9]{1,3}([, \x{a0}][0-9]{3})+(\.[0-9]*)?$`)

// StripGroups returns a number as people type it, without what groups its digits by
// three: 45,300 or 45 300. A comma elsewhere is ErrAmount: who writes 0,5 means a
// half, and must not get five.
func StripGroups(typed string) (string, error) {
	if !strings.ContainsAny(typed, ", \u00a0") {
		return typed, nil
	}
	if !grouped.MatchString(typed) {
		return "", fmt.Errorf("%w: %q", ErrAmount, typed)
	}
	return strings.NewReplacer(",", "", " ", "", "\u00a0", "").Replace(typed), nil
}
