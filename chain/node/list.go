package node

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// List reads a JSON list of at most so many elements: read is called where each stands,
// and reads it or fails. So whatever is wrong with an element is known before the next
// takes memory. Null is a list of none, as many nodes write that.
func List(d *jsontext.Decoder, most int, read func() error) error {
	switch token, err := d.ReadToken(); {
	case err != nil:
		return err
	case token.Kind() == 'n':
		return nil
	case token.Kind() != '[':
		return errors.New("not a list")
	}
	for count := 0; d.PeekKind() != ']'; count++ {
		if count == most {
			return fmt.Errorf("more than %d elements", most)
		}
		if err := read(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
