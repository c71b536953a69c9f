package node

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// ReadList reads a JSON list of at most most elements. It calls read at the start of each element; read
// consumes the element or fails, so that a bad element is known before the next one takes memory.
// null is an empty list, because many nodes write it so.
func ReadList(d *jsontext.Decoder, most int, read func() error) error {
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
