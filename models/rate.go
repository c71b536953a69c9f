package models

import "time"

// Rate is what one source of prices last said about a pair. Prices are
// instance-wide: they belong to no business.
type Rate struct {
	ID     int64
	Source string `gorm:"not null;uniqueIndex:rates_pair,priority:1"`
	Base   string `gorm:"not null;uniqueIndex:rates_pair,priority:2"` // BTC, USD …
	Quote  string `gorm:"not null;uniqueIndex:rates_pair,priority:3"` // ISO 4217 for fiat
	// the address it came from, without a password
	Origin string `gorm:"not null"`
	// the last that was accepted, in decimals; "" when none was
	Value     string    `gorm:"not null"`
	At        time.Time `gorm:"not null"` // the source's own time of it
	FetchedAt time.Time `gorm:"not null"` // when it was accepted
	// The newest that was refused, and why; kept until another is.
	Refused      string `gorm:"not null"`
	RefusedValue string `gorm:"not null"`
	RefusedAt    *time.Time
}

// RateSource is how asking a source goes.
type RateSource struct {
	Name       string     `gorm:"primaryKey"`
	Origin     string     `gorm:"not null"` // the address that was asked, without a password
	AskedAt    time.Time  `gorm:"not null"`
	AnsweredAt *time.Time // nil: never
	NextAt     time.Time  `gorm:"not null"`
	Failures   int        `gorm:"not null"` // in a row
	Problem    string     `gorm:"not null"` // why it failed last, fit to be shown; "" when it didn't
}

// RateMinute is what a pair was worth in a minute, by the sources that agreed.
type RateMinute struct {
	Base    string `gorm:"primaryKey"`
	Quote   string `gorm:"primaryKey"`
	Minute  int64  `gorm:"primaryKey;autoIncrement:false"` // since 1970
	Value   string `gorm:"not null"`
	Sources int    `gorm:"not null"`
}

// RatePolicy is how a business wants a currency priced. No row: at the official rate.
type RatePolicy struct {
	ID         int64
	BusinessID int64  `gorm:"not null;uniqueIndex:rate_policies_currency,priority:1"`
	Domain     string `gorm:"not null;uniqueIndex:rate_policies_currency,priority:2"`
	Currency   string `gorm:"not null;uniqueIndex:rate_policies_currency,priority:3"` // the interface's code: GHC
	Market     string `gorm:"not null"`                                               // official or street
	Spread     int    `gorm:"not null"`                                               // basis points
	// fiat units for one US dollar; "" for none
	Manual      string `gorm:"not null"`
	ManualUntil *time.Time
	UpdatedBy   string    `gorm:"not null"`
	UpdatedAt   time.Time `gorm:"not null"`
}
