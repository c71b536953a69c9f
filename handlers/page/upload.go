package page

import (
	"io"

	"cointill/core/fault"
	"cointill/views/words"
)

// ReadUpload reads the file of a form's field, at most a byte more than most; Invalid with a sentence
// where there is none.
func ReadUpload(c *Ctx, field string, most int64) ([]byte, error) {
	part, err := c.FormFile(field)
	if err != nil || part.Size == 0 {
		return nil, fault.Validation(fault.Fields{field: {fault.Verbatim(words.T(c.UserContext(), "ui.choose_file"))}})
	}
	file, err := part.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(file, most+1))
}
