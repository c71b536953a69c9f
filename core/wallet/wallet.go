// Package wallet assigns each payment the address, or address and destination
// tag, that its customer pays to. It handles public keys only: no private key is
// ever held, asked for or derivable here.
package wallet

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"cointill/chain"
	"cointill/core/addressmark"
	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// NoTag is what the destinations table holds where there is no tag; tag 0 is another thing.
const NoTag = -1

// Place is where a payment is to be paid.
type Place struct {
	Address string
	Tag     *uint32
	// Amount replaces the amount due, and differs from the amounts of other payments to the address; nil where
	// the address or the tag belongs to the payment alone.
	Amount *money.Amount
}

// Service gives out destinations, and keeps the keys that they are derived from.
// Where there are only Receivers, the other fields may be left empty.
type Service struct {
	// Receivers make addresses, by network; a network without one takes them
	// from the business's active wallet.
	Receivers map[chain.Network]Receiver
	DB        *models.DB
	Clock     clock.Clock
	// Networks is the real network of bitcoin's kind that serves a chain in a
	// domain; false where there is none: the sandbox serves it, or nothing does.
	Networks func(scope.Domain, money.Chain) (Net, bool)
	// Ledgers are the real networks of the XRP Ledger, by the domain that they serve.
	Ledgers map[scope.Domain]Ledger
	// Holders look up balances on networks of Ethereum's kind, by the domain and the code of the network.
	Holders map[scope.Domain]map[money.Chain]Holder
	// Marks keep outside of the database how far addresses of keys were given out.
	Marks Marks
	// SharedAccounts lets several businesses receive with one account of the XRP
	// Ledger. Their tags differ all the same.
	SharedAccounts bool

	catchingUp sync.Mutex
}

// Marks are what addressmark.Store does.
type Marks interface {
	Reserve(k addressmark.Key, index int64) error
	Release(k addressmark.Key, index int64)
	Next(k addressmark.Key) (int64, error)
	Raise(k addressmark.Key, next int64) (int64, error)
}

// Receiver makes addresses on one network for a business.
type Receiver interface {
	// Next is a fresh address for the business, or the business's shared
	// account on a network where tags tell payments apart.
	Next(business int64, domain scope.Domain) (address string, tagged bool)
}

// Assign gives the payment its destination, once, in the caller's transaction. No two
// payments ever get the same destination. client is who opens the payment, by which amounts at one address are shared
// fairly; "" for the business itself.
// Unavailable (no_wallet) when the business has nothing to receive with on the network,
// (amounts_used_up) when no amount is free at its one address, or
// (address_unavailable) when the address could not be noted outside of the database. A
// BehindError asks for CatchUp, and for another try after that.
func (s *Service) Assign(tx *models.Tx, p *models.Payment, client string, now time.Time) (Place, error) {
	receiver := s.Receivers[chain.Network(p.Network)]
	if receiver == nil {
		return s.derivePlace(tx, p, client, now)
	}
	for range 8 {
		address, withTag := receiver.Next(p.BusinessID, scope.Domain(p.Domain))
		if withTag {
			return assignTag(tx, p, address, now, freshTag)
		}
		row := models.Destination{Network: p.Network, Address: address, Tag: NoTag, BusinessID: p.BusinessID,
			Domain: p.Domain, PaymentID: &p.ID, CreatedAt: now}
		made := tx.Clauses(onePlace).Create(&row)
		if made.Error != nil {
			return Place{}, made.Error
		}
		if made.RowsAffected == 1 {
			return Place{Address: address}, nil
		}
	}
	return Place{}, errors.New("wallet: every destination tried was taken")
}

// freshTag is a random destination tag.
func freshTag() uint32 { return binary.BigEndian.Uint32(ident.RandomBytes(4)) }

// SandboxAddress makes an address of a sandbox network, to try a send with; "" for any other network.
func SandboxAddress(network string) string {
	receiver, found := SandboxReceivers()[chain.Network(network)]
	if !found {
		return ""
	}
	address, _ := receiver.Next(0, scope.Test)
	return address
}

// SandboxReceivers are the receivers of the sandbox networks. Their addresses
// have no owner: they are random, with the prefixes of regression-test
// networks where the format has one, so that a real wallet refuses them.
func SandboxReceivers() map[chain.Network]Receiver {
	receivers := map[chain.Network]Receiver{}
	for _, c := range append(money.Chains(), money.Tron) {
		receivers[chain.Sandbox(c)] = sandboxReceiver{c}
	}
	return receivers
}
