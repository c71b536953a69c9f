// Package keyproof proves that a merchant holds the key of the one address that they receive with: their wallet signs a
// message of this server, and the signature gives the address whose key made it. No key is asked for.
//
// The message is not stored. It holds a number that only this server can make, from business, domain, wallet, address
// and the time until which it is valid; the form carries that time, and the message is made again from it. A message
// can be signed and sent again until then. That does no harm: a key is proved once, and another signature changes
// nothing.
package keyproof

import (
	"context"
	"fmt"
	"time"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/wallet"
	"cointill/models"
)

// lifetime is how long a message can be signed.
const lifetime = 30 * time.Minute

// Service proves keys. Its fields are set once, before use.
type Service struct {
	DB      *models.DB
	Clock   clock.Clock
	Users   auth.Reauthenticator
	Wallets *wallet.Service
	Secrets *secret.Box
	// Site is the address of this server, which the message names: https://till.example.
	Site string
}

// Challenge is a message that the key of an address is to sign.
type Challenge struct {
	Message string    // one line of ASCII, the same in every language
	Expires time.Time // in whole seconds
}

// Answer is a signed message, with what shows that the person at the session is its user.
type Answer struct {
	Chain     money.Chain
	Expires   time.Time // of the challenge
	Signature string    // in hexadecimal
	Proof     auth.Proof
}

// OtherSignerError is the refusal of a signature that another key made, or of another message.
type OtherSignerError struct {
	Signer  string // the address that the signature belongs to
	Address string // the address to prove
}

// Error implements error.
func (e *OtherSignerError) Error() string {
	return "keyproof: the signature belongs to another address"
}

// Unwrap returns the fault for the field "signature".
func (e *OtherSignerError) Unwrap() error {
	return fault.RefuseField("signature", "This signature belongs to %s, not to %s. Choose the account of your "+
		"address in your wallet, and sign the message as it is shown, without any change.", e.Signer, e.Address)
}

// NewChallenge makes the message for the one address that a chain's payments go to. An earlier message is made
// again by its expires, while it is still valid. False where there is no such address, or its key is proved.
// Forbidden for a role that may not set where money goes.
func (s *Service) NewChallenge(ctx context.Context, sc scope.Scope, c money.Chain, expires time.Time) (Challenge, bool,
	error) {
	w, found, err := s.findWallet(ctx, sc, c)
	if err != nil || !found || w.ProvedAt != nil {
		return Challenge{}, false, err
	}
	if !s.isValid(expires) {
		expires = s.Clock().Add(lifetime).Truncate(time.Second)
	}
	message, err := s.writeMessage(ctx, sc, w, expires)
	return Challenge{Message: message, Expires: expires}, err == nil, err
}

// ProveKey notes that the merchant holds the key of the one address that a chain's payments go to. proved is false when
// that was proved before, which asks for no password. Invalid (signature, password, code; code private_key for a
// text that looks like a key), an OtherSignerError, Conflict (message_expired, no_one_address), Limited after wrong
// passwords, Forbidden without the right.
func (s *Service) ProveKey(ctx context.Context, sc scope.Scope, a Answer) (proved bool, err error) {
	w, found, err := s.findWallet(ctx, sc, a.Chain)
	switch {
	case err != nil:
		return false, err
	case !found:
		return false, errNoAddress()
	}
	if err := refuseOthers(a.Signature); err != nil {
		return false, err
	}
	if w.ProvedAt != nil {
		return false, nil
	}
	if !s.isValid(a.Expires) {
		return false, fault.New(fault.Conflict, "message_expired",
			"That message can't be signed any more. Sign the new one that is shown now.")
	}
	message, err := s.writeMessage(ctx, sc, w, a.Expires)
	if err != nil {
		return false, err
	}
	signer, err := recoverSigner(a.Chain, message, a.Signature)
	if err != nil {
		return false, errForm("This is no signature of a wallet. %s", formOf)
	}
	if signer != w.Key {
		return false, &OtherSignerError{Signer: signer, Address: w.Key}
	}
	// Last, so that a wrong signature uses up no code of a second factor.
	if _, err := s.Users.Reauthenticate(ctx, sc, a.Proof); err != nil {
		return false, err
	}
	return true, s.DB.Write(ctx, func(tx *models.Tx) error { return s.storeProof(tx, sc, w) })
}

// storeProof writes when a key was proved, with its audit row.
func (s *Service) storeProof(tx *models.Tx, sc scope.Scope, w models.Wallet) error {
	now := s.Clock()
	stored := sc.Rows(tx.Model(&models.Wallet{})).Where("id = ? AND key = ? AND active", w.ID, w.Key).
		UpdateColumn("proved_at", now) // updated_at says when the wallet was last changed
	if stored.Error != nil {
		return stored.Error
	}
	if stored.RowsAffected != 1 {
		return errNoAddress()
	}
	return audit.Record(tx, sc, now, "wallet.key_proved", w.Network, map[string]string{"address": w.Key})
}

// findWallet returns the wallet with one address that a chain's payments go to, for a role that may change it.
func (s *Service) findWallet(ctx context.Context, sc scope.Scope, c money.Chain) (w models.Wallet, found bool,
	err error) {
	if err := sc.CheckAction(scope.SetReceiving); err != nil {
		return w, false, err
	}
	state, found, err := s.Wallets.Active(ctx, sc, c)
	if err != nil || !found || state.Script != wallet.ScriptAddress {
		return w, false, err
	}
	return state.Wallet, true, nil
}

// isValid reports whether a message that expires at a time can be one of this server, and can still be signed.
func (s *Service) isValid(expires time.Time) bool {
	left := expires.Sub(s.Clock())
	return left > 0 && left <= lifetime
}

// writeMessage writes the text to be signed. It names the server, so that the signer sees where the proof counts. It is
// one line, as tools for signing change line ends.
func (s *Service) writeMessage(ctx context.Context, sc scope.Scope, w models.Wallet, expires time.Time) (string,
	error) {
	var business models.Business
	if err := s.DB.Read(ctx).Where("id = ?", sc.BusinessID).Take(&business).Error; err != nil {
		return "", err
	}
	until := expires.UTC().Format("2006-01-02 15:04:05")
	number := s.Secrets.Hash("key proof", fmt.Sprintf("%d %s %d %s %s", sc.BusinessID, sc.Domain, w.ID, w.Key, until))
	return fmt.Sprintf("I hold the key of %s, with which business %s receives payments in the %s domain of %s. "+
		"Signing this moves no money. Number %s, valid until %s UTC.",
		w.Key, business.Code, sc.Domain, s.Site, number[:32], until), nil
}

// formOf says how a signature looks.
var formOf = fault.NewMessage("A signature is 130 digits in hexadecimal (0 to 9, a to f), often after 0x.")

// refuseOthers refuses a text that can't be a signature, before anything else is done with it.
func refuseOthers(signature string) error {
	switch {
	case signature == "":
		return errForm("Paste the signature that your wallet made of the message. %s", formOf)
	case len(signature) > wallet.MaxKey:
		return errForm("That is longer than any signature. %s", formOf)
	}
	return wallet.RefusePrivate("signature", signature,
		fault.NewMessage("What is needed here is the signature of the message. %s", formOf))
}

// errForm makes the fault for a signature. The sentence must not repeat the entered text.
func errForm(text string, args ...any) error { return fault.RefuseField("signature", text, args...) }

func errNoAddress() error {
	return fault.New(fault.Conflict, "no_one_address",
		"Payments don't go to one address that could be proved. Enter the address first.")
}
