package list

import "testing"

// TestReadAmount reads amounts as people type them in English and French.
func TestReadAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"25000": 25000, "25,000": 25000, "25 000": 25000, "25\u00a0000": 25000, "25\u202f000,00": 25000,
		"1,000,000.00": 1000000, "$5": 5, "GH₵ 1,999.00": 1999, "ksh 7650": 7650, "7 650 KES": 7650, "ngn25000": 25000,
		"": -1, "25.5": -1, "25,0000": -1, "2 50": -1, "EUR 5": -1, "5 $": -1, "12345678": -1,
	} {
		got, ok := readAmount(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q is read as %d, want %d", text, got, want)
		}
	}
}
