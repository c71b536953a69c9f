package models

import "time"

// Tally says how far the figures of a business are counted.
type Tally struct {
	BusinessID int64  `gorm:"primaryKey;autoIncrement:false"`
	Zone       string `gorm:"not null"` // whose days they are by
	Ready      bool   `gorm:"not null"` // all payments are in them, or in changes
	Recounted  string `gorm:"not null"` // the last day (2006-01-02) that was counted once more after all had settled
}

// TallyDay counts the payments that a business initiated on a day, by their properties and
// state. Changes that are not folded in yet are added when it is read.
type TallyDay struct {
	BusinessID int64  `gorm:"primaryKey;autoIncrement:false"`
	Domain     string `gorm:"primaryKey"`
	Day        string `gorm:"primaryKey"` // 2006-01-02 in the tally's zone
	Currency   string `gorm:"primaryKey"`
	Method     string `gorm:"primaryKey"`
	Status     string `gorm:"primaryKey"` // a state, or "reversed"
	Count      int64  `gorm:"not null"`
	Amount     int64  `gorm:"not null"` // whole units of the currency
}

// TallyWait counts how long the payments of a day took until they were final.
type TallyWait struct {
	BusinessID int64  `gorm:"primaryKey;autoIncrement:false"`
	Domain     string `gorm:"primaryKey"`
	Day        string `gorm:"primaryKey"`
	Bucket     int    `gorm:"primaryKey;autoIncrement:false"` // of seconds, see core/stats
	Count      int64  `gorm:"not null"`
}

// TallyChange is a change of a payment that is not folded into its day yet: a row
// of its own, so that no payment waits for another one's.
type TallyChange struct {
	ID         int64
	BusinessID int64     `gorm:"not null;index:tally_changes_business,priority:1"`
	Domain     string    `gorm:"not null;index:tally_changes_business,priority:2"`
	PaymentAt  time.Time `gorm:"not null;index:tally_changes_business,priority:3"` // when the payment was initiated
	Currency   string    `gorm:"not null"`
	Method     string    `gorm:"not null"`
	Amount     int64     `gorm:"not null"`
	From       string    `gorm:"column:from_status;not null"` // "" for a new payment
	To         string    `gorm:"column:to_status;not null"`
	FromWait   int       `gorm:"not null"` // bucket; -1 for none
	ToWait     int       `gorm:"not null"`
}
