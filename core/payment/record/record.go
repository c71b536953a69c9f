// Package record is the payment record of interface section 2.3: what verification, lists and events tell of
// a payment.
package record

import "encoding/json"

// Record is the payment record of interface section 2.3: the verification
// answer, and the data of every event.
type Record struct {
	Domain            string   `json:"domain"`
	Reference         string   `json:"reference"`
	BusinessReference string   `json:"business_reference"`
	AuthorizationCode string   `json:"authorization_code"`
	Status            string   `json:"status"`
	Reason            string   `json:"reason"`
	Remark            string   `json:"remark"`
	Reversed          bool     `json:"reversed"`
	Business          Business `json:"business"`
	Customer          Customer `json:"customer"`
	Transaction       Detail   `json:"transaction"`
	Transfers         []Move   `json:"transfers"`
	Sends             []Send   `json:"sends"`
	Rate              Rate     `json:"rate"`
	ExpiresAt         string   `json:"expires_at"`
	CompletedAt       *string  `json:"completed_at"` // null before it is Successful or Declined
	CreatedAt         string   `json:"created_at"`
}

// Business is the merchant in a record.
type Business struct {
	Name   string `json:"name"`
	Code   string `json:"code"`
	Domain string `json:"domain"`
}

// Customer is the payer in a record.
type Customer struct {
	FullName string `json:"full_name"`
	Email    string `json:"email"`
	Code     string `json:"code"`
}

// Method is the payment method in a record.
type Method struct {
	Code     string `json:"code"`
	Currency string `json:"currency"`
}

// Detail is data.transaction of interface section 2.3, with the exact difference between
// the amounts due and received.
type Detail struct {
	ChargedAmount         string          `json:"charged_amount"`
	AmountPaid            string          `json:"amount_paid"`
	Difference            string          `json:"difference"` // paid minus charged
	Currency              string          `json:"currency"`
	ChargedAmountInCrypto string          `json:"charged_amount_in_crypto"`
	AmountPaidInCrypto    string          `json:"amount_paid_in_crypto"`
	DifferenceInCrypto    string          `json:"difference_in_crypto"`
	SurplusInCrypto       string          `json:"surplus_in_crypto"`
	RefundedAmount        string          `json:"refunded_amount"`
	RefundedInCrypto      string          `json:"refunded_amount_in_crypto"`
	PaymentMethod         Method          `json:"payment_method"`
	Network               string          `json:"network"`
	CryptoTransactionHash string          `json:"crypto_transaction_hash"`
	CryptoConfirmations   int64           `json:"crypto_confirmations"`
	Metadata              json.RawMessage `json:"metadata"`
}

// Move is one transfer in a record.
type Move struct {
	Hash          string `json:"hash"`
	Network       string `json:"network"`
	Amount        string `json:"amount"`
	Counts        bool   `json:"counts"`       // it is part of the amount paid
	Surplus       bool   `json:"surplus"`      // the payment ended without it, or it came later
	UnmatchedID   string `json:"unmatched_id"` // of a surplus transfer under Unmatched; "" for others
	Confirmations int64  `json:"confirmations"`
	Status        string `json:"status"` // pending, confirmed, replaced, dropped, reorged or reverted
	FirstSeenAt   string `json:"first_seen_at"`
}

// Send is a refund by a send in a record. It has no destination, note or person.
type Send struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Amount string `json:"amount"`
	Hash   string `json:"hash"`
	// SentInAnotherWay says that people say so: no transaction of it is known.
	SentInAnotherWay bool `json:"sent_in_another_way"`
}

// Rate is the locked price in a record.
type Rate struct {
	Price    string `json:"price"` // fiat units for one whole coin
	Coin     string `json:"coin"`
	Currency string `json:"currency"`
	LockedAt string `json:"locked_at"`
}
