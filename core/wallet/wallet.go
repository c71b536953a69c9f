// Package wallet is about receiving: which address, or address and
// destination tag, a payment is told to pay to. It knows public things only:
// no private key is ever held, asked for or derivable here.
package wallet

import (
	"errors"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
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
}

// Service gives out destinations, and keeps the keys that they are derived from.
// Where there are only Receivers, the other fields may be left empty.
type Service struct {
	// Receivers make addresses, by network; a network without one takes them
	// from the business's active wallet.
	Receivers map[chain.Network]Receiver
	DB        *models.DB
	Clock     clock.Clock
	// Networks is the real network that serves a chain in a domain; false
	// where there is none: the sandbox serves it, or nothing does.
	Networks func(scope.Domain, money.Chain) (params.Params, bool)
}

// Receiver makes addresses on one network for a business.
type Receiver interface {
	// Next is a fresh address for the business, or the business's shared
	// account on a network where tags tell payments apart.
	Next(business int64, domain scope.Domain) (address string, tagged bool)
}

// Assign gives the payment its destination, once for ever, in the caller's
// transaction. A destination that was ever given to anybody is never given again.
// Unavailable (no_wallet) when the business has nothing to receive with on the network.
func (s *Service) Assign(tx *models.Tx, p *models.Payment, now time.Time) (Place, error) {
	receiver := s.Receivers[chain.Network(p.Network)]
	if receiver == nil {
		return s.derive(tx, p, now)
	}
	for range 8 {
		address, tagged := receiver.Next(p.BusinessID, scope.Domain(p.Domain))
		place, tag := Place{Address: address}, int64(NoTag)
		if tagged {
			if err := share(tx, p, address, now); err != nil {
				return Place{}, err
			}
			fresh := freshTag()
			place.Tag, tag = &fresh, int64(fresh)
		}
		row := models.Destination{Network: p.Network, Address: address, Tag: tag, BusinessID: p.BusinessID, Domain: p.Domain, PaymentID: &p.ID, CreatedAt: now}
		made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if made.Error != nil {
			return Place{}, made.Error
		}
		if made.RowsAffected == 1 {
			return place, nil
		}
	}
	return Place{}, errors.New("wallet: every destination tried was taken")
}

// share notes the account that tags hang on, so that money without a known
// tag is still seen and known to be the business's.
func share(tx *models.Tx, p *models.Payment, address string, now time.Time) error {
	row := models.Destination{Network: p.Network, Address: address, Tag: NoTag, BusinessID: p.BusinessID, Domain: p.Domain, CreatedAt: now}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
}

// freshTag is a random destination tag. 0 is never issued: many wallets send it for "no tag".
func freshTag() uint32 {
	for {
		b := ident.Bytes(4)
		if tag := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]); tag != 0 {
			return tag
		}
	}
}

// SandboxReceivers are the receivers of the sandbox networks. Their addresses
// belong to nobody: they are random, with the prefixes of regression-test
// networks where the format has one, so that a real wallet refuses them.
func SandboxReceivers() map[chain.Network]Receiver {
	receivers := map[chain.Network]Receiver{}
	for _, c := range money.Chains() {
		receivers[chain.Sandbox(c)] = sandboxReceiver{c}
	}
	return receivers
}
