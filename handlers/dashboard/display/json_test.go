package display

import "testing"

// TestBodyIsIndented: a body is shown with a field on each line and its values as they are; what
// is no JSON stays as it is.
func TestBodyIsIndented(t *testing.T) {
	for text, want := range map[string]string{
		`{"amount":"1.50","n":10000000000000001}`: "{\n  \"amount\": \"1.50\",\n  \"n\": 10000000000000001\n}", "": "", "<b>": "<b>",
	} {
		if got := IndentJSON(text); got != want {
			t.Errorf("IndentJSON(%s) = %q, want %q", text, got, want)
		}
	}
}
