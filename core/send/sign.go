package send

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/send/outputs"
	"cointill/core/send/payer"
	"cointill/models"
)

// The parts of the adapters that signing pages see.
type (
	Unsigned   = chain.Unsigned   // a transaction for a wallet to sign
	Difference = chain.Difference // a field in which a signed one is not the approved send
	Speed      = chain.Speed      // a choice of the fee
	Account    = payer.Account    // what can pay a send
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

// orderOf returns the send for the network's adapter.
func orderOf(row models.Send, account string) chain.Order {
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
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return View{}, payer.Signer{}, err
	}
	v, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, payer.Signer{}, err
	}
	if err := s.checkReady(v.Send); err != nil {
		return View{}, payer.Signer{}, err
	}
	signer, known := s.Signers[v.Send.Network]
	if !known {
		return View{}, payer.Signer{}, fault.New(fault.Conflict, "send_unavailable", "Sends on "+v.Send.Network+
			" are not signed here.")
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
		return View{}, fault.New(fault.Conflict, "send_prepared", "This send was prepared for the wallet "+
			v.Send.Account+", and its transaction may still confirm. Sign it with that wallet. To use another one, "+
			"withdraw this send and ask for it again.")
	}
	asked, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	order, err := s.fillOrder(asked, sc, v.Send, account, signer)
	if err != nil {
		return View{}, err
	}
	order.Speed = speed
	terms, err := signer.PrepareTerms(asked, order, v.Send.Terms)
	if err != nil {
		return View{}, describeProblem(ctx, err)
	}
	seen := v.Version()
	var made *View
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if made, err = s.loadCurrent(tx, v.Send.ID); err != nil {
			return err
		}
		if err := s.checkReady(made.Send); err != nil {
			return err
		}
		if made.Version() != seen {
			return errSeenEarlier
		}
		if err := s.reserveOutputs(tx, made.Send, order, signer, terms); err != nil {
			return err
		}
		now := s.Clock()
		made.Send.Account, made.Send.Terms, made.Send.SigningAt = account, terms, &now
		made.Send.Sealed = s.sealReady(made.Send)
		if err := s.writeStep(tx, made, models.SendStep{Kind: stepNote, From: made.Send.Status, To: made.Send.Status,
			Reason: "signing", Actor: sc.Actor, Detail: encodeDetail(map[string]any{"account": account})}); err != nil {
			return err
		}
		return s.saveSend(tx, &made.Send)
	})
	if err != nil {
		return View{}, err
	}
	return *made, nil
}

// fillOrder returns a send's order from an account of the business.
func (s *Signing) fillOrder(ctx context.Context, sc scope.Scope, row models.Send, account string,
	signer payer.Signer) (chain.Order, error) {
	order := orderOf(row, account)
	if spender, is := signer.Signer.(chain.OutputSigner); is {
		err := outputs.FillOrder(ctx, s.DB, s.Clock(), sc, spender, row, &order)
		if err == nil || fault.KindOf(err) == fault.Invalid || fault.KindOf(err) == fault.Conflict {
			return order, err
		}
		return order, describeProblem(ctx, err)
	}
	accounts, err := s.ListAccounts(ctx, sc, row.Network)
	if err == nil && !slices.ContainsFunc(accounts, func(a Account) bool { return a.Name == account }) {
		err = fault.Validation(fault.Fields{"account": {"Must be one of your payout wallets."}})
	}
	return order, err
}

// reserveOutputs keeps the outputs that terms spend for a send.
func (s *store) reserveOutputs(tx *models.Tx, row models.Send, o chain.Order, signer payer.Signer, terms string) error {
	spender, is := signer.Signer.(chain.OutputSigner)
	if !is {
		return nil
	}
	keys, err := spender.ListInputs(terms)
	if err != nil {
		return err
	}
	return outputs.Reserve(tx, s.Clock(), row, o, keys)
}

// Unsigned returns the transaction that a prepared send is signed by; nil before it was prepared.
//
// Faults: Forbidden; NotFound; Conflict for a send that is not ready, or was changed.
func (s *Signing) Unsigned(ctx context.Context, sc scope.Scope, reference string) (View, *Unsigned, error) {
	v, signer, err := s.findReady(ctx, sc, reference)
	if err != nil || v.Send.Terms == "" {
		return v, nil, err
	}
	unsigned, err := signer.BuildUnsigned(orderOf(v.Send, v.Send.Account), v.Send.Terms)
	return v, &unsigned, err
}

// nodePatience is how long a person waits for the network's node.
const nodePatience = 10 * time.Second

// MaxSigned bounds a signed transaction that is returned, in bytes.
const MaxSigned = 256 << 10

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
		return Submitted{}, fault.New(fault.Conflict, "send_not_prepared", "Prepare the transaction first.")
	}
	signed = strings.TrimSpace(signed)
	if signed == "" || len(signed) > MaxSigned {
		return Submitted{}, fault.Validation(fault.Fields{"signed": {"Paste the signed transaction, in " +
			"hexadecimal digits."}})
	}
	checked, differences, err := signer.CheckSigned(orderOf(v.Send, v.Send.Account), v.Send.Terms, signed)
	if err != nil {
		return Submitted{}, fault.Validation(fault.Fields{"signed": {"Is not a signed transaction of " +
			"this network. Copy all of it from the wallet."}})
	}
	if len(differences) > 0 {
		return Submitted{Signed: checked, Differences: differences}, nil
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now, err := s.loadCurrent(tx, v.Send.ID)
		if err != nil {
			return err
		}
		if err := s.checkReady(now.Send); err != nil {
			return err
		}
		if now.Send.Account != v.Send.Account || now.Send.Terms != v.Send.Terms { // prepared again meanwhile
			return errSeenEarlier
		}
		now.Send.SignedHash = checked.Hash
		if err := s.writeStep(tx, now, models.SendStep{Kind: stepNote, From: now.Send.Status, To: now.Send.Status,
			Reason: "signed", Actor: sc.Actor,
			Detail: encodeDetail(map[string]any{"hash": checked.Hash})}); err != nil {
			return err
		}
		return s.saveSend(tx, &now.Send)
	})
	if err != nil {
		return Submitted{}, err
	}
	asked, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	done := Submitted{Signed: checked}
	if err := signer.Broadcast(asked, checked.Raw); err != nil {
		var said chain.Refusal
		if !errors.As(err, &said) {
			return done, describeProblem(ctx, err)
		}
		done.Refused = said.Error()
	}
	return done, nil
}

var errSeenEarlier = fault.New(fault.Conflict, "send_changed", "The send changed meanwhile. Look at it again.")

// describeProblem turns an adapter's error into a fault.
func describeProblem(ctx context.Context, err error) error {
	var said chain.Refusal
	if errors.As(err, &said) {
		return fault.New(fault.Conflict, "send_unavailable", said.Error())
	}
	if ctx.Err() == nil {
		slog.WarnContext(ctx, "a send can't be prepared or broadcast", "error", err)
	}
	return fault.New(fault.Unavailable, "node_unavailable",
		"The network's node doesn't answer now. Try again in a moment.")
}
