package models

import (
	"time"

	"cointill/core/money"
)

// Departure is an amount of a coin that a transaction took from addresses of a business. Only core/payment/departure
// writes it.
type Departure struct {
	ID         int64
	Network    string       `gorm:"not null;uniqueIndex:departures_key,priority:1;index:departures_due,priority:1,where:NOT settled;index:departures_height,priority:1"`
	TxID       string       `gorm:"not null;uniqueIndex:departures_key,priority:2"`
	BusinessID int64        `gorm:"not null;uniqueIndex:departures_key,priority:3"`
	Domain     string       `gorm:"not null;uniqueIndex:departures_key,priority:4"`
	Coin       string       `gorm:"not null;uniqueIndex:departures_key,priority:5"`
	Amount     money.Amount `gorm:"not null"` // smallest units of the coin
	Height     int64        `gorm:"not null;index:departures_height,priority:2"` // -1 when its block left the chain
	DueHeight  int64        `gorm:"not null;index:departures_due,priority:2"` // of the network, from which it is booked
	Settled    bool         `gorm:"not null"`                                 // it was booked, or no part of it had to be
	Booked     money.Amount `gorm:"not null"`                                 // what the books show as moved by the owner
	CreatedAt  time.Time    `gorm:"not null"`
}
