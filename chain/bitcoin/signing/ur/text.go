package ur

import (
	"fmt"
	"strings"
)

// ReadParts adds the parts of a text, one a line.
func ReadParts(text string) (d Decoder, err error) {
	for part := range strings.FieldsSeq(text) {
		if err := d.AddPart(part); err != nil {
			return Decoder{}, err
		}
	}
	return d, nil
}

// JoinPSBT returns the PSBT that the parts of a text hold, and a text without parts as it is.
func JoinPSBT(text string) ([]byte, error) {
	if !strings.HasPrefix(strings.ToLower(text), "ur:") {
		return []byte(text), nil
	}
	d, err := ReadParts(text)
	if err != nil {
		return nil, err
	}
	kind, data, whole := d.Data()
	if !whole || kind != TypePSBT && kind != TypeNewPSBT {
		return nil, fmt.Errorf("%w: %q, whole: %t", ErrPart, kind, whole)
	}
	return data, nil
}
