package listing

import (
	"cointill/views/ui"
)

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
