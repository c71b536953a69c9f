package wallet

import (
	"errors"
	"regexp"
	"strconv"
	"time"

	"cointill/core/fault"
	"cointill/core/wallet/keyproof"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// proveKey takes the signature that proves the key of the one address. Sent twice it changes nothing the second time.
func (h *Handlers) proveKey(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	answer := keyproof.Answer{Chain: info.Chain, Expires: readExpires(c), Signature: c.FormText("signature"),
		Proof: page.ReadProof(c)}
	proved, refused := h.KeyProofs.ProveKey(c.UserContext(), c.Scope, answer)
	switch {
	case refused == nil && proved:
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), "wallet.prove_done"))
		return c.Redirect(walletPath(info))
	case refused == nil:
		c.SetFlash(string(ui.Info), words.T(c.UserContext(), "wallet.prove_same"))
		return c.Redirect(walletPath(info))
	}
	var other *keyproof.OtherSignerError
	if errors.As(refused, &other) {
		refused = fault.Validation(fault.Fields{"signature": {fault.Verbatim(words.T(c.UserContext(),
			"wallet.prove_other",
			"Signer", other.Signer, "Address", other.Address))}})
	}
	page.SetRetryAfter(c, refused)
	typed := ui.Form{Values: map[string]string{"signature": plainSignature(answer.Signature)}}
	return page.ShowAgain(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showWallet(c, status, info, typed)
	})
}

// loadProof offers to prove the key of the one address in use, to members with the right to. After a refusal the
// message is the one before, so that a signature of it can be sent again.
func (h *Handlers) loadProof(c *page.Ctx, f walletFacts) (*dashboard.KeyProof, error) {
	if !f.Found || !f.isEditable() {
		return nil, nil
	}
	made, found, err := h.KeyProofs.NewChallenge(c.UserContext(), c.Scope, f.Coin.Chain, readExpires(c))
	if err != nil || !found {
		return nil, err
	}
	return &dashboard.KeyProof{Address: f.State.Wallet.Key, Message: made.Message,
		Expires: strconv.FormatInt(made.Expires.Unix(), 10), Until: made.Expires.In(f.Zone),
		SecondFactor: c.Member.User.SecondFactor}, nil
}

// readExpires reads the time until which the signed message is valid, in seconds; zero for anything else.
func readExpires(c *page.Ctx) time.Time {
	seconds, err := strconv.ParseInt(c.FormText("expires"), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// signatureForm is how a signature looks. No key has as many digits.
var signatureForm = regexp.MustCompile(`^(?:0x)?[0-9A-Fa-f]{130}$`)

// plainSignature is the text when it is plainly a signature, else "": nothing that might be a key comes back.
func plainSignature(text string) string {
	if signatureForm.MatchString(text) {
		return text
	}
	return ""
}
