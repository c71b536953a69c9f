package models

import (
	"time"

	"cointill/core/money"
)

// Resolution is what a person did about money that came otherwise than asked: a
// refund made outside, or an unmatched transfer that was attached to a payment.
type Resolution struct {
	ID         int64        `gorm:"index:resolutions_list,priority:4"`
	BusinessID int64        `gorm:"not null;index:resolutions_list,priority:1,where:transfer_id IS NOT NULL"`
	Domain     string       `gorm:"not null;index:resolutions_list,priority:2"`
	Kind       string       `gorm:"not null;index:resolutions_list,priority:3"` // "attached" or "refunded"
	TransferID *int64       `gorm:"uniqueIndex:resolutions_transfer,where:transfer_id IS NOT NULL"`
	PaymentID  *int64       `gorm:"index:resolutions_payment,where:payment_id IS NOT NULL"`
	Reason     string       `gorm:"not null"` // why the transfer credited nothing; "" for a payment's refund
	Asset      string       `gorm:"not null"` // the coin
	Amount     money.Amount `gorm:"not null"` // smallest units of the coin
	TxID       string       `gorm:"not null"` // of the refund; "" when only a note was given
	Note       string       `gorm:"not null"`
	Actor      string       `gorm:"not null"`
	CreatedAt  time.Time    `gorm:"not null"`
}
