package checkout

import (
	"net/http"

	"cointill/core/fault"
	"cointill/handlers/page"
	"cointill/views/words"
)

// claimed in the address of a payment page says that a hash was just taken.
const claimed = "claimed"

// claimPayment takes the hash that the customer says to have paid with.
func (h *Handlers) claimPayment(c *page.Ctx) error {
	ctx, who, hash := c.UserContext(), askerOf(c), c.FormText("hash")
	refused := h.Claims.Note(ctx, who.Token, hash)
	switch fault.KindOf(refused) {
	case fault.Invalid, fault.Conflict, fault.Limited:
	default:
		if refused != nil {
			return refused
		}
	}
	v, a, err := h.loadPayment(ctx, who)
	if err != nil {
		return err
	}
	if refused == nil {
		a.Claim.Done = true
		return writeAnswer(c, http.StatusOK, v, a, claimed)
	}
	why := page.ExplainError(refused)
	a.Claim.Errors = why.Fields.InEnglish()["hash"] // the typed text is not shown again: it may be a key
	if len(a.Claim.Errors) == 0 {
		a.Claim.Errors = []string{why.Sentence.String()}
	}
	if a.Lang != words.Languages[0] {
		a.Claim.Errors = []string{words.Say(a.Lang, "refused")}
		if len(why.Fields["hash"]) > 0 {
			a.Claim.Errors = []string{words.Say(a.Lang, "bad_hash")}
		}
	}
	return writeAnswer(c, why.Status, v, a, "")
}
