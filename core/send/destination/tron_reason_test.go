package destination

import (
	"testing"

	tron "cointill/chain/tron/params"
)

// TestReasonsOfTronAreTranslated: every reason why a text is no address of Tron is a sentence that can be translated, in
// the words of the adapter.
func TestReasonsOfTronAreTranslated(t *testing.T) {
	for _, reason := range []error{tron.ErrAddress, tron.ErrLetter, tron.ErrTyping, tron.ErrNetwork, tron.ErrEVM,
		tron.ErrHex} {
		if got := explainTron(reason); got.Text != reason.Error() {
			t.Errorf("explainTron(%q) has the text %q, want the reason itself", reason, got.Text)
		}
	}
}
