package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestReadListIsBounded: at most the allowed number of elements is read, none after a bad one, and
// anything but a list is refused.
func TestReadListIsBounded(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	for text, want := range map[string]struct {
		read int
		err  string
	}{
		`null`: {0, ""}, `[]`: {0, ""}, `[1,2,3]`: {3, ""}, `[[1,2,3,4],{"a":[]}]`: {2, ""},
		`[1,2,3,4]`: {3, "more than 3 elements"}, `[1,false,3]`: {1, "bad"},
		`{}`: {0, "not a list"}, `"[]"`: {0, "not a list"}, ``: {0, "EOF"}, `[1`: {1, "EOF"}, `[1}`: {1, "invalid"},
		`]`: {0, "invalid"},
	} {
		d, read := jsontext.NewDecoder(strings.NewReader(text), AllowDuplicateNames), 0
		err := ReadList(d, 3, func() error {
			if d.PeekKind() == 'f' {
				return bad
			}
			if err := d.SkipValue(); err != nil {
				return err
			}
			read++
			return nil
		})
		if read != want.read || (err == nil) != (want.err == "") || err != nil &&
			!strings.Contains(err.Error(), want.err) {
			t.Errorf("%s: %d were read, %v", text, read, err)
		}
	}
}
