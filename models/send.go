package models

import (
	"time"

	"cointill/core/money"
)

// Send is money that the merchant sends from their own wallet: a refund or a payout (contract
// section 7). Only core/send writes it.
type Send struct {
	ID                int64  `gorm:"index:sends_list,priority:3;index:sends_state,priority:4"`
	BusinessID        int64  `gorm:"not null;uniqueIndex:sends_business_reference,priority:1;index:sends_list,priority:1;index:sends_state,priority:1;index:sends_completed,priority:1,where:status = 'successful'"`
	Domain            string `gorm:"not null;uniqueIndex:sends_business_reference,priority:2;index:sends_list,priority:2;index:sends_state,priority:2;index:sends_completed,priority:2"`
	Reference         string `gorm:"not null;uniqueIndex:sends_reference"` // SND_…
	BusinessReference string `gorm:"not null;uniqueIndex:sends_business_reference,priority:3"`
	Kind              string `gorm:"not null"` // refund or payout
	// PaymentID is the payment whose money is refunded, or whose address received the transfer.
	PaymentID *int64 `gorm:"index:sends_payment,where:payment_id IS NOT NULL"`
	// TransferID is the unmatched transfer that is refunded; nil for a payment's own money.
	TransferID *int64 `gorm:"index:sends_transfer,where:transfer_id IS NOT NULL"`

	Method  string       `gorm:"not null"` // crypto_bitcoin …
	Coin    string       `gorm:"not null"`
	Network string       `gorm:"not null;index:sends_address,priority:1,where:ready_at IS NOT NULL;index:sends_due_height,priority:1,where:due_height IS NOT NULL"`
	Amount  money.Amount `gorm:"not null"` // that the recipient receives, in smallest units
	// Fiat is the amount that was asked for, in hundredths of Currency; 0 for an amount in coin.
	Fiat     int64  `gorm:"not null"`
	Currency string `gorm:"not null"` // of Fiat and Value; "" where no price is known
	Rate     string `gorm:"not null"` // of Fiat: payment or today; "" for an amount in coin
	Price    string `gorm:"not null"` // decimal: currency units for one whole coin; "" where none is known
	Quote    string `gorm:"not null"` // JSON evidence of today's price; "" for others
	Value    int64  `gorm:"not null"` // of Amount, in hundredths of Currency
	ValueUSD int64  `gorm:"not null"` // of Amount, in cents, when it was asked for or approved

	Address string `gorm:"not null;index:sends_address,priority:2"` // "" while the customer is asked
	Tag     *int64
	// AddressBy says who named the address: customer or merchant.
	AddressBy string  `gorm:"not null"`
	Metadata  *string // as given, JSON text
	Note      string  `gorm:"not null"`
	Actor     string  `gorm:"not null"` // who asked for it

	Status    string `gorm:"not null;index:sends_state,priority:3"`
	Reason    string `gorm:"not null"` // "" when there is none
	Approvals int    `gorm:"not null"` // how many it needs
	Reversed  bool   `gorm:"not null"` // its money came back after it was final
	PaidTwice bool   `gorm:"not null"` // a second transaction paid it
	Hash      string `gorm:"not null"` // of the transaction that pays it; "" before one was seen
	// RequestSeal is the keyed hash of the request; "" for one of before version 0064 of the database.
	RequestSeal string `gorm:"not null;default:''"`
	// Sealed is the keyed hash of all that the wallet is asked to sign, made when it became ready.
	Sealed string `gorm:"not null"`
	// Booked is the account of the journal that its money is in; "" for the wallet. BookedTwice
	// is the amount that further transactions took and the books show.
	Booked      string       `gorm:"not null"`
	BookedTwice money.Amount `gorm:"not null"`
	// BookedFee is what the books show of the fees of its transactions, in the network's own coin.
	BookedFee money.Amount `gorm:"not null;default:0"`

	FinalDepth     int   `gorm:"not null"` // confirmations, ≥ 1
	FinalByNetwork bool  `gorm:"not null"` // additionally wait for the network's own finality
	Sequence       int   `gorm:"not null"` // number of its last event
	Steps          int   `gorm:"not null"` // number of its last timeline row
	Advanced       int64 `gorm:"not null"` // seconds its sandbox clock is ahead; 0 in live

	DueAt     *time.Time `gorm:"index:sends_due_at,where:due_at IS NOT NULL"`
	DueHeight *int64     `gorm:"index:sends_due_height,priority:2"`

	ReadyAt *time.Time // when it was approved: what a wallet sends from then on may pay it
	// ReadyHeight is the height of its network then: blocks above it may hold the transaction.
	ReadyHeight *int64
	SigningAt   *time.Time // when signing data was first handed out
	// Account is the payout wallet that the send was handed to, Terms what its transaction has beside the
	// send (JSON of the network's adapter), SignedHash the transaction that was checked; "" for none.
	Account    string `gorm:"not null"`
	Terms      string `gorm:"not null"`
	SignedHash string `gorm:"not null"`
	// SignedFee is the most that the checked transaction costs; exactly that where outputs are spent.
	SignedFee money.Amount `gorm:"not null;default:0"`
	// BroadcastAt is when the network was given the checked transaction; nil before, and where it refused that.
	BroadcastAt *time.Time
	// BatchID is the batch that the send was prepared in, which has the terms then; nil for none.
	BatchID     *int64     `gorm:"index:sends_batch,where:batch_id IS NOT NULL"`
	ProcessedAt *time.Time // first confirmation
	// AnotherWayBy is the person who said last that it was sent in another way, with a keyed hash of that; "" for none.
	// AnotherWayAt is when enough people had said so.
	AnotherWayBy   string `gorm:"not null;default:''"`
	AnotherWaySeal string `gorm:"not null;default:''"`
	AnotherWayAt   *time.Time
	EndedAt        *time.Time `gorm:"index:sends_completed,priority:3"`
	ExpiresAt      time.Time  `gorm:"not null"` // end of the wait for an address, or for the wallet
	CreatedAt      time.Time  `gorm:"not null"`
	UpdatedAt      time.Time  `gorm:"not null"`
}

// SendBatch is a transaction that pays several sends, on networks whose transactions spend outputs.
type SendBatch struct {
	ID         int64  `gorm:"index:send_batches_list,priority:3"`
	BusinessID int64  `gorm:"not null;index:send_batches_list,priority:1"`
	Domain     string `gorm:"not null;index:send_batches_list,priority:2"`
	Network    string `gorm:"not null"`
	// Paid are the numbers of the sends that it pays, in the order of its outputs, as a JSON list.
	Paid    string `gorm:"not null"`
	Account string `gorm:"not null"` // account key that pays
	Terms   string `gorm:"not null"` // what the transaction has beside its sends
	// SignedHash is the transaction that was checked; "" for none.
	SignedHash string `gorm:"not null"`
	// Sealed is the keyed hash of the sends, the account and the terms.
	Sealed    string    `gorm:"not null"`
	Actor     string    `gorm:"not null"` // who prepared it last
	CreatedAt time.Time `gorm:"not null"`
	UpdatedAt time.Time `gorm:"not null"`
}

// SendStep is one row of a send's timeline.
type SendStep struct {
	ID        int64
	SendID    int64     `gorm:"not null;uniqueIndex:send_steps_send,priority:1"`
	Number    int       `gorm:"not null;uniqueIndex:send_steps_send,priority:2"` // gap-free from 1
	Kind      string    `gorm:"not null"`
	From      string    `gorm:"column:from_status;not null"`
	To        string    `gorm:"column:to_status;not null"`
	Reason    string    `gorm:"not null"`
	Detail    string    `gorm:"not null"` // JSON
	Actor     string    `gorm:"not null"`
	At        time.Time `gorm:"not null"` // on the send's clock
	CreatedAt time.Time `gorm:"not null"`
}

// SendApproval is the agreement of a person to a send.
type SendApproval struct {
	ID     int64
	SendID int64  `gorm:"not null;uniqueIndex:send_approvals_actor,priority:1"`
	Actor  string `gorm:"not null;uniqueIndex:send_approvals_actor,priority:2"`
	// Content is the keyed hash of the person and the whole send as they saw it: a send that was
	// changed afterwards isn't approved.
	Content   string    `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
}

// SendClaim lets the customer of a refund name its address. The page is reached by one token,
// the address is confirmed by another that is mailed.
type SendClaim struct {
	SendID int64  `gorm:"primaryKey;autoIncrement:false"`
	Hash   string `gorm:"not null;uniqueIndex:send_claims_hash"` // hex HMAC-SHA-256 of the page's token
	// The address that waits for its confirmation; "" for none.
	Address string `gorm:"not null"`
	Tag     *int64
	// hex HMAC-SHA-256 of the token that confirms Address; "" for none
	ConfirmHash string     `gorm:"not null;index:send_claims_confirm,where:confirm_hash <> ''"`
	Mails       int        `gorm:"not null"` // that were queued
	MailedAt    *time.Time // the last
	CreatedAt   time.Time  `gorm:"not null"`
	UpdatedAt   time.Time  `gorm:"not null"`
}

// SendDestination is an address that a network's follower looks for, as sends go there. The rows
// are a watch list, so none is ever deleted.
type SendDestination struct {
	ID        int64     `gorm:"index:send_destinations_list,priority:2"`
	Network   string    `gorm:"not null;uniqueIndex:send_destinations_place,priority:1;index:send_destinations_list,priority:1"`
	Address   string    `gorm:"not null;uniqueIndex:send_destinations_place,priority:2"`
	CreatedAt time.Time `gorm:"not null"`
}

// PayoutAddress is an address that a business sends to or means to. A new one waits before the
// first send to it is ready.
type PayoutAddress struct {
	ID         int64
	BusinessID int64     `gorm:"not null;uniqueIndex:payout_addresses_place,priority:1"`
	Domain     string    `gorm:"not null;uniqueIndex:payout_addresses_place,priority:2"`
	Network    string    `gorm:"not null;uniqueIndex:payout_addresses_place,priority:3"`
	Address    string    `gorm:"not null;uniqueIndex:payout_addresses_place,priority:4"`
	Tag        int64     `gorm:"not null;uniqueIndex:payout_addresses_place,priority:5"` // -1: none
	Name       string    `gorm:"not null"`                                               // "" for one that only a send named
	CreatedAt  time.Time `gorm:"not null"`
	ReleasedAt time.Time `gorm:"not null"` // from when sends to it need not wait
}

// SendRules are a business's rules of approval from a moment on. The row with the latest moment
// that has passed holds.
type SendRules struct {
	ID         int64     `gorm:"index:send_rules_business,priority:4"`
	BusinessID int64     `gorm:"not null;index:send_rules_business,priority:1"`
	Domain     string    `gorm:"not null;index:send_rules_business,priority:2"`
	OneFrom    int64     `gorm:"not null"` // US cents from which a send needs one approver
	TwoFrom    int64     `gorm:"not null"` // from which it needs two; 0 for never
	DayLimit   int64     `gorm:"not null"` // US cents that may be approved in 24 hours; 0 for no limit
	From       time.Time `gorm:"column:valid_from;not null;index:send_rules_business,priority:3"`
	Seal       string    `gorm:"not null;default:''"` // keyed hash of the fields above
	Actor      string    `gorm:"not null"`
	CreatedAt  time.Time `gorm:"not null"`
}

// PayoutWallet is an account that a business sends from, on networks with accounts: transactions of
// it pay the business's sends. An account belongs to one business.
type PayoutWallet struct {
	ID         int64
	BusinessID int64  `gorm:"not null;index:payout_wallets_list,priority:1"`
	Domain     string `gorm:"not null;index:payout_wallets_list,priority:2"`
	Network    string `gorm:"not null;uniqueIndex:payout_wallets_account,priority:1"`
	Address    string `gorm:"not null;uniqueIndex:payout_wallets_account,priority:2"`
	// SpendPrefix is what the spend keys of its transactions begin with.
	SpendPrefix string    `gorm:"not null"`
	Actor       string    `gorm:"not null"`
	CreatedAt   time.Time `gorm:"not null"`
}
