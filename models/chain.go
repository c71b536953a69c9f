package models

import (
	"time"

	"cointill/core/money"
)

// ChainCursor is where the following of a network stands, and how it goes.
type ChainCursor struct {
	Network   string `gorm:"primaryKey"`
	Height    int64  `gorm:"not null"`
	Hash      string `gorm:"not null"`
	Finalized int64  `gorm:"not null"` // -1: the network has no finality of its own
	SourceTip int64  `gorm:"not null"` // height the source said it had
	Fence     int64  `gorm:"not null"`
	Problem   string `gorm:"not null"` // "" when healthy, else a sentence
	// what people should know although it is healthy: a sentence, or ""
	Note      string    `gorm:"not null;default:''"`
	TokenNote string    `gorm:"not null;default:''"` // the same of the network's token
	UpdatedAt time.Time `gorm:"not null"`
	// ReadUntil is a moment until which the network was read, written when one is
	// waited for; nil before the first.
	ReadUntil *time.Time
}

// ChainBlock is an applied block near the cursor, kept to find the common ancestor in a reorg.
type ChainBlock struct {
	Network string    `gorm:"primaryKey"`
	Height  int64     `gorm:"primaryKey;autoIncrement:false"`
	Hash    string    `gorm:"not null"`
	Parent  string    `gorm:"not null"`
	Time    time.Time `gorm:"not null"`
}

// SandboxBlock is a block of a simulated chain. Its hash covers height, parent,
// branch and transactions. The row at height 0 is never pruned: who changes the
// chain locks it.
type SandboxBlock struct {
	Network string    `gorm:"primaryKey"`
	Height  int64     `gorm:"primaryKey;autoIncrement:false"`
	Hash    string    `gorm:"not null"`
	Parent  string    `gorm:"not null"`
	Branch  int64     `gorm:"not null"` // how many blocks stood here before it
	Time    time.Time `gorm:"not null"`
}

// SandboxTx is a transaction of a simulated chain: in a block, or, where Height
// is nil, in the mempool. What left both has no row.
type SandboxTx struct {
	ID        int64
	Network   string    `gorm:"not null;uniqueIndex:sandbox_txes_txid,priority:1;index:sandbox_txes_height,priority:1"`
	TxID      string    `gorm:"not null;uniqueIndex:sandbox_txes_txid,priority:2"`
	Height    *int64    `gorm:"index:sandbox_txes_height,priority:2"`
	Held      bool      `gorm:"not null"` // stays in the mempool: no block takes it
	Body      string    `gorm:"not null"` // JSON: outputs, spend keys, reverted
	CreatedAt time.Time `gorm:"not null"`
}

// SandboxPlan is what a scenario still has to do, when its chain reaches a height.
type SandboxPlan struct {
	ID      int64
	Network string `gorm:"not null;index:sandbox_plans_due,priority:1"`
	Height  int64  `gorm:"not null;index:sandbox_plans_due,priority:2"`
	Body    string `gorm:"not null"` // JSON
}

// Departure is an amount of a coin that a transaction took from addresses of a business. Only core/payment/departure
// writes it.
type Departure struct {
	ID         int64
	Network    string       `gorm:"not null;uniqueIndex:departures_key,priority:1;index:departures_due,priority:1,where:NOT settled;index:departures_height,priority:1"`
	TxID       string       `gorm:"not null;uniqueIndex:departures_key,priority:2"`
	BusinessID int64        `gorm:"not null;uniqueIndex:departures_key,priority:3"`
	Domain     string       `gorm:"not null;uniqueIndex:departures_key,priority:4"`
	Coin       string       `gorm:"not null;uniqueIndex:departures_key,priority:5"`
	Amount     money.Amount `gorm:"not null"`                                    // smallest units of the coin
	Height     int64        `gorm:"not null;index:departures_height,priority:2"` // -1 when its block left the chain
	DueHeight  int64        `gorm:"not null;index:departures_due,priority:2"`    // of the network, from which it is booked
	Settled    bool         `gorm:"not null"`                                    // it was booked, or no part of it had to be
	Booked     money.Amount `gorm:"not null"`                                    // what the books show as moved by the owner
	CreatedAt  time.Time    `gorm:"not null"`
}
