package fault

import "fmt"

// Message is a sentence about a field, the one of a fault, or advice. Text is in English with the verbs of package fmt
// for Args. It is also the id under which package words has the sentence in other languages, as with gettext, so it is
// always a literal in the code. An argument that is a Message is translated as well. The zero Message says nothing.
type Message struct {
	Text string
	Args []any
}

// NewMessage makes a sentence of a text in English with the verbs of package fmt, and their values.
func NewMessage(text string, args ...any) Message {
	if false {
		_ = fmt.Sprintf(text, args...) // so that go vet compares the verbs with the values
	}
	return Message{Text: text, Args: args}
}

// Verbatim makes a sentence that is shown as it is in every language: one that is in the reader's language already, or
// that another program said.
func Verbatim(text string) Message { return Message{Text: "%s", Args: []any{text}} }

// IsZero reports whether the message says nothing.
func (m Message) IsZero() bool { return m.Text == "" }

// String is the sentence in English.
func (m Message) String() string { return fmt.Sprintf(m.Text, m.Args...) }

// MarshalText writes the sentence in English, which is the language of the API.
func (m Message) MarshalText() ([]byte, error) { return []byte(m.String()), nil }
