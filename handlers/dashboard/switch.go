package dashboard

import (
	"cointill/core/fault"
	"cointill/handlers/page"
	"cointill/views/words"
)

// switchedOn is how a switch is to stand after its form was sent. A form without
// one of its two values changes nothing: whoever sent it asked for neither.
func switchedOn(c *page.Ctx, name string) (bool, error) {
	switch c.FormValue(name) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fault.Validation(fault.Fields{name: {words.T(c.UserContext(), "ui.switch_value")}})
}
