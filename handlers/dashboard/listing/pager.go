package listing

import (
	"net/url"
	"strconv"

	"cointill/views/ui"
)

// MakeHref is the address of a page with the parameters that are not empty.
func MakeHref(path string, parameters map[string]string) string {
	values := url.Values{}
	for name, value := range parameters {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// FormatBound writes a number of an address; "" for 0, which is no bound.
func FormatBound(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// MakePager is the way through a list.
func MakePager(shown string, later bool, first string, more bool, next string) ui.PagerProps {
	p := ui.PagerProps{Shown: shown}
	if later {
		p.First = first
	}
	if more {
		p.Next = next
	}
	return p
}
