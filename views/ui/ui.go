// Package ui holds the small parts that every page is made of: fields,
// buttons, badges, times, amounts, lists. They are plain templ components over
// plain data, and nothing in here can fail or block.
package ui

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"cointill/views/words"
)

// Form holds the typed values and the error sentences of a refused form, both by
// field name, to show it again. The empty key of Errors holds the sentences about no
// single field.
type Form struct {
	Values map[string]string
	Errors map[string][]string
}

// Value is the typed value of a field.
func (f Form) Value(name string) string { return f.Values[name] }

// On says whether a checkbox was ticked.
func (f Form) On(name string) bool {
	switch f.Values[name] {
	case "true", "on", "1":
		return true
	}
	return false
}

// Field begins the props of a field with its label, its typed value and its errors.
func (f Form) Field(name, label string) FieldProps {
	return FieldProps{Name: name, Label: label, Value: f.Values[name], Errors: f.Errors[name]}
}

// FieldProps describes one labelled input, select or text area.
type FieldProps struct {
	Name, Label, Value, Help string
	// Type is the input's type; empty means text.
	Type string
	// Errors are sentences about the typed value.
	Errors []string
	// Optional is said in the label; everything else is required.
	Optional bool
	// Unmarked leaves that word out, where others say when a field is needed.
	Unmarked bool
	// Attrs are further attributes, for example autocomplete or inputmode.
	Attrs templ.Attributes
}

// With sets the help text, and returns the props.
func (p FieldProps) With(help string) FieldProps { p.Help = help; return p }

// As sets the input's type, and returns the props.
func (p FieldProps) As(kind string) FieldProps { p.Type = kind; return p }

// Maybe marks the field as optional, and returns the props.
func (p FieldProps) Maybe() FieldProps { p.Optional = true; return p }

// Silent marks the field as optional without saying so, and returns the props.
func (p FieldProps) Silent() FieldProps { p.Optional, p.Unmarked = true, true; return p }

// Attr sets one more attribute, and returns the props.
func (p FieldProps) Attr(name string, value any) FieldProps {
	attrs := templ.Attributes{}
	for k, v := range p.Attrs {
		attrs[k] = v
	}
	attrs[name] = value
	p.Attrs = attrs
	return p
}

func (p FieldProps) id() string { return "f-" + strings.ReplaceAll(p.Name, ".", "-") }

func (p FieldProps) inputType() string {
	if p.Type == "" {
		return "text"
	}
	return p.Type
}

func (p FieldProps) otherAttributes() templ.Attributes {
	attrs := templ.Attributes{}
	for k, v := range p.Attrs {
		attrs[k] = v
	}
	var described []string
	if len(p.Errors) > 0 {
		attrs["aria-invalid"] = "true"
		described = append(described, p.id()+"-error")
	}
	if p.Help != "" {
		described = append(described, p.id()+"-help")
	}
	if len(described) > 0 {
		attrs["aria-describedby"] = strings.Join(described, " ")
	}
	if !p.Optional {
		attrs["required"] = true
	}
	return attrs
}

// Option is one choice of a Select.
type Option struct{ Value, Label string }

// Tone is the mood of a badge, a note or a step of a timeline. It always comes
// with an icon and words, so that colour never speaks alone.
type Tone string

// The tones.
const (
	Mute Tone = "mute"
	Info Tone = "info"
	Good Tone = "good"
	Warn Tone = "warn"
	Bad  Tone = "bad"
)

func (t Tone) class() string {
	if t == "" {
		return "tone-mute"
	}
	return "tone-" + string(t)
}

func (t Tone) icon() string {
	switch t {
	case Good:
		return "check-circle"
	case Warn:
		return "warning"
	case Bad:
		return "x-circle"
	}
	return "info"
}

// look is how a state is shown; word is the message that names it.
type look struct {
	icon string
	tone Tone
	word string
}

var states = map[string]look{
	"pending":    {"ring-dashed", Mute, "ui.pending"},
	"initiated":  {"eye", Info, "ui.initiated"},
	"processing": {"half", Info, "ui.processing"},
	"successful": {"check-circle", Good, "ui.successful"},
	"declined":   {"diamond", Warn, "ui.declined"},
	"failed":     {"x-circle", Bad, "ui.failed"},
	"abandoned":  {"moon", Mute, "ui.abandoned"},
	"expired":    {"hourglass", Mute, "ui.expired"},
}

// StateTone is the tone of a payment's state.
func StateTone(state string) Tone { return stateLook(state).tone }

// StateWord is the name of a payment's state as pages show it.
func StateWord(ctx context.Context, state string) string { return words.T(ctx, stateLook(state).word) }

var roles = map[string]string{"owner": "team.owner", "admin": "team.admin", "finance": "team.finance",
	"developer": "team.developer", "till": "team.till"}

// RoleWord is the name of a role as pages show it.
func RoleWord(ctx context.Context, role string) string {
	if id, known := roles[role]; known {
		return words.T(ctx, id)
	}
	return role
}

func stateLook(state string) look {
	if found, ok := states[strings.ToLower(state)]; ok {
		return found
	}
	return look{"ring", Mute, state}
}

// FirstLetter returns the first letter of a name, which stands where a logo would.
func FirstLetter(name string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(name))
	if first == utf8.RuneError {
		return "·"
	}
	return string(unicode.ToUpper(first))
}

// TimeText is how pages write a time: absolute, to the minute, in the time's
// own zone.
func TimeText(ctx context.Context, t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return words.FormatTime(ctx, t, "2 Jan 2006, 15:04")
}

// TimeTitle is a time to the second, with its day and zone, for who looks closer.
func TimeTitle(ctx context.Context, t time.Time) string {
	return words.FormatTime(ctx, t, "Monday 2 January 2006, 15:04:05 MST (-07:00)")
}

// WalletURL lets a wallet address such as bitcoin:… through templ's check of
// links. Any other scheme gives an empty link.
func WalletURL(address string) templ.SafeURL {
	for _, scheme := range []string{"bitcoin:", "dogecoin:", "ethereum:", "ripple:"} {
		if strings.HasPrefix(address, scheme) {
			return templ.SafeURL(address)
		}
	}
	return ""
}
