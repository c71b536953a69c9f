package send

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/send/outputs"
	"cointill/core/send/payer"
	"cointill/core/send/seal"
	"cointill/models"
)

// The parts of the adapters that signing pages see.
type (
	Unsigned   = chain.Unsigned   // a transaction for a wallet to sign
	Difference = chain.Difference // a field in which a signed one is not the approved send
	Speed      = chain.Speed      // a choice of the fee
	// SigningFile is one form of an unsigned transaction.
	SigningFile = chain.SigningFile
	Account     = payer.Account // can pay a send
)

// Signing hands sends to wallets, and takes what they signed.
type Signing struct {
	*store
	*payer.Accounts
}

// Submitted is the result of a signed transaction.
type Submitted struct {
	Signed chain.Signed
	// Differences are the fields in which it is not the approved send; it is not broadcast then.
	Differences []Difference
	// Refused says why the network didn't take it; "" where it did.
	Refused string
}

// UsesSandboxWallet reports that the sandbox's own wallet signs the send.
func (v View) UsesSandboxWallet() bool { return chain.Network(v.Send.Network).IsSandbox() }

// CanSign reports whether sends of a network can be handed to a wallet.
func (d *Deps) CanSign(network string) bool {
	_, known := d.Signers[network]
	return known || chain.Network(network).IsSandbox()
}

// OrderOf returns a send that an account pays, for the network's adapter.
func OrderOf(row models.Send, account string) chain.Order {
	o := chain.Order{From: account, To: chain.Destination{Address: row.Address}, Asset: row.Coin, Amount: row.Amount,
		ID: orderID(row)}
	if row.Tag != nil {
		tag := uint32(*row.Tag)
		o.To.Tag = &tag
	}
	return o
}

// findReady finds a send that may be signed now, and its signer.
func (s *Signing) findReady(ctx context.Context, sc scope.Scope, reference string) (View, payer.Signer, error) {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return View{}, payer.Signer{}, err
	}
	v, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, payer.Signer{}, err
	}
	if err := s.checkReady(v.Send); err != nil {
		return View{}, payer.Signer{}, err
	}
	if err := s.CheckMoney(ctx, v); err != nil {
		return View{}, payer.Signer{}, err
	}
	if v.Send.BatchID != nil { // one transaction pays all of them
		return View{}, payer.Signer{}, fault.New(fault.Conflict, "send_prepared", "This send was prepared together "+
			"with others. Sign them together. To sign it by itself, withdraw it and ask for it again.")
	}
	signer, known := s.Signers[v.Send.Network]
	switch {
	case v.UsesSandboxWallet():
		return View{}, payer.Signer{}, fault.New(fault.Conflict, "send_unavailable", "The sandbox's own wallet signs "+
			"this send: play one of its scenarios.")
	case !known:
		return View{}, payer.Signer{}, fault.New(fault.Conflict, "send_unavailable", "Sends on %s are not signed here.",
			v.Send.Network)
	}
	return v, signer, nil
}

// Prepare asks the network what the transaction needs, and records that the send is handed to a
// wallet: account is one that ListAccounts lists for the send. speed chooses the fee where
// there is a choice.
//
// Faults: Forbidden; NotFound; Invalid for account; Conflict for a send that is not ready, was
// changed or prepared for another account, or that the account can't pay; Unavailable while the
// network's node can't be asked.
func (s *Signing) Prepare(ctx context.Context, sc scope.Scope, reference, account string, speed Speed) (View, error) {
	v, signer, err := s.findReady(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	if v.Send.Account != "" && v.Send.Account != account { // the two transactions could both confirm
		return View{}, fault.New(fault.Conflict, "send_prepared", "This send was prepared for the wallet %s, and its "+
			"transaction may still confirm. Sign it with that wallet. To use another one, withdraw this send and ask for "+
			"it again.", v.Send.Account)
	}
	asked, cancel := context.WithTimeout(ctx, NodePatience)
	defer cancel()
	order, err := s.fillOrder(asked, sc, v.Send, account, signer)
	if err != nil {
		return View{}, err
	}
	order.Speed = speed
	terms, err := signer.PrepareTerms(asked, order, v.Send.Terms)
	if err != nil {
		return View{}, payer.DescribeProblem(ctx, err)
	}
	seen := v.Version()
	var made *View
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if made, err = s.LoadReady(tx, v.Send.ID); err != nil {
			return err
		}
		if made.Version() != seen {
			return ErrSeenEarlier
		}
		if err := s.reserveOutputs(tx, made.Send, order, signer, terms); err != nil {
			return err
		}
		now := s.Clock()
		made.Send.Account, made.Send.Terms, made.Send.SigningAt = account, terms, &now
		return s.SaveSigning(tx, made, "signing", sc.Actor, map[string]any{"account": account})
	})
	if err != nil {
		return View{}, err
	}
	return *made, nil
}

// LoadReady loads a send that may be signed now, and locks its row and the money that it is of. Faults: as CheckReady,
// and Conflict for a refund of money that is gone or that other sends took.
func (s *Signing) LoadReady(tx *models.Tx, id int64) (*View, error) {
	v, err := s.loadCurrent(tx, id)
	if err == nil {
		err = s.checkReady(v.Send)
	}
	if err != nil {
		return v, err
	}
	_, _, err = s.lockMoney(tx, v.Send)
	return v, err
}

// CheckReady refuses a send that may not be signed now. Faults: Conflict for one that is not ready, or was
// changed after it was approved.
func (s *Signing) CheckReady(v View) error { return s.checkReady(v.Send) }

// CheckMoney refuses sends of which one is a refund of money that is gone or that other sends took. Faults: Conflict.
func (s *Signing) CheckMoney(ctx context.Context, sends ...View) error {
	refunds := slices.DeleteFunc(slices.Clone(sends), func(v View) bool { return v.Send.Kind != Refund })
	if len(refunds) == 0 {
		return nil
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		for _, v := range refunds {
			if _, _, err := s.lockMoney(tx, v.Send); err != nil {
				return payer.NameFault(v.Send.Reference, err)
			}
		}
		return nil
	})
}

// SaveSigning seals and writes a send that was prepared or signed, with a row of its timeline.
func (s *Signing) SaveSigning(tx *models.Tx, v *View, reason, actor string, detail map[string]any) error {
	v.Send.Sealed = seal.SealReady(s.Secrets, v.Send)
	if err := s.writeStep(tx, v, models.SendStep{Kind: stepNote, From: v.Send.Status, To: v.Send.Status, Reason: reason,
		Actor: actor, Detail: encodeDetail(detail)}); err != nil {
		return err
	}
	return s.saveSend(tx, &v.Send)
}

// fillOrder returns a send's order from an account of the business.
func (s *Signing) fillOrder(ctx context.Context, sc scope.Scope, row models.Send, account string,
	signer payer.Signer) (chain.Order, error) {
	order := OrderOf(row, account)
	if strings.EqualFold(account, row.Address) { // registered since the send was asked for
		return order, fault.RefuseField("account", "Is the wallet that this send goes to. Choose another one.")
	}
	if spender, is := signer.Signer.(chain.OutputSigner); is {
		err := outputs.FillOrder(ctx, s.DB, s.Clock(), outputs.HolderOf(row), spender, &order)
		return order, payer.DescribeFilling(ctx, err)
	}
	accounts, err := s.ListAccounts(ctx, sc, row.Network)
	if err == nil && !slices.ContainsFunc(accounts, func(a Account) bool { return a.Name == account }) {
		err = fault.RefuseField("account", "Must be one of your payout wallets.")
	}
	return order, err
}

// reserveOutputs keeps the outputs that terms spend for a send.
func (s *store) reserveOutputs(tx *models.Tx, row models.Send, o chain.Order, signer payer.Signer, terms string) error {
	spender, is := signer.Signer.(chain.OutputSigner)
	if !is {
		return nil
	}
	keys, _, err := spender.ListInputs(terms)
	if err != nil {
		return err
	}
	return outputs.Reserve(tx, s.Clock(), outputs.HolderOf(row), o, keys)
}

// Unsigned returns the transaction that a prepared send is signed by; nil before it was prepared.
//
// Faults: Forbidden; NotFound; Conflict for a send that is not ready, or was changed.
func (s *Signing) Unsigned(ctx context.Context, sc scope.Scope, reference string) (View, *Unsigned, error) {
	v, signer, err := s.findReady(ctx, sc, reference)
	if err != nil || v.Send.Terms == "" {
		return v, nil, err
	}
	unsigned, err := signer.BuildUnsigned(OrderOf(v.Send, v.Send.Account), v.Send.Terms)
	return v, &unsigned, err
}

// MaxTogether bounds the sends that one transaction pays.
const MaxTogether = 100

// NodePatience is how long a person waits for the network's node.
const NodePatience = 10 * time.Second

// CountParts reports how many parts of the QR code of a signed transaction are there, one a line, and how many
// make the transaction: 0 of 0 for other texts.
func (s *Signing) CountParts(network, text string) (have, want int) {
	spender, is := s.Signers[network].Signer.(chain.OutputSigner)
	if !is || len(text) > payer.MaxSigned {
		return 0, 0
	}
	return spender.CountParts(text)
}

// Submit compares a signed transaction with the approved send, and has the network's node broadcast
// it if it makes exactly that send. Only the network's blocks change the send's state.
//
// Faults: Forbidden; NotFound; Invalid for signed; Conflict for a send that is not ready, was
// changed or wasn't prepared; Unavailable while the network's node can't be asked.
func (s *Signing) Submit(ctx context.Context, sc scope.Scope, reference, signed string) (Submitted, error) {
	v, signer, err := s.findReady(ctx, sc, reference)
	if err != nil {
		return Submitted{}, err
	}
	if v.Send.Terms == "" {
		return Submitted{}, ErrNotPrepared
	}
	checked, differences, err := payer.CheckSigned(signer, OrderOf(v.Send, v.Send.Account), v.Send.Terms, signed)
	if err != nil {
		return Submitted{}, err
	}
	if len(differences) > 0 {
		return Submitted{Signed: checked, Differences: differences}, nil
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now, err := s.LoadReady(tx, v.Send.ID)
		if err != nil {
			return err
		}
		if now.Send.Account != v.Send.Account || now.Send.Terms != v.Send.Terms { // prepared again meanwhile
			return ErrSeenEarlier
		}
		return s.SaveSigned(tx, now, checked, sc.Actor)
	})
	if err != nil {
		return Submitted{}, err
	}
	return s.Broadcast(ctx, signer, checked, v)
}

// SaveSigned writes that a send's transaction was signed, before the network is given it.
func (s *Signing) SaveSigned(tx *models.Tx, v *View, checked chain.Signed, actor string) error {
	now := s.Clock()
	v.Send.SignedHash, v.Send.SignedFee, v.Send.BroadcastAt = checked.Hash, checked.Fee, &now
	return s.SaveSigning(tx, v, "signed", actor, map[string]any{"hash": checked.Hash})
}

// Broadcast has the network's node send the checked transaction of sends. Faults: Unavailable while the node can't be
// asked.
func (s *Signing) Broadcast(ctx context.Context, signer chain.Signer, checked chain.Signed, sends ...View) (Submitted,
	error) {
	asked, cancel := context.WithTimeout(ctx, NodePatience)
	defer cancel()
	done := Submitted{Signed: checked}
	if err := signer.Broadcast(asked, checked.Raw); err != nil {
		var said chain.Refusal
		if !errors.As(err, &said) {
			return done, payer.DescribeProblem(ctx, err)
		}
		done.Refused = said.Error()
		return done, s.DB.Write(ctx, func(tx *models.Tx) error {
			for _, v := range sends {
				set := map[string]any{"broadcast_at": nil}
				if v.Send.BroadcastAt != nil { // the network or a wallet has an earlier transaction
					set = map[string]any{"broadcast_at": v.Send.BroadcastAt, "signed_hash": v.Send.SignedHash,
						"signed_fee": v.Send.SignedFee}
				}
				if err := tx.Model(&models.Send{}).Where("id = ? AND signed_hash = ?", v.Send.ID, checked.Hash).
					Updates(set).Error; err != nil {
					return err
				}
			}
			return nil
		})
	}
	return done, nil
}

// ErrNotPrepared is returned about a send whose transaction must be prepared before.
var ErrNotPrepared = fault.New(fault.Conflict, "send_not_prepared", "Prepare the transaction first.")

// ErrSeenEarlier is returned about a send that another person or the network changed meanwhile.
var ErrSeenEarlier = fault.New(fault.Conflict, "send_changed", "The send changed meanwhile. Look at it again.")
