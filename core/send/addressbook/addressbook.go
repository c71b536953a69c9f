// Package addressbook keeps the addresses that a business sends to: those that a send named, and those
// that people gave a name. A new address waits before the first send to it is ready (contract section 7).
package addressbook

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send/destination"
	"cointill/core/send/payer"
	"cointill/core/send/request"
	"cointill/models"
)

const (
	// Cooldown is how long an address that the business names for the first time waits.
	Cooldown = 24 * time.Hour
	// MaxNamed bounds the named addresses of a business in a domain.
	MaxNamed = 500
)

// Book lists and names addresses.
type Book struct {
	DB       *models.DB
	Clock    clock.Clock
	Users    auth.Reauthenticator
	Networks payment.Networks
	Signers  map[string]payer.Signer // of real networks, by the network's name
}

// Entry is a new address of the book.
type Entry struct {
	Name    string
	Method  string // crypto_bitcoin …
	Network string // as a payout names it; "" for the coin's first one in the domain
	Address string
	Tag     string // as typed; "" for none
}

// List lists the named addresses by their names. Faults: Forbidden.
func (b *Book) List(ctx context.Context, sc scope.Scope) (rows []models.PayoutAddress, err error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return nil, err
	}
	err = sc.Rows(b.DB.Read(ctx)).Where("name <> ''").Order("LOWER(name), id").Limit(MaxNamed).Find(&rows).Error
	return rows, err
}

// Get returns a named address. Faults: Forbidden; NotFound.
func (b *Book) Get(ctx context.Context, sc scope.Scope, id int64) (row models.PayoutAddress, err error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return row, err
	}
	err = sc.Rows(b.DB.Read(ctx)).Where("id = ? AND name <> ''", id).Take(&row).Error
	return row, fault.MissingRow(err, "payout address")
}

// Add names an address. A new one waits from now on; one that a send named before keeps its wait.
//
// Faults: Forbidden; Invalid for name, payment_method, address, tag and the proof; Conflict for too many.
func (b *Book) Add(ctx context.Context, sc scope.Scope, e Entry, proof auth.Proof) error {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return err
	}
	row, err := b.readEntry(sc, e)
	if err != nil {
		return err
	}
	if _, err := b.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return err
	}
	return b.DB.Write(ctx, func(tx *models.Tx) error {
		if err := payer.LockBusiness(tx, sc); err != nil {
			return err
		}
		if err := destination.RefuseOwn(tx, sc, b.Networks.Home(row.Network), row.Address); err != nil {
			return err
		}
		var count int64
		if err := sc.Rows(tx.Model(&models.PayoutAddress{})).Where("name <> ''").Count(&count).Error; err != nil {
			return err
		}
		if count >= MaxNamed {
			return fault.New(fault.Conflict, "too_many_addresses",
				"An address book can have 500 addresses. Remove one first.")
		}
		made := row
		err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "network"},
			{Name: "address"}, {Name: "tag"}}, DoUpdates: clause.AssignmentColumns([]string{"name"})}).Create(&made).Error
		if err != nil {
			return err
		}
		return audit.Record(tx, sc, b.Clock(), "send.address_added", row.Address,
			map[string]string{"name": row.Name, "network": row.Network})
	})
}

// readEntry reads an entry as it is stored.
func (b *Book) readEntry(sc scope.Scope, e Entry) (models.PayoutAddress, error) {
	fields := fault.Fields{}
	row := models.PayoutAddress{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Name: strings.TrimSpace(e.Name),
		CreatedAt: b.Clock(), ReleasedAt: b.Clock().Add(Cooldown)}
	fields.AddMessage("name", contact.CheckLabel(row.Name))
	info, known := money.Method(e.Method).Info()
	if !known {
		fields.Add("payment_method", "Must be one of the coins in the list.")
		return row, fault.Validation(fields)
	}
	network, problem := networks.FindServed(b.Networks, sc.Domain, info, e.Network, fields)
	if !problem.IsZero() {
		fields.AddMessage("payment_method", problem)
		return row, fault.Validation(fields)
	}
	on := b.Signers[network].DescribeNetwork(network)
	d := destination.Read(info.Coin, on, e.Address, request.ParseTag(e.Tag, fields), fields)
	row.Network, row.Address, row.Tag = network, d.Address, destination.TagNumber(d.Tag)
	return row, fault.Validation(fields)
}

// Remove takes an address from the book: sends to it wait again as to a new one.
// Faults: Forbidden; NotFound.
func (b *Book) Remove(ctx context.Context, sc scope.Scope, id int64) error {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return err
	}
	row, err := b.Get(ctx, sc, id)
	if err != nil {
		return err
	}
	return b.DB.Write(ctx, func(tx *models.Tx) error {
		removed := sc.Rows(tx.Model(&models.PayoutAddress{})).Where("id = ? AND name <> ''", id).
			Updates(map[string]any{"name": "", "released_at": b.Clock().Add(Cooldown)})
		switch {
		case removed.Error != nil:
			return removed.Error
		case removed.RowsAffected == 0: // another person was faster
			return fault.Missing("payout address")
		}
		return audit.Record(tx, sc, b.Clock(), "send.address_removed", row.Address,
			map[string]string{"name": row.Name, "network": row.Network})
	})
}

// Note remembers an address that a person of the business named in a send, from which moment it waits.
func Note(tx *models.Tx, now time.Time, row models.Send) error {
	known, err := Find(tx, row)
	if err != nil || len(known) > 0 {
		return err
	}
	return tx.Create(&models.PayoutAddress{BusinessID: row.BusinessID, Domain: row.Domain, Network: row.Network,
		Address: row.Address, Tag: destination.TagNumber(row.Tag), CreatedAt: now, ReleasedAt: now.Add(Cooldown)}).Error
}

// Find returns the stored address of a send; none if the business never named it.
func Find(tx *models.Tx, row models.Send) (known []models.PayoutAddress, err error) {
	err = tx.Where("business_id = ? AND domain = ? AND network = ? AND address = ? AND tag = ?", row.BusinessID,
		row.Domain, row.Network, row.Address, destination.TagNumber(row.Tag)).Find(&known).Error
	return known, err
}
