package models

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
)

// Customer is a payer of a business in a domain, by e-mail.
type Customer struct {
	ID         int64  `gorm:"index:customers_recent,priority:4"`
	BusinessID int64  `gorm:"not null;uniqueIndex:customers_email,priority:1;index:customers_name,priority:1;index:customers_last,priority:1;index:customers_recent,priority:1"`
	Domain     string `gorm:"not null;uniqueIndex:customers_email,priority:2;index:customers_name,priority:2;index:customers_last,priority:2;index:customers_recent,priority:2"`
	Email      string `gorm:"not null;uniqueIndex:customers_email,priority:3"`
	Code       string `gorm:"not null;uniqueIndex:customers_code"` // CUS_…
	FirstName  string `gorm:"not null"`
	LastName   string `gorm:"not null"`
	// SearchName and SearchLast are the whole and the last name as searches
	// compare them: in small letters, without accents.
	SearchName string    `gorm:"not null;default:'';index:customers_name,priority:3"`
	SearchLast string    `gorm:"not null;default:'';index:customers_last,priority:3"`
	CreatedAt  time.Time `gorm:"not null"`
	UpdatedAt  time.Time `gorm:"not null;index:customers_recent,priority:3"` // of the last payment
}

// Payment is one payment intent with everything that was agreed when it was
// initiated, and where its life stands. Only core/payment writes it.
type Payment struct {
	// The indexes of lists end in the time of creation and the row: their order.
	ID                int64  `gorm:"index:payments_list,priority:4;index:payments_state,priority:5;index:payments_method,priority:5;index:payments_currency,priority:5;index:payments_network,priority:5;index:payments_amount,priority:5;index:payments_coin_amount,priority:6;index:payments_of_link,priority:3;index:payments_of_customer,priority:3;index:payments_unresolved,priority:4;index:payments_reversed,priority:4"`
	BusinessID        int64  `gorm:"not null;uniqueIndex:payments_business_reference,priority:1;index:payments_list,priority:1;index:payments_state,priority:1;index:payments_method,priority:1;index:payments_currency,priority:1;index:payments_network,priority:1;index:payments_amount,priority:1;index:payments_coin_amount,priority:1;index:payments_unresolved,priority:1,where:status = 'declined' AND resolved_at IS NULL;index:payments_reference_end,priority:1;index:payments_business_reference_end,priority:1;index:payments_reversed,priority:1,where:reversed"`
	Domain            string `gorm:"not null;uniqueIndex:payments_business_reference,priority:2;index:payments_list,priority:2;index:payments_state,priority:2;index:payments_method,priority:2;index:payments_currency,priority:2;index:payments_network,priority:2;index:payments_amount,priority:2;index:payments_coin_amount,priority:2;index:payments_unresolved,priority:2;index:payments_reference_end,priority:2;index:payments_business_reference_end,priority:2;index:payments_reversed,priority:2"`
	Reference         string `gorm:"not null;uniqueIndex:payments_reference;index:payments_reference_end,priority:3,expression:substr(reference\\, length(reference) - 3)"` // PAY_…
	BusinessReference string `gorm:"not null;uniqueIndex:payments_business_reference,priority:3;index:payments_business_reference_end,priority:3,expression:substr(business_reference\\, length(business_reference) - 3)"`
	TokenHash         string `gorm:"not null;uniqueIndex:payments_token_hash"` // hex SHA-256 of the access token
	AuthorizationCode string `gorm:"not null;index:payments_authorization"`    // AUTH_…
	LinkID            *int64 `gorm:"index:payments_of_link,priority:1,where:link_id IS NOT NULL"`

	// The request.
	CustomerID    int64  `gorm:"not null;index:payments_of_customer,priority:1;index:payments_list,priority:9"`
	CustomerName  string `gorm:"not null"` // as given with this payment
	CustomerEmail string `gorm:"not null"` // as given
	// that the customer read the page in when opening it, such as "fr"; "" before
	Language string `gorm:"not null"`
	Currency string `gorm:"not null;index:payments_list,priority:7;index:payments_currency,priority:3"`
	// whole major units
	Amount int64 `gorm:"not null;index:payments_list,priority:8;index:payments_amount,priority:3"`
	// crypto_bitcoin …
	Method string `gorm:"not null;index:payments_list,priority:6;index:payments_method,priority:3"`
	Coin   string `gorm:"not null;index:payments_coin_amount,priority:4"`
	// Network is the one that is chosen now, and the one on which money came first: see PaymentNetwork
	Network string `gorm:"not null;index:payments_network,priority:3;index:payments_due_height,priority:1,where:due_height IS NOT NULL;index:payments_due_read,priority:1,where:due_read IS NOT NULL"`
	// NetworkFixed says that the request named the network: its customer can't choose another one.
	NetworkFixed bool         `gorm:"not null;default:false"`
	Due          money.Amount `gorm:"not null;index:payments_coin_amount,priority:3"` // smallest units of the coin
	// ExactAmount says that Due differs from the amounts of other payments to the address: see HeldAmount.
	ExactAmount bool    `gorm:"not null;default:false"`
	Price       string  `gorm:"not null"` // decimal: fiat units for one whole coin
	Quote       string  `gorm:"not null"` // JSON evidence of the price
	Metadata    *string // as given, JSON text
	// where the customer can go afterwards, as given; "" for nowhere, or where its link says
	RedirectURL string `gorm:"not null;default:''"`

	// The rules that apply to it, copied at initiation.
	FinalDepth     int    `gorm:"not null"` // confirmations, ≥ 1
	FinalByNetwork bool   `gorm:"not null"` // additionally wait for the network's own finality
	UnderTolerance int    `gorm:"not null"` // basis points
	OverTolerance  int    `gorm:"not null"`
	LatePayments   string `gorm:"not null"`

	// Where it stands.
	Status        string       `gorm:"not null;index:payments_list,priority:5;index:payments_state,priority:3"`
	Reason        string       `gorm:"not null"` // "" when there is none
	Remark        string       `gorm:"not null"` // "-" when there is none
	Reversed      bool         `gorm:"not null"`
	Paid          money.Amount `gorm:"not null"` // sum of counted transfers that are on the chain or in the mempool
	Address       string       `gorm:"not null"` // "" until opened
	Tag           *int64
	OpenedAt      *time.Time
	FirstSeenAt   *time.Time
	SettledAt     *time.Time // when it reached Successful, Declined, Failed, Abandoned or Expired
	AbandonedAt   *time.Time
	ResolvedAt    *time.Time // when a refund of a Declined one was recorded; nil while it waits to be dealt with
	Sequence      int        `gorm:"not null"` // number of its last event
	Steps         int        `gorm:"not null"` // number of its last timeline row; the version for conditional updates
	Advanced      int64      `gorm:"not null"` // seconds its sandbox clock is ahead of the wall clock; 0 in live
	AdvanceOnSeen int64      `gorm:"not null"` // seconds to advance when its next transfer is first seen; sandbox only

	// When to look at it again: a wall-clock time, a height of its network, and a
	// wall-clock time until which its network was read.
	DueAt     *time.Time `gorm:"index:payments_due_at,where:due_at IS NOT NULL"`
	DueHeight *int64     `gorm:"index:payments_due_height,priority:2,where:due_height IS NOT NULL"`
	DueRead   *time.Time `gorm:"index:payments_due_read,priority:2,where:due_read IS NOT NULL"`

	ExpiresAt  time.Time `gorm:"not null"` // end of the 7-minute window
	AbandonsAt time.Time `gorm:"not null"` // end of the 24-hour window
	CreatedAt  time.Time `gorm:"not null;index:payments_list,priority:3;index:payments_state,priority:4;index:payments_method,priority:4;index:payments_currency,priority:4;index:payments_network,priority:4;index:payments_amount,priority:4;index:payments_coin_amount,priority:5;index:payments_of_link,priority:2;index:payments_of_customer,priority:2;index:payments_unresolved,priority:3;index:payments_reversed,priority:3"`
	UpdatedAt  time.Time `gorm:"not null"`
}

// PaymentValue is a value in the metadata of a payment, by which it is found. Its time is the payment's.
type PaymentValue struct {
	BusinessID int64     `gorm:"not null;primaryKey;autoIncrement:false"`
	Domain     string    `gorm:"not null;primaryKey"`
	Value      string    `gorm:"not null;primaryKey"` // as core/payment/value folds it
	CreatedAt  time.Time `gorm:"not null;primaryKey"`
	PaymentID  int64     `gorm:"not null;primaryKey;autoIncrement:false"`
}

// Destination is an address, or an address with a tag, that belongs to one payment permanently, which has one under
// each home network that its customer chose. The rows are also the watch list, so none is ever deleted.
type Destination struct {
	ID         int64  `gorm:"index:destinations_list,priority:2"`
	Network    string `gorm:"not null;index:destinations_list,priority:1;uniqueIndex:destinations_place,priority:1;index:destinations_barred,priority:3;uniqueIndex:destinations_payment,priority:2"`
	Address    string `gorm:"not null;uniqueIndex:destinations_place,priority:2;index:destinations_lower,expression:lower(address)"`
	Tag        int64  `gorm:"not null;uniqueIndex:destinations_place,priority:3"` // -1: none
	BusinessID int64  `gorm:"not null;index:destinations_barred,priority:1,where:barred_at IS NOT NULL"`
	Domain     string `gorm:"not null;index:destinations_barred,priority:2"`
	// nil: a shared account that tags hang on, or left out by wallet advance
	PaymentID *int64 `gorm:"uniqueIndex:destinations_payment,priority:1"`
	WalletID  *int64 `gorm:"index:destinations_wallet,priority:1"`
	Index     *int64 `gorm:"column:idx;index:destinations_wallet,priority:2"` // of the wallet's addresses
	// ChangeOf is the wallet whose branch for change has the address at Index, where sends return their
	// rest; nil for an address of payments.
	ChangeOf  *int64
	BarredAt  *time.Time // since when the token's issuer is known to have barred it; nil where it hasn't
	CreatedAt time.Time  `gorm:"not null"`
}

// Holding is what the address of a payment held after a block, on a network where
// money can come to an address by a transaction that pays another.
type Holding struct {
	PaymentID int64  `gorm:"primaryKey;autoIncrement:false"`
	Network   string `gorm:"primaryKey;index:network_holdings_next,priority:1;index:network_holdings_unknown,where:NOT known"`
	Address   string `gorm:"not null"`
	// of the block: at first the network's last when the customer was shown the address
	Height int64        `gorm:"not null"`
	Known  bool         `gorm:"not null"` // whether Amount was asked for yet
	Amount money.Amount `gorm:"not null"` // of the network's own coin
	// the first finalized block with which it is compared again
	Next int64 `gorm:"not null;index:network_holdings_next,priority:2"`
}

// TableName differs from the table of the release before, which had one row for a payment.
func (Holding) TableName() string { return "network_holdings" }

// MethodNetwork is what a business set for one network of a payment method's coin, by the network's
// code. Without a row the coin's first network is on, and the others are off.
type MethodNetwork struct {
	BusinessID  int64     `gorm:"primaryKey;autoIncrement:false"`
	Domain      string    `gorm:"primaryKey"`
	Code        string    `gorm:"primaryKey"` // crypto_tether …
	Network     string    `gorm:"primaryKey"` // bsc …
	Enabled     bool      `gorm:"not null"`
	Preselected bool      `gorm:"not null"` // customers see it chosen
	UpdatedAt   time.Time `gorm:"not null"`
}

// PaymentNetwork is a further network of a payment, beside Payment.Network: its customer was shown it
// before choosing another one, or money that counts came there. The columns mean the same as in Payment.
type PaymentNetwork struct {
	PaymentID int64  `gorm:"primaryKey;autoIncrement:false"`
	Network   string `gorm:"primaryKey;index:payment_networks_due_height,priority:1,where:due_height IS NOT NULL;index:payment_networks_due_read,priority:1,where:due_read IS NOT NULL"`
	// nil when it wasn't shown; it is not waited for then
	ShownAt        *time.Time
	FinalDepth     int        `gorm:"not null"`
	FinalByNetwork bool       `gorm:"not null"`
	DueHeight      *int64     `gorm:"index:payment_networks_due_height,priority:2,where:due_height IS NOT NULL"`
	DueRead        *time.Time `gorm:"index:payment_networks_due_read,priority:2,where:due_read IS NOT NULL"`
}

// Wallet is what a merchant receives with on a network: the public key of an
// account of their own wallet. No private key is ever stored.
type Wallet struct {
	ID         int64
	BusinessID int64  `gorm:"not null;uniqueIndex:wallets_active,priority:1,where:active"`
	Domain     string `gorm:"not null;uniqueIndex:wallets_active,priority:2,where:active"`
	Network    string `gorm:"not null;uniqueIndex:wallets_active,priority:3,where:active;uniqueIndex:wallets_fingerprint,priority:1;index:wallets_account,priority:1;index:wallets_change,priority:1"`
	// as entered: an extended public key or a descriptor
	Key    string `gorm:"not null"`
	Script string `gorm:"not null"` // pkh, sh(wpkh), wpkh or tr
	// of the raw key and chain code whose children the addresses are
	Fingerprint string `gorm:"not null;uniqueIndex:wallets_fingerprint,priority:2"`
	// the same of the key as entered, the furthest up that was seen
	Account string `gorm:"not null;index:wallets_account,priority:2"`
	// the same of the branch that the merchant's own wallet keeps its change on; "" where that isn't known
	Change string `gorm:"not null;default:'';index:wallets_change,priority:2"`
	// codes of the networks that one address was entered for, with spaces between them; "" for all
	Networks string `gorm:"not null;default:''"`
	// when a payment last found few of the amounts near its own free at the one address; nil for never
	RunsShortAt *time.Time
	// when a signed message proved that the merchant holds the key of the one address; nil for never
	ProvedAt *time.Time
	// of the next address; only ever rises
	NextIndex int64 `gorm:"not null"`
	// of the next address for change: only ever rises, when a transaction with it is seen
	NextChange int64 `gorm:"not null;default:0"`
	// new payments are received with it
	Active    bool      `gorm:"not null"`
	CreatedBy string    `gorm:"not null"` // its first user; "" before one
	CreatedAt time.Time `gorm:"not null"`
	UpdatedAt time.Time `gorm:"not null"`
}

// ListedAddress is an address of a list that a merchant receives with, so that no
// other business has it in one.
type ListedAddress struct {
	Network    string `gorm:"primaryKey;not null"`
	Address    string `gorm:"primaryKey;not null"`
	BusinessID int64  `gorm:"not null"`
	Domain     string `gorm:"not null"`
}

// HeldAmount is the amount of a payment to the one address that its merchant receives with. No other payment to
// the address has it. A row stays after the payment's end until another payment is given the amount.
type HeldAmount struct {
	// Network is the home network of the address.
	Network   string       `gorm:"primaryKey;not null;index:held_amounts_client,priority:1"`
	Address   string       `gorm:"primaryKey;not null;index:held_amounts_client,priority:2"`
	Asset     string       `gorm:"primaryKey;not null;index:held_amounts_client,priority:3"`
	Amount    money.Amount `gorm:"primaryKey;not null"`
	PaymentID int64        `gorm:"not null"`
	WalletID  int64        `gorm:"not null"`
	HeldAt    time.Time    `gorm:"not null;index:held_amounts_client,priority:5"`
	// Client is a keyed hash of the internet address that the payment was opened from; "" where that isn't known.
	Client string `gorm:"not null;default:'';index:held_amounts_client,priority:4"`
}

// Transfer is value that moved, or is about to move, to a destination of ours.
type Transfer struct {
	ID        int64  `gorm:"index:transfers_unspent,priority:2,where:spendable;index:transfers_unmatched,priority:3;index:transfers_spendable,priority:4,where:spendable;index:transfers_reserved,priority:5,where:reserved_by IS NOT NULL;index:transfers_reserved_batch,priority:2,where:reserved_batch IS NOT NULL"`
	Network   string `gorm:"not null;index:transfers_unspent,priority:1,where:spendable;index:transfers_spendable,priority:3;index:transfers_reserved,priority:3;uniqueIndex:transfers_key,priority:1;index:transfers_height,priority:1;index:transfers_waiting,priority:1,where:height IS NULL AND NOT gone;index:transfers_conflict,priority:1,where:conflict_height IS NOT NULL;index:transfers_unbooked,priority:1,where:business_id <> 0 AND (height IS NOT NULL AND NOT gone AND NOT reverted AND (booked = '' OR booked = 'reversed') OR (height IS NULL OR gone OR reverted) AND booked <> '' AND booked <> 'reversed' AND booked <> 'none')"`
	TxID      string `gorm:"not null;uniqueIndex:transfers_key,priority:2;index:transfers_tx;index:transfers_hash,expression:lower(tx_id)"`
	Index     int    `gorm:"column:idx;not null;uniqueIndex:transfers_key,priority:3"`
	Asset     string `gorm:"not null"`
	Address   string `gorm:"not null"`
	Tag       *int64
	Amount    money.Amount `gorm:"not null"`
	Maturity  int64        `gorm:"not null;default:0"` // confirmations that the network demands before it can be spent
	Reverted  bool         `gorm:"not null"`
	BlockHash string       `gorm:"not null"` // "" while unconfirmed
	// Height is nil while unconfirmed.
	Height *int64 `gorm:"index:transfers_height,priority:2;index:transfers_waiting,priority:2"`
	// Gone: neither in the mempool nor in the best chain. Why is GoneReason: replaced, dropped or reorged.
	Gone       bool   `gorm:"not null"`
	GoneReason string `gorm:"not null"`
	// GoneAt is since when, on the payment's own clock; nil when it isn't gone, or
	// went before that was written down.
	GoneAt *time.Time
	// A confirmed transaction that used up one of this one's spend keys.
	ConflictTx     string    `gorm:"not null"`
	ConflictHeight *int64    `gorm:"index:transfers_conflict,priority:2"`
	FirstSeenAt    time.Time `gorm:"not null"` // wall clock, or the block's time where that is earlier
	// BusinessID is the owner; 0 when it is unknown.
	BusinessID int64  `gorm:"not null;index:transfers_spendable,priority:1;index:transfers_reserved,priority:1;index:transfers_business,priority:1;index:transfers_unmatched,priority:1,where:unmatched <> '' AND resolution = ''"`
	Domain     string `gorm:"not null;index:transfers_spendable,priority:2;index:transfers_reserved,priority:2;index:transfers_business,priority:2;index:transfers_unmatched,priority:2"`
	PaymentID  *int64 `gorm:"index:transfers_payment"`
	// SendID is the send that it pays; nil for none. A transfer that only pays a send has no owner.
	SendID *int64 `gorm:"index:transfers_send,where:send_id IS NOT NULL"`
	// SeenAt is FirstSeenAt on the payment's own clock.
	SeenAt *time.Time
	// Unmatched says why it credits no payment: wrong_asset, network_off, address_not_entered, missing_tag, unknown_tag,
	// unknown_payment, other_amount, not_payment, no_transaction, unproved, surplus, after_final; "" when it counts.
	Unmatched string `gorm:"not null"`
	// Resolution is a person's decision about it: attached, refunded; "" before one.
	Resolution string `gorm:"not null;default:''"`
	// Booked is the account of the journal that holds it, "" for none, with BookedValue.
	Booked string `gorm:"not null;default:'';index:transfers_unbooked,priority:2"`
	// BookedValue is in hundredths of the payment's currency.
	BookedValue int64 `gorm:"not null;default:0"`
	// Spendable is true on networks whose transactions spend outputs, until a node has said for a day
	// that the output is spent. SpentAt is when a node first said so; nil while it is unspent.
	Spendable bool `gorm:"not null;default:false"`
	SpentAt   *time.Time
	// Fee is what the transaction cost the business whose send it pays, in the smallest unit of the
	// network's own coin; 0 where it isn't known, and for other transfers.
	Fee money.Amount `gorm:"not null;default:0"`
	// ReservedBy is the send that was last prepared with the output, ReservedBatch the batch of sends; at
	// most one of them is set.
	ReservedBy    *int64    `gorm:"index:transfers_reserved,priority:4"`
	ReservedBatch *int64    `gorm:"index:transfers_reserved_batch,priority:1"`
	CreatedAt     time.Time `gorm:"not null"`
	UpdatedAt     time.Time `gorm:"not null"`
}

// BalanceTxID stands for the transaction of money that only the balance of an address shows after a block.
func BalanceTxID(height int64, address string) string {
	return fmt.Sprint("block ", height, " ", address)
}

// IsConfirmed reports whether a block of the chain holds the transfer, and it wasn't reverted there.
func (t Transfer) IsConfirmed() bool { return t.Height != nil && !t.Gone && !t.Reverted }

// FormatAmount returns the amount with its asset, in whole units where the asset's unit is known.
func (t Transfer) FormatAmount() string {
	if coin := money.Coin(t.Asset); coin.Info().Coin == coin {
		return coin.Format(t.Amount) + " " + t.Asset
	}
	if t.Amount.Sign() == 0 { // the asset's name has the amount
		return t.Asset
	}
	return t.Amount.String() + " of the smallest units of " + t.Asset
}

// ShownByBalance reports whether only the balance of the address shows the transfer, and no node its transaction.
func (t Transfer) ShownByBalance() bool {
	return t.Height != nil && t.TxID == BalanceTxID(*t.Height, t.Address)
}

// Spend is a spend key of a transfer that is not final, kept to notice what replaces it.
type Spend struct {
	ID         int64
	Network    string `gorm:"not null;uniqueIndex:spends_key,priority:1"`
	Key        string `gorm:"column:spend_key;not null;uniqueIndex:spends_key,priority:2"`
	TransferID int64  `gorm:"not null;uniqueIndex:spends_key,priority:3;index:spends_transfer"`
}

// Step is one row of a payment's timeline.
type Step struct {
	ID        int64
	PaymentID int64     `gorm:"not null;uniqueIndex:steps_payment,priority:1"`
	Number    int       `gorm:"not null;uniqueIndex:steps_payment,priority:2"` // gap-free from 1
	Kind      string    `gorm:"not null"`                                      // "state", "transfer", "sandbox", …
	From      string    `gorm:"column:from_status;not null"`
	To        string    `gorm:"column:to_status;not null"`
	Reason    string    `gorm:"not null"`
	Remark    string    `gorm:"not null"`
	Detail    string    `gorm:"not null"` // JSON
	Actor     string    `gorm:"not null"`
	At        time.Time `gorm:"not null"` // on the payment's clock
	CreatedAt time.Time `gorm:"not null"` // on the wall clock
}

// Link is a payment link: a page on which customers start payments themselves.
type Link struct {
	ID          int64
	BusinessID  int64  `gorm:"not null;index:links_business,priority:1"`
	Domain      string `gorm:"not null;index:links_business,priority:2"`
	Code        string `gorm:"not null;uniqueIndex:links_code"`
	Title       string `gorm:"not null"`
	Description string `gorm:"not null"`
	Currency    string `gorm:"not null"`
	Amount      *int64 // nil: the customer decides, between MinAmount and MaxAmount
	MinAmount   int64  `gorm:"not null"`
	MaxAmount   int64  `gorm:"not null"`
	Methods     string `gorm:"not null"` // payment_method codes with commas; "" means all that are enabled
	RedirectURL string `gorm:"not null"`
	UsageLimit  *int64
	Used        int64 `gorm:"not null"` // payments started, less those that ended without money
	Active      bool  `gorm:"not null"`
	ExpiresAt   *time.Time
	CreatedAt   time.Time `gorm:"not null"`
	UpdatedAt   time.Time `gorm:"not null"`
}

// Resolution is what a person did about money that came otherwise than asked: a
// refund made outside, or an unmatched transfer that was attached to a payment.
type Resolution struct {
	ID         int64  `gorm:"index:resolutions_list,priority:4"`
	BusinessID int64  `gorm:"not null;index:resolutions_list,priority:1,where:transfer_id IS NOT NULL"`
	Domain     string `gorm:"not null;index:resolutions_list,priority:2"`
	Kind       string `gorm:"not null;index:resolutions_list,priority:3"` // "attached" or "refunded"
	TransferID *int64 `gorm:"uniqueIndex:resolutions_transfer,where:transfer_id IS NOT NULL"`
	PaymentID  *int64 `gorm:"index:resolutions_payment,where:payment_id IS NOT NULL"`
	Reason     string `gorm:"not null"` // why the transfer credited nothing; "" for a payment's refund
	Asset      string `gorm:"not null"` // the coin
	// Network is where the refunded money of a payment was; "" for the payment's own network, and for a transfer.
	Network string       `gorm:"not null;default:''"`
	Amount  money.Amount `gorm:"not null"` // smallest units of the coin
	TxID    string       `gorm:"not null"` // of the refund; "" when only a note was given
	// SendID is the send that refunded the transfer; nil for what a person recorded.
	SendID    *int64
	Note      string    `gorm:"not null"`
	Actor     string    `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
}

// PaymentNote is a note that a member wrote about a payment. No API and no page of customers shows it.
type PaymentNote struct {
	ID         int64     `gorm:"index:payment_notes_payment,priority:2"`
	BusinessID int64     `gorm:"not null"`
	Domain     string    `gorm:"not null"`
	PaymentID  int64     `gorm:"not null;index:payment_notes_payment,priority:1"`
	Note       string    `gorm:"not null"`
	Actor      string    `gorm:"not null"`
	CreatedAt  time.Time `gorm:"not null"`
}

// UnmatchedIDPattern is the form of the ids of unmatched transfers in the API.
const UnmatchedIDPattern = `^UNM_[1-9][0-9]{0,17}$`

var unmatchedIDs = regexp.MustCompile(UnmatchedIDPattern)

// UnmatchedID returns the id of an unmatched transfer in the API; "" for another transfer.
func (t Transfer) UnmatchedID() string {
	if t.Unmatched == "" {
		return ""
	}
	return FormatUnmatchedID(t.ID)
}

// FormatUnmatchedID returns the id of a transfer that is, or was, unmatched.
func FormatUnmatchedID(id int64) string { return "UNM_" + strconv.FormatInt(id, 10) }

// ParseUnmatchedID reads an id of the API; ok is false for a text of another form.
func ParseUnmatchedID(text string) (id int64, ok bool) {
	if !unmatchedIDs.MatchString(text) {
		return 0, false
	}
	id, err := strconv.ParseInt(strings.TrimPrefix(text, "UNM_"), 10, 64)
	return id, err == nil
}
