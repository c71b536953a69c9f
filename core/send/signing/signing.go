// Package signing hands approved sends to programs and to contract wallets that sign them, takes back what
// they signed, and attaches transactions that a wallet has sent by itself.
package signing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
)

// Service hands sends out and takes them back. Its fields are set once, before use.
type Service struct {
	DB       *models.DB
	Clock    clock.Clock
	Payments *payment.Service
	Sends    *send.Service
}

// Choice is the options for the transaction of a send.
type Choice struct {
	Account string // "" for the one that there is
	Speed   send.Speed
	Again   bool // make the transaction again, with the fees of now
}

// Prepared is a send with the transaction that a wallet signs.
type Prepared struct {
	View     send.View
	Account  string // that pays, for people
	Unsigned send.Unsigned
}

// Prepare returns what a wallet needs to sign a ready send. It is prepared first where it wasn't yet.
//
// Faults: as of send.Signing.Prepare, and Conflict where no account can pay, or one must be chosen.
func (s *Service) Prepare(ctx context.Context, sc scope.Scope, reference string, choice Choice) (Prepared, error) {
	v, unsigned, err := s.Sends.Signing.Unsigned(ctx, sc, reference)
	if err != nil {
		return Prepared{}, err
	}
	accounts, err := s.Sends.Signing.ListAccounts(ctx, sc, v.Send.Network)
	if err != nil {
		return Prepared{}, err
	}
	account := findAccount(accounts, cmp.Or(choice.Account, v.Send.Account))
	if unsigned == nil || choice.Again || account.Name != v.Send.Account {
		if account.Name == "" {
			if account, err = s.chooseAccount(v, accounts); err != nil {
				return Prepared{}, err
			}
		}
		speed := cmp.Or(choice.Speed, send.Speed(chain.SpeedUsual))
		if _, err := s.Sends.Signing.Prepare(ctx, sc, reference, account.Name, speed); err != nil {
			return Prepared{}, err
		}
		if v, unsigned, err = s.Sends.Signing.Unsigned(ctx, sc, reference); err != nil {
			return Prepared{}, err
		}
	}
	return Prepared{v, account.Label.String(), *unsigned}, nil
}

// findAccount returns the account with a name or label; one with that name only where none has it.
func findAccount(accounts []send.Account, name string) send.Account {
	i := slices.IndexFunc(accounts, func(a send.Account) bool { return a.Name == name || a.Label.String() == name })
	if i < 0 {
		return send.Account{Name: name, Label: fault.Verbatim(name)}
	}
	return accounts[i]
}

// chooseAccount returns the only account that can pay.
func (s *Service) chooseAccount(v send.View, accounts []send.Account) (send.Account, error) {
	switch {
	case len(accounts) == 1:
		return accounts[0], nil
	case len(accounts) > 1:
		labels := make([]string, len(accounts))
		for i, a := range accounts {
			labels[i] = a.Label.String()
		}
		return send.Account{}, fault.New(fault.Conflict, "choose_wallet",
			"Several wallets can pay this send. Name one as account: %s.", strings.Join(labels, ", "))
	case s.Sends.Signing.SpendsOutputs(v.Send.Network):
		return send.Account{}, fault.New(fault.Conflict, "no_payout_wallet", "Sends of this coin are paid from your "+
			"account key. An owner enters it in the dashboard, under Payment methods.")
	}
	return send.Account{}, fault.New(fault.Conflict, "no_payout_wallet",
		"No payout wallet is registered on %s. An owner "+
			"or admin registers one in the dashboard, under Sends.", v.Send.Network)
}

// Broadcast compares a signed transaction with the approved send, and has the network's node send it.
//
// Faults: as of send.Signing.Submit; Invalid with the code signed_differs for a transaction that is
// not the send, with both values of each field; Conflict where the network refuses it.
func (s *Service) Broadcast(ctx context.Context, sc scope.Scope, reference, signed string) (Sent, error) {
	return idempotency.Around(ctx, func(ctx context.Context) (Sent, error) {
		done, err := s.Sends.Signing.Submit(ctx, sc, reference, signed)
		switch {
		case err != nil:
			return Sent{}, err
		case len(done.Differences) > 0:
			return Sent{}, differenceFault(done.Differences)
		case done.Refused != "":
			return Sent{}, fault.New(fault.Conflict, "broadcast_refused", "%s", done.Refused)
		}
		v, err := s.Sends.Find(ctx, sc, reference)
		return Sent{v, done.Signed.Hash}, err
	})
}

// Sent is a send whose transaction a node has sent.
type Sent struct {
	View send.View
	Hash string
}

// orNone returns a value of a transaction, or that it has none.
func orNone(value string) fault.Message {
	if value == "" {
		return fault.NewMessage("none")
	}
	return fault.Verbatim(value)
}

// differenceFault names each field in which a signed transaction is not the approved send.
func differenceFault(list []send.Difference) error {
	fields := fault.Fields{}
	for _, d := range list {
		fields.Add(d.Field, "Approved: %s. Signed: %s.", orNone(d.Approved), orNone(d.Signed))
	}
	return &fault.Fault{Kind: fault.Invalid, Code: "signed_differs", Fields: fields,
		Sentence: fault.NewMessage("The signed transaction is not the approved send, so it was not sent.")}
}
