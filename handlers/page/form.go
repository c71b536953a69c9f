package page

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// ReadForm reads the named fields of a form.
func ReadForm(c *Ctx, names ...string) ui.Form {
	values := map[string]string{}
	for _, name := range names {
		values[name] = c.FormText(name)
	}
	return ui.Form{Values: values}
}

// RefuseForm puts an error that a person can correct into the form, in the language of the context, and returns the
// status to answer with. Other errors are returned.
func RefuseForm(ctx context.Context, f *ui.Form, err error) (status int, unexpected error) {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Limited, fault.Unavailable, fault.Unauthenticated:
	default:
		return 0, err
	}
	why := ExplainError(err)
	if f.Errors = why.FieldsIn(ctx); len(f.Errors) == 0 {
		f.Errors = map[string][]string{"": {why.SentenceIn(ctx)}}
	}
	return why.Status, nil
}

// DescribeRefusal returns the message of a refused action, in the language of the context, and the status to answer
// with. Errors that a person can't correct on the page are returned.
func DescribeRefusal(ctx context.Context, err error) (flash layout.Flash, status int, unexpected error) {
	var f ui.Form
	if fault.KindOf(err) == fault.Forbidden {
		why := ExplainError(err)
		return layout.Flash{Kind: string(ui.Bad), Text: why.SentenceIn(ctx)}, why.Status, nil
	}
	status, unexpected = RefuseForm(ctx, &f, err)
	var sentences []string
	for _, field := range slices.Sorted(maps.Keys(f.Errors)) {
		if field != "" { // the field's label is on another page
			if name := words.FieldName(ctx, field); name != "" {
				sentences = append(sentences, words.T(ctx, "ui.field_label", "Name", name))
			}
		}
		sentences = append(sentences, f.Errors[field]...)
	}
	return layout.Flash{Kind: string(ui.Bad), Text: strings.Join(sentences, " ")}, status, unexpected
}

// ShowForm makes the handler that shows a page with an empty form. show is as in ShowAgain.
func ShowForm(show func(c *Ctx, status int, typed ui.Form) error) Handler {
	return func(c *Ctx) error { return show(c, http.StatusOK, ui.Form{}) }
}

// ShowPage makes the handler that shows a page. show is as in ShowRefusal.
func ShowPage(show func(c *Ctx, status int) error) Handler {
	return func(c *Ctx) error { return show(c, http.StatusOK) }
}

// ShowAgain answers a refused form with its page: show gets the form with its errors, and the status to answer with.
// Errors that a person can't correct are returned.
func ShowAgain(c *Ctx, typed ui.Form, refused error, show func(c *Ctx, status int, typed ui.Form) error) error {
	status, err := RefuseForm(c.UserContext(), &typed, refused)
	if err != nil {
		return err
	}
	return show(c, status, typed)
}

// ShowRefusal answers a refused action with a page that says why: show gets the status to answer with. Errors that a
// person can't correct are returned.
func ShowRefusal(c *Ctx, refused error, show func(c *Ctx, status int) error) error {
	said, status, err := DescribeRefusal(c.UserContext(), refused)
	if err != nil {
		return err
	}
	c.ShowMessage(said.Kind, said.Text)
	return show(c, status)
}

// ShowRefusedForm answers a refused form with its page. The errors of fields stand beside them, another reason in the
// page's message.
func ShowRefusedForm(c *Ctx, typed ui.Form, refused error, show func(c *Ctx, status int, typed ui.Form) error) error {
	if fault.KindOf(refused) == fault.Invalid {
		return ShowAgain(c, typed, refused, show)
	}
	return ShowRefusal(c, refused, func(c *Ctx, status int) error { return show(c, status, typed) })
}

// SetRetryAfter sets the header Retry-After when the refusal says how long to wait.
func SetRetryAfter(c *Ctx, refused error) {
	if wait := ExplainError(refused).RetryAfter; wait > 0 {
		c.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
}

// MergeErrors joins the errors of unreadable fields with those that the core found in the
// others.
func MergeErrors(unreadable, others fault.Fields) error {
	for name, sentences := range others {
		if len(unreadable[name]) == 0 {
			unreadable[name] = sentences
		}
	}
	return fault.Validation(unreadable)
}

// ReadValues reads all values of a field.
func ReadValues(c *Ctx, name string) (values []string) {
	for _, value := range c.Context().PostArgs().PeekMulti(name) {
		values = append(values, string(value))
	}
	return values
}

// ReadProof is what a form says to show that its sender is the session's user.
func ReadProof(c *Ctx) auth.Proof {
	return auth.Proof{Password: c.FormValue("password"), Code: c.FormText("code"), IP: c.ClientIP,
		Device: c.Session.Device()}
}

// FormTime is how a datetime-local field writes a time: without its zone, which
// is the business's.
const FormTime = "2006-01-02T15:04"

// ParseWholeNumber reads a whole number; -1 for anything else.
func ParseWholeNumber(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// ReadSwitch reads the position of a switch in a form. A form with another value changes
// nothing.
func ReadSwitch(c *Ctx, name string) (bool, error) {
	switch c.FormValue(name) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fault.Validation(fault.Fields{name: {fault.Verbatim(words.T(c.UserContext(), "ui.switch_value"))}})
}
