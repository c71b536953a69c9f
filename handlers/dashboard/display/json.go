package display

import (
	"bytes"
	"encoding/json"
)

// IndentJSON indents JSON. Another text, such as JSON that was cut off, stays as it is.
func IndentJSON(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}
